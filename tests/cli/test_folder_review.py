"""``riffler review`` takes a collection on disk: the first document comes up, and what is wrong is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.cli import run
from riffler.disk import IndexOptions, index_collection
from riffler.disk.journal import Journal
from riffler.review.live import LiveSearch
from riffler.review.store import open_review
from tests.engine.clusters import new_cluster
from tests.search.on_disk import labelled_documents

FRAME = labelled_documents(150, n_relevant=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    FRAME.write_csv(tmp_path / "documents.csv")
    index_collection(tmp_path / "documents.csv", tmp_path / "snow", IndexOptions(n_items=60, n_clusters=0))
    return tmp_path / "snow"


def test_the_first_document_comes_from_the_folder_by_dask_too(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", str(folder), "--ignore-labels", "--once", "--port", "0"]) == 0
    said = capsys.readouterr().out
    assert "150 documents, which stay in the collection on disk" in said
    assert "The first document to read: " in said
    folder.rename(tmp_path / "moved")
    file = str(tmp_path / "snow.riffler")
    assert run(["review", file, "--once", "--port", "0"]) == 2
    assert "not there any more" in capsys.readouterr().err
    pytest.importorskip("distributed")
    with new_cluster(n_workers=1) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        command = ["review", str(tmp_path / "moved"), "--file", file, "--once", "--port", "0", "--engine", address]
        assert run(command) == 0
    assert "Going on with" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "all 150 documents have a label already"),
        (["--title", "title"], "--title can only be said of files"),
        (["--keep-duplicates"], "duplicates are not looked for"),
        (["--engine", "dask://far:8786"], "TLS only"),
        (["--engine", "sparc"], "sparc"),
    ],
)
def test_what_does_not_fit_a_folder_is_one_line(
    folder: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", str(folder), "--once", "--port", "0", *options]) == 2
    assert said in capsys.readouterr().err
    assert not (folder.parent / "snow.riffler").exists()


def test_an_export_says_how_many_documents_have_come_up(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", str(folder), "--ignore-labels", "--once", "--port", "0"]) == 0
    file = str(tmp_path / "snow.riffler")
    with open_review(file) as review:
        LiveSearch(review).refresh(10, ahead=20)
        n = review.collection().n_items
    capsys.readouterr()
    assert run(["export", file, "--out", str(tmp_path / "out.csv")]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{n} documents written to {tmp_path / 'out.csv'}"
    assert second == f"Only documents that have come up: {n} of 150; the others stay in the collection."
    assert run(["export", file, "--which", "relevant", "--out", str(tmp_path / "found.csv")]) == 0
    assert "have come up" not in capsys.readouterr().out  # whatever has a verdict is there


def test_how_often_everything_is_scored_is_kept_and_changed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = ["--once", "--port", "0"]
    assert run(["review", str(folder), "--ignore-labels", *quick, "--rescore-every", "10", "--candidates", "40"]) == 0
    with open_review(tmp_path / "snow.riffler") as review:
        assert (review.settings.rescore_every, review.settings.candidates) == (10, 40)
        assert LiveSearch(review).refresh(5)
    capsys.readouterr()
    assert run(["review", str(folder), *quick, "--rescore-every", "2"]) == 0
    assert "rescore_every is now 2, was 10" in capsys.readouterr().out


def test_an_engine_needs_a_folder(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FRAME.drop("included").write_csv(tmp_path / "papers.csv")
    assert run(["review", str(tmp_path / "papers.csv"), "--once", "--port", "0", "--engine", "dask"]) == 2
    assert "--engine dask is for a collection on disk" in capsys.readouterr().err
    assert not (tmp_path / "papers.riffler").exists()


def test_a_review_of_files_is_not_gone_on_with_by_a_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from riffler.data.collection_reading import collection_from_frame
    from riffler.review.creating import create_review

    create_review(tmp_path / "files.riffler", collection_from_frame(FRAME.drop("included"))).close()
    assert run(["review", str(folder), "--file", str(tmp_path / "files.riffler"), "--once"]) == 2
    assert "is a review of" in capsys.readouterr().err
    with open_review(tmp_path / "files.riffler") as review:
        assert review.folder is None


def test_an_unfinished_folder_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "half" / "partitions").mkdir(parents=True)
    Journal(tmp_path / "half").begin({"command": "index", "generation": 0, "options": {}, "sources": []})
    assert run(["review", str(tmp_path / "half"), "--once"]) == 2
    assert "not finished" in capsys.readouterr().err
