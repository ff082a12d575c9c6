"""Rows of a few documents out of all blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.disk.block import Block
from riffler.records import IntArray

if TYPE_CHECKING:
    from scipy import sparse


def locate(bounds: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The block of each row, and its row within that; ``bounds`` are the first rows of the blocks and the end.

    >>> locate(np.array([0, 3, 5]), np.array([4, 0]))
    (array([1, 0]), array([1, 0]))
    """
    blocks = np.searchsorted(bounds, rows, side="right") - 1
    return blocks, rows - bounds[blocks]


def gathered(blocks: Sequence[Block], rows: IntArray) -> sparse.csr_matrix:
    """Rows of documents, in the order asked for, copied into memory."""
    from scipy import sparse

    bounds = np.array([block.first_row for block in blocks] + [blocks[-1].first_row + blocks[-1].n_rows])
    rows = np.asarray(rows, dtype=np.int64)
    if len(rows) == 0:
        return blocks[0].rows[:0]
    numbers, within = locate(bounds, rows)
    order = np.argsort(numbers, kind="stable")
    parts = [blocks[number].rows[within[order][numbers[order] == number]] for number in np.unique(numbers)]
    together = sparse.vstack(parts, format="csr")
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    found: sparse.csr_matrix = together[back]
    return found
