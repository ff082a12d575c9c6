"""``riffler rank`` with the rankers that learn from pairs: the same table, and the charts of pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from riffler.cli import run
from riffler.learners import PAIR_RANKERS


@pytest.fixture
def items(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.3).astype(int)
    frame = pl.DataFrame({"a": rng.normal(size=300) + y, "b": rng.normal(size=300), "label": y})
    frame.write_csv(tmp_path / "items.csv")
    return tmp_path / "items.csv"


def test_every_method_stands_in_the_table(items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    methods = [text for name in PAIR_RANKERS for text in ("--method", name)]
    results, model = tmp_path / "results.json", tmp_path / "model.joblib"
    assert run(["rank", str(items), *methods, "--resamples", "20", "--json", str(results), "--out", str(model)]) == 0
    rows = json.loads(results.read_text(encoding="utf-8"))["methods"]
    assert [row["method"] for row in rows] == [*PAIR_RANKERS, "logistic regression"]
    areas = [row["roc_auc"]["value"] for row in rows]
    assert max(areas) - min(areas) < 0.05
    assert model.exists()
    assert "active-pairs" in capsys.readouterr().out


def test_the_chart_of_pairs(items: Path, tmp_path: Path) -> None:
    chart = tmp_path / "pairs.json"
    assert run(["rank", str(items), "--method", "active-pairs", "--resamples", "20", "--pairs-chart", str(chart)]) == 0
    assert len(json.loads(chart.read_text(encoding="utf-8"))["hconcat"]) == 2


def test_a_chart_that_cannot_be_is_refused_before_the_work(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rank", str(items), "--method", "ranksvm", "--pairs-chart", str(tmp_path / "pairs.doc")]) == 2
    assert "Use a file ending in" in capsys.readouterr().err
    unlabelled = tmp_path / "unlabelled.csv"
    pl.read_csv(items).drop("label").write_csv(unlabelled)
    given = ["rank", str(items), "--label", "label", "--test", str(unlabelled), "--method", "ranksvm"]
    assert run([*given, "--pairs-chart", str(tmp_path / "pairs.svg")]) == 2
    assert "Leave --pairs-chart out" in capsys.readouterr().err
