"""``riffler rank`` takes a collection on disk wherever it takes a file, and learns from it out of core."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import polars as pl
import pytest

from riffler.cli import run
from riffler.disk import IndexOptions, index_collection, open_collection
from riffler.engine import Engine
from riffler.errors import EngineError
from riffler.evaluation.comparison import BASELINE
from riffler.features import blocked_rows
from riffler.learners.top_k_ranker import TopKRanker
from tests.engine.clusters import new_cluster
from tests.search.on_disk import labelled_documents, made_collection

FRAME = labelled_documents(400, n_relevant=80).with_columns(
    subject=pl.when(pl.col("included") == 1).then(pl.lit("snow")).otherwise(pl.lit("warm")),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_collection(FRAME, tmp_path_factory.mktemp("rank") / "place", n_items=90).folder


@pytest.fixture
def out_of_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even these few rows are not gathered at once."""
    monkeypatch.setattr(blocked_rows, "GATHERED_BYTES", 1_000)
    monkeypatch.setattr(blocked_rows, "STRETCH_BYTES", 10_000)


def rank(*arguments: object) -> int:
    return run(["rank", *map(str, arguments), "--resamples", "20"])


def results(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    return {row["method"]: row for row in found["methods"]}


def test_rows_on_disk_are_ranked_as_those_in_memory(
    folder: Path, tmp_path: Path, out_of_core: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = [part for name in ("top-k", "sgd-at-k", "ranksvm") for part in ("--method", name)]
    assert rank(folder, *methods, "--json", tmp_path / "disk.json", "--ranked", tmp_path / "disk.csv") == 0
    monkeypatch.setattr(blocked_rows, "GATHERED_BYTES", 10**9)
    assert rank(folder, *methods, "--json", tmp_path / "memory.json", "--ranked", tmp_path / "memory.csv") == 0
    disk, memory = results(tmp_path / "disk.json"), results(tmp_path / "memory.json")
    assert list(disk) == ["top-k", "sgd-at-k", "ranksvm", BASELINE]
    for name, row in disk.items():
        assert row["roc_auc"]["value"] == pytest.approx(memory[name]["roc_auc"]["value"])
        assert row["roc_auc"]["value"] > 0.8
    one, other = pl.read_csv(tmp_path / "disk.csv"), pl.read_csv(tmp_path / "memory.csv")
    assert one["id"].to_list() == other["id"].to_list()
    assert one.height == 120
    labels = dict(zip(FRAME["id"], FRAME["included"], strict=True))
    assert [labels[id] for id in one["id"]] == one["label"].to_list()


def test_labels_that_are_numbers_with_a_point_are_named_as_in_memory(tmp_path: Path) -> None:
    frame = FRAME.with_columns(y=pl.col("included").cast(pl.Float64)).drop("included", "subject")
    frame.write_parquet(tmp_path / "a.parquet")
    index_collection(tmp_path / "a.parquet", tmp_path / "c", IndexOptions(n_items=90))
    assert rank(tmp_path / "c", "--label", "y", "--positive", "1", "--method", "logistic") == 0


def test_a_file_of_texts_is_ranked_by_a_collection(folder: Path, tmp_path: Path) -> None:
    more = labelled_documents(100, n_relevant=20, seed=1)
    more.write_csv(tmp_path / "more.csv")
    assert rank(folder, "--test", tmp_path / "more.csv", "--out", tmp_path / "model.joblib",
                "--json", tmp_path / "a.json", "--method", "logistic") == 0  # fmt: skip
    assert results(tmp_path / "a.json")[BASELINE]["roc_auc"]["value"] > 0.8
    model = joblib.load(tmp_path / "model.joblib")
    texts = [f"{title}\n{abstract}" for title, abstract in more.select("title", "abstract").rows()]
    scores = model.decision_function(open_collection(folder).vectoriser.transform(texts))
    included = more["included"].to_numpy() == 1
    assert np.median(scores[included]) > np.median(scores[~included])


def test_few_rows_are_learned_from_in_memory_with_and_without_a_test_file(folder: Path, tmp_path: Path) -> None:
    labelled_documents(100, n_relevant=20, seed=1).write_csv(tmp_path / "more.csv")
    for name, test in (("without", []), ("with", ["--test", tmp_path / "more.csv"])):
        assert rank(folder, *test, "--method", "crr", "--json", tmp_path / f"{name}.json") == 0
        assert all(row["roc_auc"]["value"] > 0.8 for row in results(tmp_path / f"{name}.json").values())


@pytest.mark.parametrize("options", [["--method", "crr"], ["--kernel", "rbf"]], ids=" ".join)
def test_many_rows_are_not_read_into_memory_for_a_test_file(
    folder: Path, tmp_path: Path, options: list[str], out_of_core: None, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled_documents(100, n_relevant=20, seed=1).write_csv(tmp_path / "more.csv")
    assert rank(folder, "--test", tmp_path / "more.csv", *options) != 0
    told = " ".join(capsys.readouterr().err.split())
    assert "learns in memory only, and the 400 rows stay on disk" in told
    assert "or index fewer documents" in told


def test_engines_give_the_same_baseline(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with new_cluster(n_workers=1) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        for name in ("local", address):
            place = tmp_path / f"{name.partition(':')[0]}.csv"
            assert rank(folder, "--method", "logistic", "--engine", name, "--ranked", place) == 0
    assert (tmp_path / "local.csv").read_text() == (tmp_path / "dask.csv").read_text()


def test_an_engine_that_is_not_there_costs_no_training(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(*given: object) -> Engine:
        raise EngineError("No Dask scheduler answers.")

    fitted = []
    monkeypatch.setattr(TopKRanker, "fit", lambda ranker, *given: fitted.append(ranker))
    monkeypatch.setattr("riffler.engine.engine_from", nobody)
    assert rank(folder) != 0
    assert "No Dask scheduler answers" in capsys.readouterr().err
    assert fitted == []


def test_labels_may_come_from_another_column(folder: Path, tmp_path: Path) -> None:
    for name, options in (("as", ()), ("by", ("--label", "subject", "--positive", "snow"))):
        assert rank(folder, "--method", "logistic", *options, "--ranked", tmp_path / f"{name}.csv") == 0
    assert (tmp_path / "as.csv").read_text() == (tmp_path / "by.csv").read_text()


def test_one_of_several_topics_is_positive_for_index_and_rank(tmp_path: Path) -> None:
    kinds = ("gas price,earn|acq", "lunch sun,acq", "beach sea,wheat")
    rows = [f"{n},{kinds[n % 3]}" for n in range(60)]
    (tmp_path / "a.csv").write_text("id,text,topics\n" + "\n".join(rows) + "\n")
    folder = tmp_path / "a.collection"
    named = ["--label", "topics", "--relevant-classes", "earn"]
    assert run(["index", str(tmp_path / "a.csv"), "--out", str(folder), *named]) == 0
    labels = open_collection(folder).labels
    assert labels is not None
    assert labels.tolist().count(1) == 20
    assert rank(folder, "--label", "topics", "--positive", "earn", "--json", tmp_path / "out.json") == 0
    assert "42 items, 14 positives" in json.loads((tmp_path / "out.json").read_text())["train"]


def test_documents_without_a_label_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    some = FRAME.with_columns(included=pl.when(pl.int_range(pl.len()) < 200).then(pl.col("included")))
    folder = made_collection(some, tmp_path / "some", n_items=150).folder
    assert rank(folder, "--method", "logistic", "--ranked", tmp_path / "a.csv") == 0
    ids = pl.read_csv(tmp_path / "a.csv")["id"]
    assert (len(ids), ids.is_in(FRAME["id"][:200].implode()).all()) == (60, True)
    assert "; 200 documents without a label left out)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.filterwarnings("always::riffler.KClippedWarning")
def test_a_top_longer_than_the_positives_is_told_in_the_k_that_was_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rank(folder, "-k", "60") == 0
    said = capsys.readouterr()
    assert (
        "riffler: warning: k=60 of the 120 test items is as much as 140 of the 280 that are learned from, and only 56 "
        "of these are positive: the top was learned 56 long, and is measured at k=60. Pass k=24 or less to silence "
        "this.\n"
    ) in said.err
    assert "among the first 60 (random order: 0.200, at best: 0.400)" in said.out
    assert rank(folder, "-k", "24") == 0
    said = capsys.readouterr()
    assert "warning" not in said.err
    assert "(random order: 0.200)" in said.out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--method", "crr"],
            "0 MB are read into memory. Use a method that learns from disk (top-k, sgd-at-k, ranksvm, logistic)",
        ),
        (["--kernel", "rbf"], "top-k (rbf) learns in memory only, and the 280 rows stay on disk"),
        (["--pairs-chart", "a.svg"], "is a collection on disk, and --pairs-chart is for files"),
        (["--positive", "snow"], "its labels are what they were indexed as"),
        (["--label", "owls"], "owls"),
        (["--engine", "owl"], "No engine called 'owl'"),
    ],
)
def test_what_cannot_be_done_on_disk_is_said(
    folder: Path, options: list[str], told: str, out_of_core: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rank(folder, *options) != 0
    assert told in " ".join(capsys.readouterr().err.split())


def test_other_wrong_places_are_said(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = made_collection(FRAME.drop("included", "subject"), tmp_path / "plain", n_items=500).folder
    FRAME.write_csv(tmp_path / "file.csv")
    for arguments, told in (
        ([plain], "0 documents are known to be relevant and 0 not to be; both kinds are needed"),
        ([folder, "--test", plain], "is a collection of its own, whose words are weighed in another way"),
        ([tmp_path / "file.csv", "--engine", "dask"], "--engine dask is for a collection on disk"),
    ):
        assert rank(*arguments) != 0
        assert told in " ".join(capsys.readouterr().err.split())
