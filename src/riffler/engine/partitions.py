"""The rows of a collection on disk as blocks of an engine: each process opens, and verifies, those that it works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from riffler.features.blocked_rows import BlockedRows
from riffler.records import Matrix

if TYPE_CHECKING:
    from riffler.disk import DiskCollection
    from riffler.disk.block import Block


@dataclass(frozen=True, slots=True)
class PartitionRows:
    """The rows of one partition; pickled by folder and number."""

    partition: Block
    shape: tuple[int, int]

    def open(self) -> Matrix:
        """Map the rows, and compare their checksums, once a process."""
        return self.partition.rows


def rows_on_disk(collection: DiskCollection) -> BlockedRows:
    """Return the rows of a collection, for an engine or a ranker; nothing is opened yet."""
    columns = collection.n_columns
    return BlockedRows([PartitionRows(block, (block.n_rows, columns)) for block in collection.blocks])
