"""``riffler simulate`` takes a collection on disk wherever it takes a file, on any engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from riffler.cli import run
from riffler.disk import IndexOptions, index_collection
from riffler.engine import LocalEngine
from riffler.errors import EngineError
from riffler.records import FloatArray
from tests.engine.clusters import new_cluster
from tests.search.on_disk import labelled_documents

FRAME = labelled_documents(300, n_relevant=25).with_columns(
    topics=pl.when(pl.col("included") == 1).then(pl.lit("snow|cold")).otherwise(pl.lit("warm"))
)
QUICK = ("--runs", "1", "--batch", "10", "--budget", "0.4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("simulate")
    FRAME.write_csv(place / "documents.csv")
    index_collection(place / "documents.csv", place / "collection", IndexOptions(n_items=70, n_clusters=0))
    return place / "collection"


def results(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text())


def order_of(out: Path) -> list[str]:
    (file,) = out.rglob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [line["item"] for line in lines if line["kind"] == "entry"]


def test_a_folder_is_simulated_and_gone_on_with(folder: Path, tmp_path: Path) -> None:
    command = ["simulate", str(folder), *QUICK, "--out", str(tmp_path / "runs"), "--json", str(tmp_path / "a.json")]
    assert run(command) == 0
    assert results(tmp_path / "a.json")["n_relevant"] == 25
    first = order_of(tmp_path / "runs")
    assert len(first) <= 120
    (file,) = (tmp_path / "runs").rglob("*.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[: len(lines) // 2]))
    assert run(command) == 0
    assert order_of(tmp_path / "runs") == first


def test_engines_simulate_the_same(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with new_cluster(n_workers=1) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        for name in ("local", address):
            out = tmp_path / name.partition(":")[0]
            assert run(["simulate", str(folder), *QUICK, "--engine", name, "--out", str(out)]) == 0
    assert order_of(tmp_path / "local") == order_of(tmp_path / "dask")


def test_topics_of_a_folder_and_fewer_full_scorings(folder: Path, tmp_path: Path) -> None:
    command = ["simulate", str(folder), *QUICK, "--label-column", "topics", "--labels", "snow", "--rescore-every", "5"]
    command += ["--candidates", "40", "--out", str(tmp_path / "runs")]
    assert run(command) == 0
    (file,) = (tmp_path / "runs").rglob("*.jsonl")
    head = json.loads(file.read_text().splitlines()[0])
    assert head["settings"]["rescoring"] == {"every": 5, "candidates": 40}
    assert run([*command, "--candidates", "50"]) == 2  # recorded with another number


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--title", "title"], "--title can only be said to `riffler index`"),
        (["--where", "a=b"], "which is searched whole: --where is for files"),
        (["--policy", "thompson"], "--clusters 200"),
        (["--policy", "thompson"], "The policy 'thompson' uses soft clusters"),
        (["--clusters", "lda"], "indexed with"),
        (["--jobs", "2"], "one after the other"),
        (["--engine", "spark"], "spark"),
        (["--engine", "dask://far:8786"], "TLS only"),
        (["--engine", "dask", "--tls-ca", "ca.pem"], "three files"),
        (["--label-column", "nothing"], "no document has a column 'nothing'"),
    ],
)
def test_what_does_not_fit_a_folder_is_one_line(
    folder: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", str(folder), *options]) == 2
    assert said in capsys.readouterr().err


def test_what_is_left_when_an_engine_goes_away_is_said(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(*given: object, **named: object) -> FloatArray:
        raise EngineError("The Dask scheduler went away.")

    monkeypatch.setattr(LocalEngine, "best", gone)
    for options, told in (([], "Nothing of this simulation was kept; with --out"), (["--out"], "goes on there")):
        out = [str(tmp_path / "runs")] if options else []
        assert run(["simulate", str(folder), *QUICK, *options, *out]) != 0
        said = " ".join(capsys.readouterr().err.split())
        assert "went away" in said
        assert told in said


def test_an_engine_needs_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FRAME.write_csv(tmp_path / "documents.csv")
    assert run(["simulate", str(tmp_path / "documents.csv"), "--engine", "dask"]) == 2
    assert "riffler index" in capsys.readouterr().err


def test_bad_folders_are_one_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from shutil import copytree

    newer = copytree(folder, tmp_path / "newer")
    manifest = json.loads((newer / "manifest.json").read_text())
    (newer / "manifest.json").write_text(json.dumps({**manifest, "version": 99}))
    assert run(["simulate", str(newer)]) == 2
    assert "version 99" in capsys.readouterr().err
    damaged = copytree(folder, tmp_path / "damaged")
    block = sorted((damaged / "partitions").rglob("*data*"))[1]
    block.write_bytes(bytes(byte ^ 1 for byte in block.read_bytes()))
    assert run(["simulate", str(damaged), *QUICK]) == 2
    assert "partition 0000" in capsys.readouterr().err


def test_documents_without_labels_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FRAME.drop("included", "topics").write_csv(tmp_path / "documents.csv")
    index_collection(tmp_path / "documents.csv", tmp_path / "collection", IndexOptions(n_clusters=0))
    assert run(["simulate", str(tmp_path / "collection")]) == 2
    assert "300 of 300 documents have no label" in capsys.readouterr().err
