"""``riffler rank`` from the command line to the files it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import polars as pl
import pytest

from riffler.cli import run
from riffler.data import read_table
from riffler.errors import UnknownName
from riffler.evaluation import comparison
from riffler.metrics import precision_at_k
from tests.cli.stand_in import MeanDifference


@pytest.fixture(autouse=True)
def _quick_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    def ranker_from_name(name: str, **params: Any) -> MeanDifference:  # noqa: ANN401
        if name not in ("top-k", "other"):
            raise UnknownName.among("ranker", name, ["top-k", "other"])
        return MeanDifference(**params)

    monkeypatch.setattr(comparison, "ranker_from_name", ranker_from_name)


def write_items(path: Path, n_items: int = 120, seed: int = 0, *, labels: bool = True) -> Path:
    rng = np.random.default_rng(seed)
    y = (rng.random(n_items) < 0.3).astype(int)
    columns = {"id": [f"doc{seed}-{number}" for number in range(n_items)], "a": rng.normal(size=n_items) + y}
    columns |= {"b": rng.normal(size=n_items)} | ({"label": y} if labels else {})
    pl.DataFrame(columns).write_csv(path)
    return path


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_items(tmp_path / "items.csv")


def rank(*arguments: object) -> int:
    return run(["rank", *map(str, arguments), "--resamples", "20"])


def test_every_file_is_written_and_they_agree(items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "folder"
    wanted = {"--out": "model.joblib", "--ranked": "ranked.csv", "--chart": "chart.svg", "--json": "results.json"}
    assert rank(items, "-k", "10", *(text for option, name in wanted.items() for text in (option, out / name))) == 0
    assert sorted(file.name for file in out.iterdir()) == sorted(wanted.values())

    ranked = pl.read_csv(out / "ranked.csv")
    assert ranked.columns == ["rank", "id", "score", "label"]
    assert ranked["rank"].to_list() == list(range(1, 37))
    assert ranked["score"].is_sorted(descending=True)

    whole = read_table(items)
    row_of = {name: row for row, name in enumerate(whole.ids)}
    rows = [row_of[name] for name in ranked["id"]]
    model = joblib.load(out / "model.joblib")
    np.testing.assert_allclose(model.decision_function(whole.X[rows]), ranked["score"].to_numpy(), rtol=1e-5)
    assert whole.y is not None
    np.testing.assert_array_equal(whole.y[rows], ranked["label"].to_numpy())

    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [method["method"] for method in results["methods"]] == ["top-k", "logistic regression"]
    measured = results["methods"][0]["precision_at_k"]["value"]
    assert measured == pytest.approx(precision_at_k(ranked["label"], ranked["score"], k=10))
    assert (results["k"], results["n_top"], results["n_items"]) == (10, 10, 36)

    printed = capsys.readouterr()
    assert "warning" not in printed.err
    assert "30 % held out, stratified, seed 0" in printed.out
    assert f"{measured:.3f}" in printed.out


def test_the_same_seed_gives_the_same_bytes(items: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        assert rank(items, "--ranked", tmp_path / f"{number}.csv", "--seed", "5") == 0
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_a_test_file_is_ranked_whole(items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = write_items(tmp_path / "later.csv", n_items=50, seed=1)
    assert rank(items, "--test", later, "-k", "0.25", "--ranked", tmp_path / "ranked.csv", "--method", "other") == 0
    assert pl.read_csv(tmp_path / "ranked.csv").height == 50
    printed = capsys.readouterr().out
    assert "120 items" in printed
    assert "0.25 of the positives" in printed
    assert "random order" in printed
    assert "less that of logistic regression" in printed
    assert "other" in printed


def test_a_test_file_without_labels_is_ranked_and_not_measured(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = write_items(tmp_path / "later.csv", n_items=50, seed=1, labels=False)
    files = ["--ranked", tmp_path / "ranked.csv", "--json", tmp_path / "results.json"]
    assert rank(items, "--test", later, *files) == 0
    assert pl.read_csv(tmp_path / "ranked.csv").columns == ["rank", "id", "score"]
    assert "precision_at_k" not in (tmp_path / "results.json").read_text(encoding="utf-8")
    assert "ranked, not measured" in capsys.readouterr().out


def test_items_of_equal_score_are_ordered_by_their_ids(items: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(items).with_columns(a=pl.lit(1.0), b=pl.lit(0.0))
    frame.write_csv(tmp_path / "flat.csv")
    assert rank(items, "--test", tmp_path / "flat.csv", "--ranked", tmp_path / "ranked.csv") == 0
    assert pl.read_csv(tmp_path / "ranked.csv")["id"].to_list() == sorted(frame["id"].to_list())


def test_the_demo_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert rank("demo") == 0
    assert "digits, 8 against the rest: 1,257 items, 122 positives, 64 features" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "many"], "-k many: expected a number of items such as 50"),
        (["-k", "0"], "k must be a positive integer"),
        (["-k", "1.5"], "k must be a positive integer"),
        (["-k", "5000"], "more items than the 36 of the test part"),
        (["--method", "nonsense"], "No ranker called 'nonsense'. Known: other, top-k."),
        (["--kernel", "rbf"], "top-k has no kernel 'rbf'"),
        (["--chart", "chart.gif"], ".html, .json, .png, .svg"),
        (["--out", "model.txt"], "must end in .joblib or .pkl"),
        (["--ranked", "ranked.txt"], "must end in .csv"),
        (["--json", "."], "is a folder"),
        (["--json", "items.csv/x/out.json"], "is a file, not a folder"),
        (["--label", "nonsense"], "nonsense"),
        (["--test", "absent.csv"], "absent.csv"),
        (["--resamples", "0"], "resamples"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_no_file(
    arguments: list[str],
    message: str,
    items: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(items.parent)
    targets = ["--out", "model.pkl", "--ranked", "ranked.csv", "--chart", "chart.svg", "--json", "results.json"]
    assert run(["rank", items.name, *targets, *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("riffler: error: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert list(items.parent.iterdir()) == [items]


def test_a_folder_that_may_not_be_written_is_refused_before_the_work(
    items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shut").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path / "shut")  # root may write everywhere
    assert rank(items, "--json", tmp_path / "shut" / "results.json") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "no permission to write" in printed.err


def test_a_failed_write_names_the_file_asked_for(
    items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.open

    def no_room(path: Path, *rest: int) -> int:
        if Path(path).name.startswith(".results-"):
            raise OSError(28, "No space left on device", "a name the user never saw")
        return real(path, *rest)

    monkeypatch.setattr("riffler.data.atomic.os.open", no_room)
    assert rank(items, "--json", tmp_path / "results.json") == 2
    assert capsys.readouterr().err == f"riffler: error: {tmp_path / 'results.json'}: No space left on device\n"


@pytest.mark.parametrize("name", ["absent.csv", "no-such-set"])
def test_a_train_name_that_is_nothing_says_what_it_may_be(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert rank(name) == 2
    assert "neither a file, nor 'demo', nor a known data set" in capsys.readouterr().err


def test_a_public_set_is_tested_on_its_own_test_part(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (data_folder / "reuters-moneyfx").is_dir()
    assert rank("reuters-moneyfx") == 0
    printed = capsys.readouterr().out
    assert "7,770 items, 538 positives" in printed
    assert "3,299 items, 179 positives" in printed
    assert "the published test part" in printed
