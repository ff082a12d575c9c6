"""Turns are told in words, and the best weights and bounds are kept."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.structured.convergence import Record, Turn, live_line, teller


def test_a_turn_says_where_the_solver_stands() -> None:
    turn = Turn(oracle_calls=1200, seconds=3.21, primal=200.0, dual=190.0)
    assert str(turn) == "objective 200, bound 190, gap 5.00%, 1,200 oracle calls, 3.2 s"
    assert turn.is_within(0.05)
    assert not turn.is_within(0.049)


def test_the_best_is_kept_of_turns_that_go_up_and_down() -> None:
    record = Record(tol=0.1)
    weights = np.zeros(2)
    assert not record.add(10, weights, primal=5.0, dual=3.0)
    weights += 1.0  # the solver goes on with the same array
    assert not record.add(20, weights, primal=7.0, dual=2.0)
    assert record.add(30, weights, primal=6.0, dual=4.9)
    found = record.solution()
    np.testing.assert_array_equal(found.weights, [0.0, 0.0])
    assert [(turn.primal, turn.dual) for turn in found.turns] == [(5.0, 3.0), (5.0, 3.0), (5.0, 4.9)]
    assert found.converged


def test_a_line_is_written_for_each_turn(capsys: pytest.CaptureFixture[str]) -> None:
    live_line(Turn(1, 0.5, 2.0, 1.0))
    assert capsys.readouterr().err == "objective 2, bound 1, gap 50.00%, 1 oracle calls, 0.5 s\n"
    assert teller("line") is live_line
