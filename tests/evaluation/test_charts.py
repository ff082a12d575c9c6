"""Charts hold the numbers they were given, and are written whole, in the form asked for, without outside hosts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from riffler.errors import InputError
from riffler.evaluation.charts import Chart, Rows, growth_chart, precision_at_k_chart, save_chart, tradeoff_chart
from riffler.evaluation.precision_curve import precision_curve

LABELS = np.array([1, 1, 0, 1, 0, 0, 0, 0])
CURVES = [
    precision_curve("zeta", LABELS, -np.arange(8.0), n_resamples=20),
    precision_curve("alpha", LABELS, np.arange(8.0)),
]
TRADE: Rows = [
    {"data": "ijcnn1", "method": "top-k", "weight": 0.0, "precision": 0.7, "auc": 0.95},
    {"data": "ijcnn1", "method": "top-k", "weight": 1.0, "precision": 0.9, "auc": 0.90},
    {"data": "ijcnn1", "method": "logistic regression", "weight": None, "precision": 0.66, "auc": 0.94},
    {"data": "cod-rna", "method": "top-k", "weight": 0.0, "precision": 0.99, "auc": 0.99},
]
GROWTH: Rows = [
    {"method": "top-k", "rows": rows, "seconds": rows / 1e5, "megabytes": rows / 1e4} for rows in (10**4, 10**5, 10**6)
]


def values_in(chart: Chart) -> list[dict[str, Any]]:
    """All rows of data in a chart."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_the_precision_chart_holds_the_curves_and_marks_k() -> None:
    rows = values_in(precision_at_k_chart(CURVES, k=3))
    drawn = [row["precision"] for row in rows if row.get("method") == "zeta"]
    np.testing.assert_allclose(drawn, CURVES[0].precision)
    assert {"depth": 3} in rows
    assert {"precision": LABELS.mean()} in rows


def test_methods_keep_the_order_and_colours_they_were_given_in() -> None:
    text = json.dumps(precision_at_k_chart(CURVES, k=3).to_dict())
    assert '"domain": ["zeta", "alpha"], "range": ["#0072B2", "#D55E00"]' in text


@pytest.mark.parametrize("as_frame", [list, pl.DataFrame])
def test_the_other_charts_take_rows_and_frames(as_frame: Callable[[Rows], Rows]) -> None:
    assert len(values_in(tradeoff_chart(as_frame(TRADE)))) == len(TRADE)
    assert {"method": "top-k", "rows": 10**5, "seconds": 1.0, "megabytes": 10.0} in values_in(
        growth_chart(as_frame(GROWTH))
    )


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!DOCTYPE html>"), ("json", b"{")]
)
@pytest.mark.parametrize("chart", [precision_at_k_chart(CURVES, 3), tradeoff_chart(TRADE), growth_chart(GROWTH)])
def test_a_chart_is_written_in_the_form_of_its_ending(chart: Chart, ending: str, start: bytes, tmp_path: Path) -> None:
    target = tmp_path / "new" / f"chart.{ending}"
    save_chart(chart, target)
    assert target.read_bytes().lstrip().startswith(start)
    assert list(target.parent.iterdir()) == [target]


def test_a_page_asks_no_other_host_for_anything(tmp_path: Path) -> None:
    save_chart(precision_at_k_chart(CURVES, 3), tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)\s*=\s*["']?https?:""", page)
    assert not re.search(r"""import\s*\(?\s*["']https?:""", page)
    assert '"editor": false' in page


def test_an_unknown_ending_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"chart\.gif'\. Use a file ending in \.html, \.json, \.png, \.svg"):
        save_chart(precision_at_k_chart(CURVES, 3), tmp_path / "chart.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_chart_that_cannot_be_drawn_leaves_the_old_file(tmp_path: Path) -> None:
    class Broken:
        def save(self, file: str, **_: object) -> None:
            Path(file).write_text("half a", encoding="utf-8")
            raise RuntimeError("out of ink")

    (tmp_path / "chart.svg").write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError, match="ink"):
        save_chart(Broken(), tmp_path / "chart.svg")
    assert [file.read_text(encoding="utf-8") for file in tmp_path.iterdir()] == ["old"]


def test_missing_columns_are_named() -> None:
    with pytest.raises(InputError, match="missing: weight, auc"):
        tradeoff_chart([{"data": "a", "method": "b", "precision": 0.5}])
    with pytest.raises(InputError, match="missing: "):
        growth_chart([])
    with pytest.raises(InputError, match="seconds must be above zero"):
        growth_chart([{"method": "top-k", "rows": 10, "seconds": 0.0, "megabytes": 1.0}])
