"""Files that a collection has once: how rare each column is, and its clusters."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from riffler.disk.files import FileEntry, check_once, open_array
from riffler.errors import DataFileError
from riffler.features.cluster_model import ClusterModel
from riffler.records import FloatArray


def read_idf(folder: Path, entry: FileEntry) -> FloatArray:
    """The idf of a collection, in memory."""
    return np.array(open_array(folder, entry, "idf"))


def read_clusters(folder: Path, entry: FileEntry) -> ClusterModel:
    """The clusters of a collection, compared with their checksum."""
    check_once(folder, entry, "clusters")
    try:
        return ClusterModel.load(folder / entry.name)
    except (ValueError, KeyError, OSError) as error:
        raise DataFileError(f"{folder}: {entry.name} holds no clusters ({error}).") from error
