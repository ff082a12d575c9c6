"""Where items come from: files read into one record, and public collections known by name."""

from __future__ import annotations

from riffler.data.atomic import atomic_write
from riffler.data.collection import Collection
from riffler.data.collection_reading import collection_from_frame, load_collection, read_collection
from riffler.data.duplicates import Duplicates, find_duplicates
from riffler.data.reading import read_table
from riffler.data.table import Column, Schema, Table
from riffler.data.texts import Texts

__all__ = [
    "Collection",
    "Column",
    "Duplicates",
    "Schema",
    "Table",
    "Texts",
    "atomic_write",
    "collection_from_frame",
    "find_duplicates",
    "load_collection",
    "read_collection",
    "read_table",
]
