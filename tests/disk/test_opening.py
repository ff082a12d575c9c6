"""An open collection stays what it is, or says that it was changed; another folder or process finds the same files."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from riffler.data import read_collection
from riffler.disk import (
    DiskCollection,
    IndexOptions,
    VectoriserSettings,
    index_collection,
    open_collection,
    reindex_collection,
)
from riffler.disk import collection as opening
from riffler.disk.manifest import Manifest, read_manifest
from riffler.errors import DataFileError, InputError
from tests.disk.documents import documents

OPTIONS = IndexOptions(n_items=20, n_clusters=2, vectoriser=VectoriserSettings(n_bits=10))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents(50).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS)
    return tmp_path / "c"


def append(folder: Path) -> None:
    path = folder.with_name("more.csv")
    documents(5, prefix="e").write_csv(path)
    index_collection(path, folder)


@pytest.mark.parametrize(
    ("change", "use"),
    [
        (append, lambda collection: "d3" in collection.ids),
        (reindex_collection, lambda collection: collection.vectoriser),
        (reindex_collection, lambda collection: collection.clusters),
        (reindex_collection, lambda collection: collection.blocks[0].rows),
        (reindex_collection, lambda collection: collection.blocks[0].memberships),
        (reindex_collection, DiskCollection.verify),
    ],
)
def test_a_collection_that_was_changed_since_it_was_opened_says_so(
    change: Callable[[Path], object], use: Callable[[DiskCollection], object], folder: Path
) -> None:
    stale = open_collection(folder)
    change(folder)
    with pytest.raises(InputError, match=r"was changed since it was opened \(generation 1, now 2\)\. Open it again"):
        use(stale)
    use(open_collection(folder))


def test_a_generation_that_is_put_in_place_while_a_collection_is_opened_is_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_times = [0]

    def read_and_change(folder: Path) -> Manifest:
        manifest = read_manifest(folder)
        n_times[0] += 1
        if n_times[0] == 1:
            append(folder)
        return manifest

    monkeypatch.setattr(opening, "read_manifest", read_and_change)
    collection = open_collection(folder)
    assert (collection.generation, collection.n_items) == (2, 55)
    assert "e4" in collection.ids


def test_a_collection_is_found_from_another_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    collection = open_collection("c")
    assert (collection.source, repr(collection)) == ("c", "<50 documents in c>")
    packed = pickle.dumps((collection, collection.blocks[2]))
    (folder.parent / "elsewhere").mkdir()
    monkeypatch.chdir(folder.parent / "elsewhere")
    assert "d3" in collection.ids
    assert collection.texts[0] == pickle.loads(packed)[0].texts[0]
    assert pickle.loads(packed)[1].rows.shape[0] == collection.blocks[2].rows.shape[0]


def test_reading_a_collection_on_disk_into_memory_says_how_to_open_it(folder: Path) -> None:
    with pytest.raises(
        DataFileError, match=r"a collection on disk, made by `riffler index`\. Open it with riffler\.open"
    ):
        read_collection(folder)


def test_a_collection_that_was_changed_since_it_was_sent_is_not_another_one_there(tmp_path: Path) -> None:
    documents(20).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c")
    packed = pickle.dumps(open_collection(tmp_path / "c"))
    assert pickle.loads(packed).n_items == 20
    documents(5, prefix="e").write_csv(tmp_path / "b.csv")
    index_collection(tmp_path / "b.csv", tmp_path / "c")
    with pytest.raises(InputError, match=r"was changed since it was opened \(generation 1, now 2\)\. Open it again"):
        pickle.loads(packed)
