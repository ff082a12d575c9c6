"""Collections on disk as blocks: every engine scores them as rows in memory, and names a partition that is damaged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.disk import DiskCollection, IndexOptions, index_collection, open_collection
from riffler.engine import DaskEngine, LocalEngine, rows_on_disk
from riffler.errors import DataFileError
from tests.disk.documents import documents, rows_of


@pytest.fixture
def collection(tmp_path: Path) -> DiskCollection:
    documents(230).write_csv(tmp_path / "documents.csv")
    index_collection(tmp_path / "documents.csv", tmp_path / "collection", IndexOptions(n_items=60, n_clusters=0))
    return open_collection(tmp_path / "collection")


def test_partitions_are_scored_as_rows_in_memory(cluster: Any, collection: DiskCollection) -> None:  # noqa: ANN401
    rows = rows_on_disk(collection)
    assert rows.n_blocks == len(collection.blocks) > 2
    rng = np.random.default_rng(0)
    w, ties = rng.normal(size=collection.n_columns), rng.permutation(collection.n_items)
    whole = LocalEngine([rows_of(collection)])
    wanted = whole.best(w, 9, np.array([3, 5]), ties=ties)
    with DaskEngine(rows, cluster) as dask:
        for engine in (LocalEngine(rows), dask):
            np.testing.assert_array_equal(engine.scores(w), whole.scores(w))
            np.testing.assert_array_equal(engine.best(w, 9, np.array([3, 5]), ties=ties).rows, wanted.rows)


def test_a_damaged_partition_is_named_by_every_engine(cluster: Any, collection: DiskCollection) -> None:  # noqa: ANN401
    damaged = collection.blocks[2]
    path = collection.folder / damaged._partition.files["data"].name
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))
    w = np.ones(collection.n_columns)
    with DaskEngine(rows_on_disk(collection), cluster) as dask:
        for engine in (LocalEngine(rows_on_disk(collection)), dask):
            with pytest.raises(DataFileError, match=damaged.name):
                engine.best(w, 3)


@pytest.mark.parametrize("change", ["cut", "written over", "written over, and its time set back"])
def test_a_partition_that_is_damaged_after_it_was_opened_is_named_by_every_engine(
    change: str,
    cluster: Any,  # noqa: ANN401
    collection: DiskCollection,
) -> None:
    damaged = collection.blocks[2]
    path = collection.folder / damaged._partition.files["data"].name
    w = np.ones(collection.n_columns)
    with DaskEngine(rows_on_disk(collection), cluster) as dask:
        engines = (LocalEngine(rows_on_disk(collection)), dask)
        wanted = [engine.best(w, 3).rows.tolist() for engine in engines]
        path.touch()  # a change of nothing is none
        assert [engine.best(w, 3).rows.tolist() for engine in engines] == wanted
        whole, status = path.read_bytes(), path.stat()
        with path.open("r+b") as file:
            if change == "cut":
                file.truncate(len(whole) // 2)
            else:
                file.seek(-1, 2)
                file.write(bytes([whole[-1] ^ 1]))
        if "time" in change:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        for engine in engines:
            with pytest.raises(DataFileError, match=damaged.name):
                engine.best(w, 3)
        with path.open("r+b") as file:
            file.write(whole)
        assert [engine.best(w, 3).rows.tolist() for engine in engines] == wanted


def test_a_file_that_was_replaced_stays_open_as_it_was(collection: DiskCollection) -> None:
    engine, w = LocalEngine(rows_on_disk(collection)), np.ones(collection.n_columns)
    wanted = engine.best(w, 3).rows.tolist()
    path = collection.folder / collection.blocks[2]._partition.files["data"].name
    path.unlink()
    assert engine.best(w, 3).rows.tolist() == wanted
    path.write_bytes(b"of another generation")
    assert engine.best(w, 3).rows.tolist() == wanted
