"""The chart of active runs holds means and deviations of the runs it was given."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riffler.errors import InputError
from riffler.evaluation.active_charts import active_runs_chart, runs_frame
from riffler.evaluation.active_runs import ActiveRun
from riffler.evaluation.charts import save_chart


def run(*precision: float) -> ActiveRun:
    n = len(precision)
    return ActiveRun(np.array(precision), 10 * np.arange(1, n + 1), np.arange(n), np.ones(n), 0.5)


RUNS = {"uniform": [run(0.2, 0.6, 1.0), run(0.4, 1.0, 1.0)], "exponential": [run(0.1, 0.5, 0.9)]}


def test_the_frame_holds_mean_and_deviation() -> None:
    frame = runs_frame(RUNS).filter(method="uniform", measure="precision")
    np.testing.assert_allclose(frame["mean"], [0.3, 0.8, 1.0])
    np.testing.assert_allclose(frame["low"], [0.2, 0.6, 1.0])
    np.testing.assert_allclose(frame["high"], [0.4, 1.0, 1.0])
    labels = runs_frame(RUNS).filter(method="exponential", measure="labels")
    assert labels["batch"].to_list() == [1, 2, 3]
    assert labels["low"].to_list() == labels["high"].to_list() == [10.0, 20.0, 30.0]


def test_schemes_keep_their_colours_and_the_reading_is_told() -> None:
    text = json.dumps(active_runs_chart(RUNS, positive_share=0.25).to_dict())
    assert '"domain": ["uniform", "exponential"], "range": ["#0072B2", "#D55E00"]' in text
    assert "random choice: 25.0%" in text
    assert "mean of 1 to 2 runs" in text
    assert "one run" in json.dumps(active_runs_chart({"uniform": RUNS["uniform"][:1]}).to_dict())


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!DOCTYPE html>")])
def test_the_chart_is_written_in_every_form(ending: str, start: bytes, tmp_path: Path) -> None:
    save_chart(active_runs_chart(RUNS), tmp_path / f"chart.{ending}")
    assert (tmp_path / f"chart.{ending}").read_bytes().lstrip().startswith(start)


def test_runs_that_cannot_share_a_chart_are_refused() -> None:
    with pytest.raises(InputError, match=r"equally many batches; got \[2, 3\]"):
        active_runs_chart({"a": [run(0.1, 0.2)], "b": [run(0.1, 0.2, 0.3)]})
    with pytest.raises(InputError, match="at least one run"):
        active_runs_chart({"a": []})
