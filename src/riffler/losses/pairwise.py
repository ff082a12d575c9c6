"""Losses over all preference pairs of a set of rows in O(n log n): value, slope and curvature in the scores.

A pair is an upper row i and a lower row j of the same group with y_i > y_j; its margin is s_i - s_j and its weight
w_i w_j. Every loss here is a mean over the pairs. No pair is ever listed: after one sort of the scores, the partners of
a row whose margin is below 1 are an interval of the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.errors import InputError, LabelError
from riffler.losses.active_pairs import ActivePairs, PairArrays, level_starts
from riffler.records import FloatArray, IntArray


class PreferencePairs:
    """All pairs of rows of one group and different grades; two grades are the bipartite case.

    grades : of each row, the higher the better; groups : of each row (None: all rows are one group);
    weight : repetitions of each row (None: 1). Rows of weight 0, and groups of one grade, have no pairs.

    ``rows`` has the rows with pairs by (group, grade), ``group_starts`` where groups start there, ``rank`` their grades
    counted from 0 in each group, ``total`` the weight of all pairs.

    >>> PreferencePairs([1, 0, 2, 0]).total
    5.0
    """

    def __init__(self, grades: ArrayLike, groups: ArrayLike | None = None, weight: ArrayLike | None = None) -> None:
        level = _levels(np.asarray(grades))
        row_weight = np.ones(len(level)) if weight is None else np.asarray(weight, dtype=np.float64)
        group = None if groups is None else np.unique(groups, return_inverse=True)[1]
        self.rows, self.group_starts, self.rank = _by_group(group, level, row_weight)
        self.total = _pair_weight(self.group_starts, self.rank, row_weight[self.rows])
        if not self.total > 0:
            raise LabelError(
                "There are no pairs to learn from: no group has rows of two different labels. "
                "Check y, and that qid names the query that a row belongs to."
            )
        self._arrays = PairArrays(self.rows, self.group_starts, self.rank, row_weight)

    @property
    def n_levels(self) -> int:
        """Most grades in one group."""
        return self._arrays.n_levels

    def active_at(self, scores: FloatArray) -> ActivePairs:
        """Find the pairs whose margin is below 1."""
        return ActivePairs(self._arrays, scores)

    def share_in_order(self, scores: FloatArray) -> float:
        """Weight of the pairs whose upper row scores higher, by that of all; ties count one half. AUC, for two grades.

        >>> PreferencePairs([2, 1, 0]).share_in_order(np.array([3.0, 1.0, 1.0]))
        0.833...
        """
        n_rows = len(self._arrays.weight)
        if np.shape(scores) != (n_rows,):
            raise InputError(f"scores have shape {np.shape(scores)}, there are {n_rows} rows. Pass one score a row.")
        if not np.isfinite(scores).all():
            row = int(np.argmin(np.isfinite(scores)))
            raise InputError(f"The score of row {row} is {scores[row]}. Scores must be finite to be put in order.")
        return self._arrays.weight_in_order(scores, self.group_starts) / self.total


@dataclass(frozen=True, slots=True, eq=False)
class HingePoint:
    """Value and slope at some scores."""

    value: float
    slope: FloatArray


class PairwiseHinge:
    """Mean of max(0, 1 - margin) over the pairs.

    >>> import numpy as np
    >>> found = PairwiseHinge(PreferencePairs([1, 0, 0])).at(np.array([0.5, 0.0, -1.0]))
    >>> found.value, found.slope
    (0.25, array([-0.5,  0.5,  0. ]))
    """

    def __init__(self, pairs: PreferencePairs) -> None:
        self.pairs = pairs

    def at(self, scores: FloatArray) -> HingePoint:
        """Value and slope at these scores."""
        active = self.pairs.active_at(scores)
        slope = np.zeros(len(scores))
        active.add_pull(1.0 / self.pairs.total, slope)
        return HingePoint(active.shortfall() / self.pairs.total, slope)


class SquaredHingePoint:
    """Value, slope and curvature of the mean squared hinge at some scores."""

    def __init__(self, active: ActivePairs, scores: FloatArray, total: float) -> None:
        self._active, self._scale = active, 2.0 / total
        self.slope: FloatArray = np.zeros(len(scores))
        active.write_spread(scores, self._scale, self.slope)
        active.add_pull(self._scale, self.slope)
        # (1 - m)^2 = (1 - m) - m (1 - m), and the slope along the scores is the sum of -2 m (1 - m)
        self.value = active.shortfall() / total + float(self.slope @ scores) / 2.0

    @property
    def stiffness(self) -> FloatArray:
        """Change of the slope of each row when its score alone changes by 1."""
        stiffness = np.zeros(len(self.slope))
        self._active.write_partners(self._scale, stiffness)
        return stiffness

    def bend(self, moves: FloatArray, out: FloatArray) -> None:
        """Write the change of the slope when the scores change by ``moves`` and the same pairs stay active."""
        self._active.write_spread(moves, self._scale, out)


class PairwiseSquaredHinge:
    """Mean of max(0, 1 - margin)^2 over the pairs.

    >>> import numpy as np
    >>> found = PairwiseSquaredHinge(PreferencePairs([1, 0, 0])).at(np.array([0.5, 0.0, -1.0]))
    >>> found.value, found.slope
    (0.125, array([-0.5,  0.5,  0. ]))
    """

    def __init__(self, pairs: PreferencePairs) -> None:
        self.pairs = pairs

    def at(self, scores: FloatArray) -> SquaredHingePoint:
        """Value, slope and curvature at these scores."""
        return SquaredHingePoint(self.pairs.active_at(scores), scores, self.pairs.total)


def _levels(grades: NDArray[Any]) -> IntArray:
    """Grades as numbers from 0; two of them need no sorting."""
    highest = grades.max() if len(grades) and grades.dtype.kind in "biuf" else None
    if highest is not None:
        upper = grades == highest
        if bool((upper | (grades == grades.min())).all()):
            two: IntArray = upper.astype(np.int8)
            return two
    return np.unique(grades, return_inverse=True)[1]


def _by_group(group: IntArray | None, level: IntArray, weight: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Rows that have pairs, by group and level; where groups start; and the rows' levels, from 0 in each group."""
    present = np.flatnonzero(weight > 0)
    if group is None:
        return _one_group(present, level[present])
    rows = present[np.lexsort((level[present], group[present]))]
    number = np.cumsum(np.diff(group[rows], prepend=-1) != 0) - 1
    if len(rows) == 0:
        return _one_group(rows, level[rows])
    first = np.flatnonzero(np.diff(number, prepend=-1))
    new_level = np.diff(level[rows], prepend=-1) != 0
    new_level[first] = True
    rank = np.cumsum(new_level) - 1
    rank -= rank[first][number]
    kept = (np.maximum.reduceat(rank, first) > 0)[number]
    rows, rank, number = rows[kept], rank[kept], number[kept]
    starts = np.append(np.flatnonzero(np.diff(number, prepend=-1)), len(rows))
    return rows.astype(np.int32), starts, rank.astype(np.int32)


def _one_group(rows: IntArray, level: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The same for one group, by counting; of one level only, no row has pairs."""
    sizes = np.bincount(level)
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32)
    in_order = rows.astype(np.int32)[np.argsort(level, kind="stable")]
    return in_order, np.array([0, len(rows)]), np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def _pair_weight(starts: IntArray, rank: IntArray, weight: FloatArray) -> float:
    """Sum of w_i w_j over the pairs: in each group half of (all squared - each level squared)."""
    if len(rank) == 0:
        return 0.0
    of_level = np.add.reduceat(weight, level_starts(rank)[:-1])
    of_group = np.add.reduceat(weight, starts[:-1])
    return float((np.square(of_group).sum() - np.square(of_level).sum()) / 2.0)
