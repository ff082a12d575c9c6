"""Which columns the documents of a whole collection had in their sources, without holding more than a few of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from riffler.disk.block import Block
from riffler.disk.partition_writing import ROWS_OF_A_GROUP

if TYPE_CHECKING:
    from riffler.disk.collection import DiskCollection

VARYING = ("jsonl", "tagged")
"""Kinds of sources whose records have columns of their own; in the others one record has those of all."""


def column_names(collection: DiskCollection) -> list[str]:
    """The columns of all documents, those of the first source first."""
    names: dict[int, dict[str, None]] = {}  # of each source; a dict keeps the order
    for block, source, start, n in _runs(collection):
        described = collection.manifest.sources[source]
        if source not in names:
            names[source] = dict.fromkeys(_kept(described["parts"] or {}))
            n = n if described["kind"] in VARYING else 1
        elif described["kind"] not in VARYING:
            continue
        for one in _other_names(block, start, n):
            names[source][one] = None
    return list(dict.fromkeys(name for number in sorted(names) for name in names[number]))


def _runs(collection: DiskCollection) -> Iterator[tuple[Block, int, int, int]]:
    """Yield (block, number of a source, first row in the block, how many) of documents that came from one source."""
    for block, partition in zip(collection.blocks, collection.manifest.partitions, strict=True):
        starts = accumulate((n for _, _, n in partition.runs), initial=0)
        for start, (source, _, n) in zip(starts, partition.runs, strict=False):
            yield block, source, start, n


def _kept(parts: dict[str, str | None]) -> list[str]:
    """Columns that are kept by themselves; a name in parentheses is none."""
    named = [parts.get(part) for part in ("id", "title", "abstract")]
    own = [] if parts.get("id") is not None else ["riffler_id"]
    return own + [name for name in named if name is not None and not name.startswith("(")]


def _other_names(block: Block, start: int, n: int) -> Iterator[str]:
    for first in range(start, start + n, ROWS_OF_A_GROUP):
        texts = block.records(first, min(ROWS_OF_A_GROUP, start + n - first), ["others"])["others"]
        for text in texts.drop_nulls():
            yield from json.loads(text)
