"""Where documents are: in which block, and in which row of it."""

from __future__ import annotations

import numpy as np

from riffler.records import IntArray


def locate(bounds: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The block of each row, and its row within that; ``bounds`` are the first rows of the blocks and the end.

    >>> locate(np.array([0, 3, 5]), np.array([4, 0]))
    (array([1, 0]), array([1, 0]))
    """
    blocks = np.searchsorted(bounds, rows, side="right") - 1
    return blocks, rows - bounds[blocks]
