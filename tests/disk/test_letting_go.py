"""An error of the input does not lock a folder: what the error advises can be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.disk import (
    IndexOptions,
    VectoriserSettings,
    WantedColumns,
    index_collection,
    open_collection,
    reindex_collection,
)
from riffler.errors import DataFileError, InputError
from tests.disk.documents import contents, documents

SMALL = VectoriserSettings(n_bits=10)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def too_late(*_: object) -> None:
    raise AssertionError("rows are weighed already")


def test_ids_that_repeat_can_be_made_of_the_content_as_the_error_says(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title\n1,gull\n1,owl\n")
    with pytest.raises(DataFileError, match=r"has the same id '1'.*or 'content' for ids made of"):
        index_collection(tmp_path / "a.csv", tmp_path / "c")
    assert not (tmp_path / "c" / "journal.jsonl").exists()
    index_collection(tmp_path / "a.csv", tmp_path / "c", IndexOptions(columns=WantedColumns(id="content")))
    assert open_collection(tmp_path / "c").n_items == 2


def test_an_error_behind_finished_partitions_says_how_to_let_the_folder_go(tmp_path: Path) -> None:
    rows = "".join(f"{n},gull {n}\n" for n in range(30))
    (tmp_path / "a.csv").write_text(f"id,title\n{rows}7,owl\n")
    options, other = IndexOptions(n_items=10), IndexOptions(n_items=10, columns=WantedColumns(id="content"))
    with pytest.raises(DataFileError, match=r"has the same id '7'.* remove .*journal\.jsonl then, as"):
        index_collection(tmp_path / "a.csv", tmp_path / "c", options, n_jobs=1)
    with pytest.raises(InputError, match="was begun here and is not finished"):
        index_collection(tmp_path / "a.csv", tmp_path / "c", other)
    (tmp_path / "c" / "journal.jsonl").unlink()
    index_collection(tmp_path / "a.csv", tmp_path / "c", other)
    assert open_collection(tmp_path / "c").n_items == 31


def test_an_error_says_of_which_files_no_part_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 10)
    paths = [tmp_path / f"{name}.csv" for name in "abc"]
    rows = "".join(f"{{}}{n},gull {n}\n" for n in range(30))
    for path in paths:
        path.write_text("id,title\n" + rows.replace("{}", path.stem))
    good, options = [path.read_text() for path in paths], IndexOptions(n_items=5)
    for at, told in ((0, r"a\.csv\. Where"), (1, r"b\.csv and 1 more before it\. Where")):
        paths[at].write_text(good[at] + "1,2,3\n")
        with pytest.raises(DataFileError, match=rf"3 fields.* among it documents of .*{told} such a file is corrected"):
            index_collection(paths, tmp_path / "c", options, n_jobs=1)
        paths[at].write_text(good[at])
        with pytest.raises(InputError, match="has changed since a part of it was indexed"):
            index_collection(paths, tmp_path / "c", options)
        (tmp_path / "c" / "journal.jsonl").unlink()
    paths[2].write_text("id,title\n1,2,3\n")
    with pytest.raises(DataFileError, match=r"b\.csv and 1 more before.* in another way, the same command goes on\.$"):
        index_collection(paths, tmp_path / "c", options, n_jobs=1)
    paths[2].write_text(good[2])
    assert index_collection(paths, tmp_path / "c", options).n_items == 90


def test_a_file_without_rows_does_not_lock_the_collection_it_was_to_be_added_to(tmp_path: Path) -> None:
    documents(20).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c")
    (tmp_path / "b.csv").write_text("id,title\n")
    before = contents(tmp_path / "c")
    with pytest.raises(DataFileError, match="there is nothing to index"):
        index_collection(tmp_path / "b.csv", tmp_path / "c")
    assert contents(tmp_path / "c") == before
    reindex_collection(tmp_path / "c")


def test_a_run_that_was_ended_before_its_first_partition_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(20).write_csv(tmp_path / "a.csv")
    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.indexing.write_partition", interrupt)
        with pytest.raises(KeyboardInterrupt):
            index_collection(tmp_path / "a.csv", tmp_path / "c")
    assert (tmp_path / "c" / "journal.jsonl").exists()
    assert index_collection(tmp_path / "a.csv", tmp_path / "c", IndexOptions(n_items=3)).n_items == 20


def test_too_many_clusters_are_told_before_rows_are_weighed_and_fewer_can_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(40).write_csv(tmp_path / "a.csv")
    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.publishing.Publisher.count_idf", too_late)
        with pytest.raises(InputError, match=r"at most the number of items with features, \d\d; got 200"):
            index_collection(
                tmp_path / "a.csv", tmp_path / "c", IndexOptions(n_items=15, n_clusters=200, vectoriser=SMALL)
            )
    options = IndexOptions(n_items=15, n_clusters=2, seed=1, vectoriser=SMALL)
    made = index_collection(tmp_path / "a.csv", tmp_path / "c", options)
    assert made.clusters == {"n_clusters": 2, "seed": 1}
    index_collection(tmp_path / "a.csv", tmp_path / "d", options)
    assert contents(tmp_path / "c") == contents(tmp_path / "d")
    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.publishing.Publisher.count_idf", too_late)
        with pytest.raises(InputError, match="got 200"):
            reindex_collection(tmp_path / "c", n_clusters=200)
    assert reindex_collection(tmp_path / "c", n_clusters=3).clusters["n_clusters"] == 3


def test_clusters_that_are_found_stay_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(40).write_csv(tmp_path / "a.csv")

    def index(n_clusters: int | None, seed: int = 0) -> object:
        options = IndexOptions(n_items=15, n_clusters=n_clusters, seed=seed, vectoriser=SMALL)
        return index_collection(tmp_path / "a.csv", tmp_path / "c", options)

    for step, n_clusters in (("fit_clusters", 3), ("assign", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(f"riffler.disk.publishing.Publisher.{step}", interrupt)
            with pytest.raises(KeyboardInterrupt):
                index(n_clusters)
    others: list[tuple[int | None, int]] = [(3, 0), (2, 1), (None, 0)]
    for n_others, seed in others:
        with pytest.raises(InputError, match="was begun here and is not finished"):
            index(n_others, seed)
    index(2)
    assert open_collection(tmp_path / "c").manifest.clusters == {"n_clusters": 2, "seed": 0}
    open_collection(tmp_path / "c").verify()
