"""Whatever is wrong with a collection is named, with the partition it is in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from riffler.disk import (
    DiskCollection,
    IndexOptions,
    VectoriserSettings,
    index_collection,
    is_collection,
    open_collection,
    reindex_collection,
)
from riffler.disk.files import FileEntry, open_array, write_array, write_bytes
from riffler.disk.files import check_sum as real_check_sum
from riffler.disk.publishing import Publisher
from riffler.errors import DataFileError, InputError
from tests.disk.documents import change_manifest, contents, documents

FIRST_LINE = (
    '{"kind": "riffler journal", "version": 1, "command": "reindex", "generation": 1, "options": {}, "sources": []}'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents(100).write_csv(tmp_path / "a.csv")
    options = IndexOptions(n_items=40, n_clusters=3, vectoriser=VectoriserSettings(n_bits=10))
    index_collection(tmp_path / "a.csv", tmp_path / "c", options)
    return tmp_path / "c"


def test_a_folder_that_is_no_collection_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    for name, told in (("folder", "not a collection: it has no manifest.json"), ("file", "is a file"), ("no", "exist")):
        with pytest.raises(DataFileError, match=told):
            open_collection(tmp_path / name)
        with pytest.raises(DataFileError, match=told):
            reindex_collection(tmp_path / name)
        assert not is_collection(tmp_path / name)
    assert list((tmp_path / "folder").iterdir()) == []
    (tmp_path / "folder" / "manifest.json").write_text('{"kind": "a review"}')
    with pytest.raises(DataFileError, match=r"is of something else \(kind 'a review'\)"):
        open_collection(tmp_path / "folder")
    (tmp_path / "folder" / "manifest.json").write_text('{"kind": ')
    with pytest.raises(DataFileError, match=r"manifest\.json is damaged"):
        open_collection(tmp_path / "folder")


def test_nothing_is_indexed_into_a_folder_with_other_files(tmp_path: Path) -> None:
    documents(5).write_csv(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"is no collection and not empty \(a\.csv is in it\)"):
        index_collection(tmp_path / "a.csv", tmp_path)
    with pytest.raises(InputError, match="is a file"):
        index_collection(tmp_path / "a.csv", tmp_path / "a.csv")


def test_a_newer_version_is_refused(folder: Path) -> None:
    change_manifest(folder, lambda value: value.update(version=99))
    assert is_collection(folder)
    with pytest.raises(DataFileError, match="a collection of version 99, this Riffler reads up to version 1"):
        open_collection(folder)


@pytest.mark.parametrize("version", [True, 1.5, None, 0, "x"])
def test_a_version_that_is_none_is_damage(version: object, folder: Path) -> None:
    change_manifest(folder, lambda value: value.update(version=version))
    with pytest.raises(DataFileError, match=r"manifest\.json is damaged \(its version is .*, a number from 1 on"):
        open_collection(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.pop("partitions"),
        lambda value: value.update(files=3),
        lambda value: value["partitions"][0]["files"].update(data=["../../x", 3, ""]),
        lambda value: value["vectoriser"].update(n_bits=99),
    ],
)
def test_a_manifest_that_says_nonsense_is_refused(change: Callable[[dict[str, Any]], object], folder: Path) -> None:
    change_manifest(folder, change)
    with pytest.raises(InputError, match=r"manifest\.json is damaged|n_bits must be"):
        open_collection(folder)


def test_a_manifest_that_was_changed_is_refused_whatever_it_says_then(folder: Path) -> None:
    path = folder / "manifest.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps(value))  # laid out in another way
    assert open_collection(folder).n_items == 100
    path.write_text(json.dumps({**value, "n_items": 99}))
    for use in (open_collection, reindex_collection):
        with pytest.raises(DataFileError, match=r"manifest\.json is damaged or was changed by hand.* Copy the"):
            use(folder)
    del value["sha256"]  # as in the first collections
    path.write_text(json.dumps(value))
    assert open_collection(folder).n_items == 100


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["vectoriser"].update(n_bits=8),
        lambda value: value["partitions"][1].update(n_items=39),
        lambda value: value["partitions"][1].update(n_entries=value["partitions"][1]["n_entries"] + 1),
    ],
)
def test_rows_that_do_not_fit_to_the_manifest_are_not_read(
    change: Callable[[dict[str, Any]], object], folder: Path
) -> None:
    change_manifest(folder, change)
    for use in (read_rows, reindex):
        with pytest.raises(DataFileError, match=r"indptr\.npy do not fit together, or not to the manifest"):
            use(open_collection(folder))


def test_an_idf_of_other_columns_is_not_used(folder: Path) -> None:
    change_manifest(folder, lambda value: value["vectoriser"].update(n_bits=11))
    with pytest.raises(DataFileError, match=r"idf\.1\.npy has numbers for 1,024 columns, and rows have 2,048"):
        _ = open_collection(folder).vectoriser
    with pytest.raises(DataFileError, match="rows have 2,048"):
        append(open_collection(folder))


@pytest.mark.parametrize("what", ["data.1.npy", "indices.npy", "records.parquet", "memberships_data.1.npy", "ids.npy"])
def test_a_missing_or_cut_block_is_named_at_once(what: str, folder: Path) -> None:
    path = folder / "partitions" / "00001" / what
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(DataFileError, match=rf"partition 00001: .*{what} is cut short: .* bytes"):
        open_collection(folder)
    path.unlink()
    with pytest.raises(DataFileError, match=rf"partition 00001: the file .*{what} is missing"):
        open_collection(folder)


@pytest.mark.parametrize("what", ["idf.1.npy", "partitions/00001/data.1.npy", "partitions/00001/records.parquet"])
def test_nothing_is_made_of_a_collection_with_a_missing_or_cut_file(what: str, folder: Path) -> None:
    documents(5, prefix="e").write_csv(folder.with_name("more.csv"))
    data = (folder / what).read_bytes()
    for is_there in (True, False):
        (folder / what).write_bytes(data[:-1])
        if not is_there:
            (folder / what).unlink()
        before = contents(folder)
        for run in (
            partial(reindex_collection, folder),
            partial(index_collection, folder.with_name("more.csv"), folder),
        ):
            with pytest.raises(DataFileError, match=f"{what} is {'cut short' if is_there else 'missing'}"):
                run()
        assert contents(folder) == before


def begin_to_reindex(folder: Path) -> None:
    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("riffler.disk.reindexing.remove_strays", end)
        with pytest.raises(KeyboardInterrupt):
            reindex_collection(folder)
    assert (folder / "journal.jsonl").exists()


@pytest.mark.parametrize("prepare", [lambda folder: None, begin_to_reindex])
def test_a_collection_without_its_manifest_is_not_taken_for_a_run_that_was_given_up(
    prepare: Callable[[Path], None], folder: Path
) -> None:
    documents(5, prefix="e").write_csv(folder.with_name("more.csv"))
    prepare(folder)
    (folder / "manifest.json").unlink()
    before = contents(folder)
    with pytest.raises(
        DataFileError, match=r"manifest\.json is missing, .*finished collection.* Copy the collection again"
    ):
        index_collection(folder.with_name("more.csv"), folder)
    assert contents(folder) == before
    (folder / "journal.jsonl").unlink(missing_ok=True)
    assert is_collection(folder)
    for use in (open_collection, reindex_collection):
        with pytest.raises(DataFileError, match=r"manifest\.json is missing, .* finished collection"):
            use(folder)


def test_a_collection_whose_manifest_is_damaged_is_one_still(folder: Path) -> None:
    for text in ('{"kind": "riffler coll', "", "\xff", "[]"):
        (folder / "manifest.json").write_text(text, encoding="latin-1")
        assert is_collection(folder)
        with pytest.raises(DataFileError, match=r"manifest\.json is damaged"):
            open_collection(folder)
        with pytest.raises(InputError, match="is a collection already"):
            index_collection(folder, folder.with_name("other"))
    (folder / "manifest.json").write_text('{"kind": "a ship"}')
    assert not is_collection(folder)


def read_rows(collection: DiskCollection) -> object:
    return [block.rows for block in collection.blocks]


def reindex(collection: DiskCollection) -> object:
    return reindex_collection(collection.folder)


def append(collection: DiskCollection) -> object:
    path = collection.folder.with_name("more.csv")
    documents(5, prefix="e").write_csv(path)
    return index_collection(path, collection.folder)


def change_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def read_memberships(collection: DiskCollection) -> object:
    return [block.memberships for block in collection.blocks]


@pytest.mark.parametrize(
    ("what", "read"),
    [
        ("data.1.npy", read_rows),
        ("indices.npy", read_rows),
        ("indices.npy", reindex),
        ("indptr.npy", read_rows),
        ("indptr.npy", reindex),
        ("memberships_indices.1.npy", read_memberships),
        ("records.parquet", lambda collection: list(collection.texts)),
        ("labels.npy", lambda collection: collection.labels),
        ("counts.npy", reindex),
        ("ids.npy", lambda collection: list(collection.ids)),
        ("ids.npy", lambda collection: collection.ids.keyed(b"key")),
        ("ids.npy", lambda collection: collection.ids.row_of("d50")),
        ("ids.npy", append),
        ("id_ends.npy", lambda collection: collection.ids[50]),
        ("id_ends.npy", append),
    ],
)
def test_a_changed_byte_is_found_before_it_is_used(
    what: str, read: Callable[[DiskCollection], object], folder: Path
) -> None:
    change_a_byte(folder / "partitions" / "00001" / what)
    collection = open_collection(folder)
    for use in (read, DiskCollection.verify):
        with pytest.raises(DataFileError, match=rf"partition 00001: .*{what} has another checksum"):
            use(collection)
    assert open_collection(folder).generation == 1  # nothing was made of it


@pytest.mark.parametrize(
    ("what", "read"),
    [
        ("idf.1.npy", lambda collection: collection.vectoriser),
        ("clusters.1.npz", lambda collection: collection.clusters),
        ("id_hashes.1.npy", lambda collection: "d3" in collection.ids),
        ("id_rows.1.npy", lambda collection: collection.ids.row_of("d3")),
    ],
)
def test_a_changed_byte_of_the_whole_is_found_before_it_is_used(
    what: str, read: Callable[[DiskCollection], object], folder: Path
) -> None:
    change_a_byte(folder / what)
    collection = open_collection(folder)
    for use in (read, DiskCollection.verify):
        with pytest.raises(DataFileError, match=f"{what} has another checksum"):
            use(collection)


def test_a_file_is_summed_once_and_again_when_it_was_written_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summed: list[str] = []

    def check_sum(folder: Path, entry: FileEntry, what: str) -> None:
        summed.append(entry.name)
        real_check_sum(folder, entry, what)

    monkeypatch.setattr("riffler.disk.files.check_sum", check_sum)
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    for _ in range(3):
        assert open_collection(copy).labels is not None
    assert summed == [f"partitions/{number:05}/labels.npy" for number in range(3)]
    change_a_byte(copy / "partitions" / "00002" / "labels.npy")
    with pytest.raises(DataFileError, match="has another checksum"):
        _ = open_collection(copy).labels


@pytest.mark.parametrize("is_new", [True, False])
def test_what_is_damaged_while_clusters_are_found_is_said(
    is_new: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Publisher.fit_clusters
    made = folder.with_name("new") if is_new else folder

    def damage_and_fit(maker: Publisher, *rest: Any) -> FileEntry:  # noqa: ANN401 - whatever the real one takes
        change_a_byte(made / "partitions" / "00001" / f"data.{1 if is_new else 2}.npy")
        return real(maker, *rest)

    monkeypatch.setattr(Publisher, "fit_clusters", damage_and_fit)
    options = IndexOptions(n_items=40, n_clusters=3)
    run = (
        partial(index_collection, folder.with_name("a.csv"), made, options)
        if is_new
        else partial(reindex_collection, made)
    )
    with pytest.raises(DataFileError, match=r"partition 00001: .*data\..\.npy has another checksum"):
        run()


def test_opening_sums_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.files.check_sum", None)
    assert open_collection(folder).n_items == 100


def test_a_file_that_is_no_array_is_told(tmp_path: Path) -> None:
    entry = write_array(tmp_path, "a.npy", np.arange(5, dtype=np.int32))
    assert open_array(tmp_path, entry, "here").tolist() == [0, 1, 2, 3, 4]
    assert np.load(tmp_path / "a.npy", mmap_mode="r").tolist() == [0, 1, 2, 3, 4]
    empty = write_array(tmp_path, "b.npy", np.empty(0, dtype=np.float32))
    assert open_array(tmp_path, empty, "here").dtype == np.float32
    other = write_bytes(tmp_path, "a.npy", b"x" * entry.n_bytes)
    with pytest.raises(DataFileError, match=r"here: a\.npy is no whole array"):
        open_array(tmp_path, other, "here")
    with pytest.raises(DataFileError, match=r"here: a\.npy has another checksum"):
        open_array(tmp_path, entry, "here")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"command": \n{}\n', "the journal is damaged, or a file of something else"),
        ("Dear diary,\ntoday", "the journal is damaged, or a file of something else"),
        ('{"kind": "riffler journal", "version": 1}\n{"st', "the journal is damaged"),
        (f"{FIRST_LINE}\n{{}}\n", "the journal is damaged"),
        (f"{FIRST_LINE}\n[\n{{}}\n{{", "the journal is damaged"),
        (FIRST_LINE.replace('"version": 1', '"version": 9') + "\n", "a journal of version 9"),
    ],
)
def test_a_damaged_journal_is_told_and_left_as_it_is(text: str, told: str, folder: Path) -> None:
    (folder / "journal.jsonl").write_text(text)
    with pytest.raises(DataFileError, match=told):
        reindex_collection(folder)
    assert (folder / "journal.jsonl").read_text() == text


def test_documents_without_words_are_empty_rows(tmp_path: Path) -> None:
    pl.DataFrame({"title": [""] * 500, "x": ["1"] * 500}).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", IndexOptions(n_items=200))
    empty = open_collection(tmp_path / "c")
    assert empty.n_items == 500
    assert all(block.rows.nnz == 0 for block in empty.blocks)
    first = empty.ids[0]
    assert (empty.ids[1], empty.ids[499]) == (f"{first}-2", f"{first}-500")
    assert empty.texts[7] == ""
    with pytest.raises(InputError, match="at most the number of items with features, 0"):
        reindex_collection(tmp_path / "c", n_clusters=2)


def test_a_document_of_fifty_megabytes_is_kept_and_its_first_two_count(tmp_path: Path) -> None:
    long = "gull " * 400_000 + "owl " * 12_000_000  # "owl" begins behind the bytes that count
    pl.DataFrame({"title": ["short", "long"], "abstract": ["heron", long]}).write_ndjson(tmp_path / "a.jsonl")
    index_collection(tmp_path / "a.jsonl", tmp_path / "c")
    collection = open_collection(tmp_path / "c")
    assert [partition.n_cut for partition in collection.manifest.partitions] == [1]
    assert collection.abstracts[1] == long
    assert collection.blocks[0].rows[1].nnz == 2  # long, gull
    assert collection.texts[0] == "short\nheron"


def test_settings_that_cannot_be_are_refused() -> None:
    for make in (
        lambda: VectoriserSettings(n_bits=30),
        lambda: VectoriserSettings(stop_words="owl"),
        lambda: VectoriserSettings(most_bytes=0),
        lambda: IndexOptions(n_items=0),
        lambda: IndexOptions(n_items=10_000_001),
        lambda: IndexOptions(n_bytes=(1 << 30) + 1),
        lambda: IndexOptions(n_clusters=-1),
    ):
        with pytest.raises(InputError):
            make()
