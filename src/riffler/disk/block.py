"""One partition of a collection: mapped rows, memberships, ids, and records that are read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riffler.disk.files import FileEntry, check_once, check_sum, file_state, open_array
from riffler.disk.manifest import Manifest, Partition, as_opened
from riffler.disk.packed_ids import PackedIds
from riffler.disk.row_arrays import MEMBERSHIPS, WEIGHTS, open_rows
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl
    from scipy import sparse

KEPT = ("folder", "number", "first_row", "generation", "_n_columns", "_n_clusters", "_partition")


class Block:
    """Some documents in a row; opens its files at first use, and compares their checksums then, once.

    Attributes
    ----------
    number, name : of the partition
    first_row, n_rows : which documents of the collection it holds
    """

    def __init__(self, folder: Path, manifest: Manifest, number: int, first_row: int) -> None:
        self.folder = folder
        self.number = number
        self.first_row = first_row
        self.generation = manifest.generation
        self._n_columns = manifest.vectoriser.n_columns
        self._n_clusters = manifest.clusters.get("n_clusters")
        self._partition = manifest.partitions[number]

    @property
    def name(self) -> str:
        """The partition in messages."""
        return self._partition.name

    @property
    def n_rows(self) -> int:
        """Documents of the block."""
        return self._partition.n_items

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and columns of the rows."""
        return self.n_rows, self._n_columns

    @property
    def n_entries(self) -> int:
        """Entries of the rows that are not 0."""
        return self._partition.n_entries

    @property
    def n_bytes(self) -> int:
        """Bytes of the mapped rows."""
        return sum(self._partition.files[what].n_bytes for what in WEIGHTS)

    @cached_property
    def rows(self) -> sparse.csr_matrix:
        """The rows, float32 CSR of shape (n_rows, n_columns) over mapped arrays; to be read only."""
        _ = self._states  # from before they are opened
        return self._csr(WEIGHTS, self._n_columns)

    def open(self) -> sparse.csr_matrix:
        """Open the rows, in whatever process works on them."""
        return self.rows

    def check_unchanged(self) -> None:
        """Raise where files of the rows were written to since they were opened: what is mapped changed with them.

        Files that were removed or replaced stay mapped as they were.
        """
        for entry, known in self._states.items():
            now = file_state(self.folder, entry)
            if now is not None and now != known and now[0] == known[0]:
                check_once(self.folder, entry, self.name)
                self._states[entry] = now

    @cached_property
    def memberships(self) -> sparse.csr_matrix | None:
        """Memberships in soft clusters, shape (n_rows, n_clusters + 1), None where there are none."""
        if self._n_clusters is None:
            return None
        return self._csr(MEMBERSHIPS, self._n_clusters + 1)

    @cached_property
    def ids(self) -> PackedIds:
        """The ids, mapped."""
        return PackedIds(self._array("ids"), self._array("id_ends"))

    @cached_property
    def labels(self) -> NDArray[np.int8]:
        """1, 0 and -1 of each document, mapped."""
        return self._array("labels")

    def records(self, start: int, n: int, columns: Iterable[str]) -> pl.DataFrame:
        """Some columns of the records from a row of the block on."""
        import polars as pl

        with as_opened(self.folder, self.generation):
            path = self.folder / self._records
            try:
                return pl.scan_parquet(path, glob=False).slice(start, n).select(*columns).collect()
            except (pl.exceptions.PolarsError, OSError) as error:
                raise DataFileError(f"{self.folder}, {self.name}: {self._records} cannot be read ({error}).") from error

    def verify(self) -> None:
        """Compare the checksums of all files; the first that differs is an error that names the partition."""
        with as_opened(self.folder, self.generation):
            for entry in self._partition.files.values():
                check_sum(self.folder, entry, self.name)

    def __getstate__(self) -> dict[str, Any]:
        """What another process opens it by: no manifest is read there, and nothing that is open here travels."""
        return {name: value for name, value in vars(self).items() if name in KEPT}

    def __repr__(self) -> str:
        return f"<{self.name} of {self.folder}: {self.n_rows:,} documents>"

    @cached_property
    def _records(self) -> str:
        entry = self._partition.files["records"]
        check_once(self.folder, entry, self.name)
        return entry.name

    @cached_property
    def _states(self) -> dict[FileEntry, tuple[int, ...]]:
        """The files of the rows as they were when they were opened."""
        entries = [self._partition.files[what] for what in WEIGHTS]
        states = ((entry, file_state(self.folder, entry)) for entry in entries)
        return {entry: state for entry, state in states if state is not None}

    def _csr(self, files: tuple[str, ...], n_columns: int) -> sparse.csr_matrix:
        from scipy import sparse

        with as_opened(self.folder, self.generation):
            data, indices, indptr = open_rows(self.folder, self._partition, files, n_columns)
        matrix: sparse.csr_matrix = sparse.csr_matrix((data, indices, indptr), shape=(self.n_rows, n_columns))
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix

    def _array(self, what: str) -> NDArray[Any]:
        with as_opened(self.folder, self.generation):
            return open_array(self.folder, self._partition.files[what], self.name)


def blocks_of(folder: Path, manifest: Manifest) -> tuple[Block, ...]:
    """All blocks in the order of their documents."""
    firsts = np.concatenate([[0], np.cumsum([partition.n_items for partition in manifest.partitions])])
    return tuple(Block(folder, manifest, number, int(firsts[number])) for number in range(len(manifest.partitions)))


def partition_ids(folder: Path, partition: Partition) -> PackedIds:
    """Ids of a partition that may not be in a manifest yet."""
    files = partition.files
    return PackedIds(
        open_array(folder, files["ids"], partition.name), open_array(folder, files["id_ends"], partition.name)
    )
