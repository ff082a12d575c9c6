"""What is made of one partition by itself: its weights, its memberships in clusters. It runs wherever it is sent.

Files go into the folder, and what is returned says only which: so a worker on another machine sends a few names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from riffler.data.folder import PARTITIONS
from riffler.disk.block import Block
from riffler.disk.files import FileEntry, write_array
from riffler.disk.manifest import Files, Partition
from riffler.disk.row_arrays import COUNTS, MEMBERSHIPS, open_rows
from riffler.disk.settings import VectoriserSettings
from riffler.disk.whole_files import read_clusters, read_idf
from riffler.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Weighing:
    """Counts of terms to TF-IDF of length 1."""

    folder: Path
    generation: int
    settings: VectoriserSettings
    idf: FileEntry

    def __call__(self, partition: Partition) -> Files:
        """Write the weights of a partition."""
        from riffler._fast.weights import weigh_rows

        n_columns = self.settings.n_columns
        features, idf = self.settings.unfitted, read_idf(self.folder, self.idf, n_columns)
        counts, indices, indptr = open_rows(self.folder, partition, COUNTS, n_columns)
        values = np.empty(len(indices), dtype=np.float32)
        weigh_rows(indptr, indices, counts, idf, features.sublinear_tf, features.norm is not None, values)
        return {"data": _written(self.folder, self.generation, partition.number, "data", values)}


@dataclass(frozen=True, slots=True)
class Assigning:
    """Rows to memberships in the clusters that were found."""

    folder: Path
    generation: int
    clusters: FileEntry

    def __call__(self, block: Block) -> Files:
        """Write the memberships of the documents of a block."""
        found = read_clusters(self.folder, self.clusters).assign(block.rows)
        parts = (found.data, found.indices.astype(np.int32), found.indptr.astype(np.int32))
        return {
            what: _written(self.folder, self.generation, block.number, what, part)
            for what, part in zip(MEMBERSHIPS, parts, strict=True)
        }


def _written(folder: Path, generation: int, number: int, what: str, array: FloatArray | IntArray) -> FileEntry:
    return write_array(folder, f"{PARTITIONS}/{number:05}/{what}.{generation}.npy", array)
