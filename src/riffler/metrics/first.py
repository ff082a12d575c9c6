"""How good the first answer is: where the first positive stands, and whether it leads."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riffler.metrics.ties import TieBlocks, need_positives, tie_blocks


def reciprocal_rank(labels: ArrayLike, scores: ArrayLike) -> float:
    """One over the rank of the first positive, expected over tie orders.

    >>> reciprocal_rank([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.1])
    0.5
    >>> reciprocal_rank([0, 1], [0.5, 0.5])  # 1 or 1/2
    0.75
    """
    return reciprocal_rank_of_blocks(tie_blocks(labels, scores))


def winner_takes_all(labels: ArrayLike, scores: ArrayLike) -> float:
    """Whether the best scored row is positive, 1.0 or 0.0; with ties at the top, the chance that it is.

    The same as precision at 1.

    >>> winner_takes_all([0, 1, 1], [0.2, 0.9, 0.9])
    1.0
    """
    return winner_takes_all_of_blocks(tie_blocks(labels, scores))


def reciprocal_rank_of_blocks(blocks: TieBlocks) -> float:
    """Reciprocal rank of rows already summed into blocks; weights must be whole numbers.

    In the first block with positives, n rows of which p are positive, the first positive is the j-th row with chance
    C(n-j, p-1) / C(n, p): p/n for j = 1, and each next one (n-j-p+1) / (n-j) times the last.
    """
    need_positives(blocks, "Reciprocal rank")
    first = int(np.argmax(blocks.positive > 0))
    n_before = blocks.weight[:first].sum()
    n_rows, n_positive = blocks.weight[first], blocks.positive[first]
    place = np.arange(1.0, n_rows - n_positive + 2)
    still_missing = (n_rows - place[:-1] - n_positive + 1) / (n_rows - place[:-1])
    chance = np.cumprod(np.concatenate(([n_positive / n_rows], still_missing)))
    return float((chance / (n_before + place)).sum())


def winner_takes_all_of_blocks(blocks: TieBlocks) -> float:
    """Share of positives in the best scored block that has any rows."""
    first = int(np.argmax(blocks.weight > 0))
    return float(blocks.positive[first] / blocks.weight[first])
