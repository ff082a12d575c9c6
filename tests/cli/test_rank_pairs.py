"""``riffler rank`` with the rankers that learn from pairs: the same table, and the charts of pairs."""

from __future__ import annotations

import json
from pathlib import Path

import joblib  # type: ignore[import-untyped]
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


@pytest.fixture
def ranking(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = []
    for query in range(30):
        for _ in range(10):
            x = rng.normal()
            lines.append(f"{int(np.digitize(x, [0, 1]))} qid:{query} 1:{x + rng.normal() / 4:.4f} 2:{rng.normal():.4f}")
    (tmp_path / "ranking.svm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "ranking.svm"


def test_a_file_with_queries_is_measured_query_by_query(
    ranking: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("json", "chart", "pairs-chart")}
    targets = [text for name, path in files.items() for text in (f"--{name}", str(path))]
    ranked = tmp_path / "ranked.csv"
    methods = ["--method", "active-pairs", "--method", "ranksvm"]
    given = ["rank", str(ranking), *methods, "--resamples", "20", "--ranked", str(ranked)]
    assert run([*given, *targets]) == 0
    shown = capsys.readouterr().out
    assert "first 10 items of each of 9 test queries" in shown
    assert "90 items of 9 queries" in shown
    assert "30 % of the queries held out" in shown
    rows = json.loads(files["json"].read_text(encoding="utf-8"))["methods"]
    assert [row["method"] for row in rows] == ["active-pairs", "ranksvm", "logistic regression"]
    assert min(row["pairs_in_order"]["value"] for row in rows) > 0.9
    assert len(json.loads(files["pairs-chart"].read_text(encoding="utf-8"))["hconcat"]) == 2
    table = pl.read_csv(ranked)
    assert table.columns == ["qid", "rank", "id", "score", "label"]
    assert table["rank"].to_list() == list(range(1, 11)) * 9
    for _, part in table.group_by("qid"):
        assert part["score"].is_sorted(descending=True)


def test_what_queries_ask_of_k_and_methods(ranking: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", str(ranking), "--method", "ranksvm", "-k", "0.5"]) == 2
    assert "k is the number of first items looked at" in capsys.readouterr().err
    assert run(["rank", str(ranking), "--method", "wsvm"]) == 2
    assert "Say which are positive (--positive)" in capsys.readouterr().err
    assert run(["rank", str(ranking), "--method", "wsvm", "--positive", "2", "-k", "3", "--resamples", "20"]) == 0
    assert "first 3 items" in capsys.readouterr().out


def test_ndcg_is_learned_for_as_many_places_as_are_looked_at(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    grades = rng.integers(3, size=240)
    rows = [f"{y} qid:{i // 8} 1:{y + rng.normal():.3f} 2:{rng.normal():.3f}" for i, y in enumerate(grades)]
    queries, model = tmp_path / "queries.svm", tmp_path / "model.joblib"
    queries.write_text("\n".join(rows) + "\n", encoding="utf-8")
    given = ["rank", str(queries), "-k", "3", "--method", "ndcg", "--resamples", "20", "--out", str(model)]
    assert run(given) == 0
    assert joblib.load(model)[-1].n == 3
