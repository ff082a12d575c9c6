"""The chart of convergence holds the turns it was given, on axes that can show them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riffler.errors import InputError
from riffler.evaluation.charts import save_chart
from riffler.evaluation.convergence_chart import SMALLEST_SECONDS, SMALLEST_SHARE, convergence_chart, convergence_frame
from riffler.structured.convergence import Turn

TURNS = {
    "one-slack": [Turn(100, 0.0, 8.0, 0.0), Turn(200, 0.5, 4.0, 3.0), Turn(300, 1.0, 4.0, 4.0)],
    "n-slack": [Turn(100, 0.1, 8.0, 2.0), Turn(400, 20.0, 5.0, 4.9)],
}


def test_gaps_are_shares_of_the_objective_within_what_an_axis_can_show() -> None:
    frame = convergence_frame(TURNS)
    assert frame["share"].to_list() == pytest.approx([1.0, 0.25, SMALLEST_SHARE, 0.75, 0.02])
    assert frame["seconds"].to_list() == [SMALLEST_SECONDS, 0.5, 1.0, 0.1, 20.0]
    assert convergence_frame({"all right": [Turn(5, 1.0, 0.0, 0.0)]})["share"].to_list() == [SMALLEST_SHARE]


def test_a_turn_before_anything_was_asked_is_drawn() -> None:
    turns = {"own": [Turn(0, 0.0, 8.0, 0.0), Turn(10, 0.1, 4.0, 3.0)]}
    assert convergence_frame(turns)["calls"].to_list() == [1, 10]
    assert '"calls": 1,' in json.dumps(convergence_chart(turns).to_dict())


def test_solvers_keep_their_colours_and_what_was_asked_for_is_marked() -> None:
    text = json.dumps(convergence_chart(TURNS, "Letters", tol=0.001).to_dict())
    assert '"domain": ["one-slack", "n-slack"], "range": ["#0072B2", "#D55E00"]' in text
    assert "asked for: 0.1%" in text
    assert "Letters" in text
    assert "asked for:" not in json.dumps(convergence_chart(TURNS).to_dict())


def test_every_solver_must_have_turns() -> None:
    empty: list[dict[str, list[Turn]]] = [{}, {"one-slack": []}]
    for nothing in empty:
        with pytest.raises(InputError, match="at least one turn of every solver"):
            convergence_frame(nothing)


def test_the_chart_can_be_drawn(tmp_path: Path) -> None:
    save_chart(convergence_chart(TURNS), tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text()
    assert "gap, share of the objective" in drawn
    assert "100%" in drawn
