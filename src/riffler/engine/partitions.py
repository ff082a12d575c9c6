"""The rows of a collection on disk as blocks of an engine: each process opens, and verifies, those that it works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riffler.features.blocked_rows import BlockedRows

if TYPE_CHECKING:
    from riffler.disk import DiskCollection


def rows_on_disk(collection: DiskCollection) -> BlockedRows:
    """Return the rows of a collection, for an engine or a ranker; nothing is opened yet."""
    return BlockedRows(collection.blocks)
