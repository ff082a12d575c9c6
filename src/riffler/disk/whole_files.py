"""Files that a collection has once: how rare each column is, and its clusters."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from threading import Lock

import numpy as np

from riffler.disk.files import AGAIN, FileEntry, check_once, open_array
from riffler.errors import DataFileError
from riffler.features.cluster_model import ClusterModel
from riffler.records import FloatArray

_READING = Lock()
"""NumPy compiles the headers of what it reads, which CPython 3.11 cannot do in several threads at a time."""


def read_idf(folder: Path, entry: FileEntry, n_columns: int) -> FloatArray:
    """The idf of a collection, in memory: a number for each column of its rows."""
    idf = np.array(open_array(folder, entry, "idf"))
    if len(idf) != n_columns:
        raise DataFileError(
            f"{folder}: {entry.name} has numbers for {len(idf):,} columns, and rows have {n_columns:,}. {AGAIN}"
        )
    return idf


def read_clusters(folder: Path, entry: FileEntry) -> ClusterModel:
    """The clusters of a collection, compared with their checksum; read once, as every partition is put into them."""
    check_once(folder, entry, "clusters")
    with _READING:
        return _read_clusters(folder, entry)


@lru_cache(maxsize=2)
def _read_clusters(folder: Path, entry: FileEntry) -> ClusterModel:
    try:
        return ClusterModel.load(folder / entry.name)
    except (ValueError, KeyError, OSError) as error:
        raise DataFileError(f"{folder}: {entry.name} holds no clusters ({error}).") from error
