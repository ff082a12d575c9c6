"""Where items come from: files read into one record, and public collections known by name."""

from __future__ import annotations

from riffler.data.atomic import atomic_write
from riffler.data.reading import read_table
from riffler.data.table import Column, Schema, Table

__all__ = ["Column", "Schema", "Table", "atomic_write", "read_table"]
