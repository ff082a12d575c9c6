"""The chart of convergence shows every turn of every solver."""

from __future__ import annotations

import pytest

from riffler.evaluation.convergence_chart import convergence_chart, frame_of
from riffler.structured.convergence import Turn

TURNS = [Turn(10, 0.0, 2.0, 1.0), Turn(20, 0.5, 1.5, 1.5)]


def test_every_turn_is_a_row_that_a_log_axis_can_show() -> None:
    frame = frame_of({"a": TURNS, "b": TURNS[:1]})
    assert frame["method"].to_list() == ["a", "a", "b"]
    assert frame["gap"][0] == 0.5
    assert (frame["gap"] > 0).all()
    assert (frame["seconds"] > 0).all()


@pytest.mark.parametrize("tol", [None, 0.01])
def test_objective_bound_and_gap_are_drawn(tol: float | None) -> None:
    drawn = convergence_chart({"frank-wolfe": TURNS}, "Chains", tol=tol).to_dict()
    text = str(drawn)
    assert "Chains" in text
    assert all(f"'field': '{name}'" in text for name in ("primal", "dual", "gap", "seconds"))
    assert ("'field': 'tol'" in text) == (tol is not None)
