"""Rows of a few documents out of all blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riffler.disk.block import Block
from riffler.features.blocked_rows import BlockedRows
from riffler.records import IntArray, Matrix


def locate(bounds: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The block of each row, and its row within that; ``bounds`` are the first rows of the blocks and the end.

    >>> locate(np.array([0, 3, 5]), np.array([4, 0]))
    (array([1, 0]), array([1, 0]))
    """
    blocks = np.searchsorted(bounds, rows, side="right") - 1
    return blocks, rows - bounds[blocks]


def gathered(blocks: Sequence[Block], rows: IntArray) -> Matrix:
    """Rows of documents, in the order asked for, copied into memory."""
    return BlockedRows(blocks)[rows]
