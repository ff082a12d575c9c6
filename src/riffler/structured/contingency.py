"""The labelling that violates a margin most, for losses that depend on how many rows of each kind are selected.

A labelling selects ``a`` of the relevant rows and ``b`` of the others; among the labellings of one such table the best
scored rows of each kind are the worst case. So tables are searched, not labellings: O(n log n) for all measures here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riffler.records import BoolArray, FloatArray, IntArray

TableLoss = Callable[[IntArray, IntArray], FloatArray]
"""The loss where ``a`` relevant rows and ``b`` others are selected; for fixed a it is concave and never falls in b."""

Heights = Callable[[IntArray, IntArray], FloatArray]


class Tables:
    """Rows of each kind, best scored first, with running sums of scores.

    The height of a table is ``loss + score - score of the truth`` (margin rescaling) or ``loss * (1 + score - score of
    the truth)`` (slack rescaling), the score of a selection being the sum of its scores by ``unit``.
    """

    def __init__(self, scores: FloatArray, relevant: BoolArray, unit: float) -> None:
        self._n_rows = len(scores)
        self._upper, self._lower = (_best_first(scores, np.flatnonzero(kind)) for kind in (relevant, ~relevant))
        self._upper_sum, self._lower_sum = (_running(scores[rows] / unit) for rows in (self._upper, self._lower))
        self._n_gaining = int(np.count_nonzero(scores[self._lower] > 0))  # others whose selection adds to the score

    def selecting(self, n_selected: int, loss: TableLoss, rescaling: str) -> tuple[BoolArray, float]:
        """Give the highest labelling among those that select so many rows, and its height."""
        n_upper, n_lower = len(self._upper), len(self._lower)
        a = np.arange(max(0, n_selected - n_lower), min(n_selected, n_upper) + 1)
        return self._highest(a, n_selected - a, self._heights(loss, rescaling))

    def selecting_any(self, loss: TableLoss, rescaling: str) -> tuple[BoolArray, float]:
        """Give the highest labelling of all, and its height: the best b of each a, by halving.

        For fixed a both loss and score are concave in b, so the height rises up to some b and falls from there. A
        product of the two (slack rescaling) does so too, from where the score is highest; before, both factors rise.
        """
        heights = self._heights(loss, rescaling)
        a = np.arange(len(self._upper) + 1)
        low = np.full(len(a), self._n_gaining if rescaling == "slack" else 0)
        high = np.full(len(a), len(self._lower))
        while (open_ := low < high).any():
            middle = (low + high) // 2
            rises = open_ & (heights(a, np.minimum(middle + 1, high)) > heights(a, middle))
            low, high = np.where(rises, middle + 1, low), np.where(open_ & ~rises, middle, high)
        return self._highest(a, low, heights)

    def _heights(self, loss: TableLoss, rescaling: str) -> Heights:
        def score(a: IntArray, b: IntArray) -> FloatArray:
            found: FloatArray = self._upper_sum[a] - self._upper_sum[-1] + self._lower_sum[b]
            return found

        if rescaling == "slack":
            return lambda a, b: loss(a, b) * (1.0 + score(a, b))
        return lambda a, b: loss(a, b) + score(a, b)

    def _highest(self, a: IntArray, b: IntArray, heights: Heights) -> tuple[BoolArray, float]:
        found = heights(a, b)
        best = int(np.argmax(found))
        selected = np.zeros(self._n_rows, dtype=np.bool_)
        selected[self._upper[: a[best]]] = True
        selected[self._lower[: b[best]]] = True
        return selected, float(found[best])


def largest(values: FloatArray, n: int) -> BoolArray:
    """Mark the n largest values; of those equal to the last of them, the first are taken.

    >>> largest(np.array([3.0, 1.0, 2.0, 2.0]), 2)
    array([ True, False,  True, False])
    """
    if n == 0:
        return np.zeros(len(values), dtype=np.bool_)
    last = np.partition(values, len(values) - n)[len(values) - n]
    marked: BoolArray = values > last
    n_equal = n - int(np.count_nonzero(marked))
    marked[np.flatnonzero(values == last)[:n_equal]] = True
    return marked


def _best_first(scores: FloatArray, rows: IntArray) -> IntArray:
    return rows[np.argsort(-scores[rows], kind="stable")]


def _running(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])
