"""Collections on disk: documents in partitions, with rows that are mapped and never all in memory."""

from __future__ import annotations

from riffler.disk.block import Block
from riffler.disk.collection import DiskCollection, open_collection
from riffler.disk.indexing import index_collection
from riffler.disk.manifest import is_collection
from riffler.disk.options import IndexOptions
from riffler.disk.parts import WantedColumns
from riffler.disk.reindexing import reindex_collection
from riffler.disk.settings import VectoriserSettings

__all__ = [
    "Block",
    "DiskCollection",
    "IndexOptions",
    "VectoriserSettings",
    "WantedColumns",
    "index_collection",
    "is_collection",
    "open_collection",
    "reindex_collection",
]
