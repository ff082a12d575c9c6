"""More partitions than a process may usually have files open: the limit is raised as far as it goes, and then named."""

from __future__ import annotations

from pathlib import Path

from riffler.disk import IndexOptions, index_collection
from tests.disk.documents import documents, python

LIMITED = """
import resource, sys
from pathlib import Path
from riffler.engine import LocalEngine, rows_on_disk
from riffler.disk import IndexOptions, index_collection, open_collection
import numpy as np
import scipy.sparse, riffler._fast.rows  # what they open is not counted

resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
if sys.argv[4:]:
    index_collection(sys.argv[4], sys.argv[3], IndexOptions(n_items=10, n_clusters=0), n_jobs=1)
collection = open_collection(Path(sys.argv[3]))
scores = LocalEngine(rows_on_disk(collection), threads=1).scores(np.ones(collection.n_columns))
print(len(collection.blocks), len(scores), len(set(collection.ids)))
"""


def test_a_collection_of_many_partitions_is_made_and_opened(tmp_path: Path) -> None:
    documents(1000).write_csv(tmp_path / "a.csv")
    process = python(LIMITED, "128", "4096", str(tmp_path / "c"), str(tmp_path / "a.csv"))
    told, errors = process.communicate(timeout=120)
    assert told.split() == ["100", "1000", "1000"], errors


def test_a_hard_limit_is_named(tmp_path: Path) -> None:
    documents(1000).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", IndexOptions(n_items=10, n_clusters=0))
    process = python(LIMITED, "128", "128", str(tmp_path / "c"))
    _, errors = process.communicate(timeout=120)
    assert "DataFileError" in errors.splitlines()[-1]
    assert "may not open as many files as the collection has" in errors
    assert "ulimit -n" in errors
