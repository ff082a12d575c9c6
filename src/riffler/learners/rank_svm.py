"""RankSVM on all pairs: the squared hinge by trust-region Newton steps, with sums over pairs in O(n log n)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from riffler.learners.newton import Solution, minimise
from riffler.learners.pair_ranker import (
    GradedSet,
    PairRanker,
    checked_grades,
    need_above_zero,
    need_two_grades,
    warn_unless,
)
from riffler.losses.pairwise import PairwiseSquaredHinge, PreferencePairs
from riffler.records import FloatArray, IntArray, Matrix

FIRST_SHARE = 1 / 4  # of the rows, at most, on which the first steps are made
FIRST_ROWS, FIRST_ROWS_A_COLUMN = 30_000, 100  # that are enough for them
FEW_ROWS, ROWS_A_COLUMN = 1000, 20  # below which a part of the rows says too little about the whole


class RankSVM(PairRanker):
    """Order rows of higher grade before rows of lower grade, learning from all such pairs at once.

    Minimises ``|w|^2 / 2 + C * mean over pairs of max(0, 1 - (w . x_i - w . x_j))^2`` over the pairs of rows of the
    same query with y_i > y_j. A step costs a few products with X and one sort of the scores.

    Parameters
    ----------
    C : float
        Weight of the mean loss beside the penalty. It multiplies a mean, so it keeps its meaning when rows are added.
    tol : float
        Stop when about this share of the objective is left to gain.
    max_iter : int
        Most Newton steps; a ConvergenceWarning tells when they run out.
    random_state : int, RandomState or None
        Which rows the first steps are made on, where there are many.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    n_features_in_ : int
    loss_ : float
        The objective at the weights.
    n_iter_ : int
        Newton steps on all rows.
    n_products_ : int
        Products with all rows of X, or their transpose.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> RankSVM().fit(X, y).score(X, y) > 0.999
    True
    """

    takes_blocks = True

    def __init__(
        self,
        C: float = 100.0,
        *,
        tol: float = 1e-3,
        max_iter: int = 100,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Self:
        """Learn from all pairs of rows of different grades (in the same query)."""
        need_above_zero(self, "C", "tol", "max_iter")
        data = checked_grades(self, X, y, sample_weight, qid)
        need_two_grades(data)
        rng = check_random_state(self.random_state)
        pairs = data.pairs()
        start = self._first_guess(data, pairs, rng)
        found = self._descend(data.X, pairs, start)
        warn_unless(found.converged, self, "max_iter")
        self.loss_, self.n_iter_, self.n_products_ = found.value, found.n_steps, found.n_products
        self.coef_ = found.weights.astype(data.X.dtype).reshape(1, -1)
        return self

    def _descend(self, X: Matrix, pairs: PreferencePairs, start: FloatArray) -> Solution:
        return minimise(X, PairwiseSquaredHinge(pairs), float(self.C), start, tol=self.tol, max_iter=self.max_iter)

    def _first_guess(self, data: GradedSet, pairs: PreferencePairs, rng: np.random.RandomState) -> FloatArray:
        """The solution of a part of the rows, where a part is enough to come close."""
        n_rows, n_columns = data.X.shape
        start: FloatArray = np.zeros(n_columns)
        n_wanted = min(int(FIRST_SHARE * n_rows), max(FIRST_ROWS, FIRST_ROWS_A_COLUMN * n_columns))
        if n_wanted < max(FEW_ROWS, ROWS_A_COLUMN * n_columns):
            return start
        if len(pairs.group_starts) > 2:
            part = data.rows(part_of(pairs, n_wanted / n_rows, rng))
        else:
            part = even_part(data, pairs, n_wanted, rng)
        return self._descend(part.X, part.pairs(), start).weights


def even_part(data: GradedSet, pairs: PreferencePairs, n_wanted: int, rng: np.random.RandomState) -> GradedSet:
    """Draw equally many rows of each grade (all of a rare one), weighed so that each grade counts as in the whole."""
    if _too_many_grades(pairs, n_wanted):
        return data.rows(np.sort(some_of(pairs.rows, n_wanted, rng)))
    of_grade = sorted(_rows_by_grade(pairs), key=len)
    drawn, weight = [], []
    for n_done, rows in enumerate(of_grade):
        n = min(len(rows), max(1, n_wanted // (len(of_grade) - n_done)))
        n_wanted -= n
        drawn.append(some_of(rows, n, rng))
        weight.append(np.full(n, len(rows) / n))
    chosen = np.concatenate(drawn)
    order = np.argsort(chosen)
    part = data.rows(chosen[order])
    return replace(part, weight=part.weight * np.concatenate(weight)[order])


def part_of(pairs: PreferencePairs, share: float, rng: np.random.RandomState, few: int = 1) -> IntArray:
    """Draw a share of the groups, or of the rows of each grade where there is one group; a ``few`` of a kind are kept.

    >>> part_of(PreferencePairs([0] * 8000 + [1] * 10), 1 / 8, np.random.RandomState(0)).size
    1001
    """
    n_groups = len(pairs.group_starts) - 1
    cuts = pairs.group_starts
    if n_groups == 1:
        n_wanted = _n_kept(len(pairs.rows), share, few)
        parts = [pairs.rows] if _too_many_grades(pairs, n_wanted) else _rows_by_grade(pairs)
        return np.sort(np.concatenate([some_of(rows, _n_kept(len(rows), share, few), rng) for rows in parts]))
    groups = some_of(np.arange(n_groups), _n_kept(n_groups, share, few), rng)
    return np.sort(np.concatenate([pairs.rows[cuts[group] : cuts[group + 1]] for group in groups]))


def some_of(rows: IntArray, n: int, rng: np.random.RandomState) -> IntArray:
    """Draw n different rows, one from each of n parts of equal length: the cost does not grow with the rows."""
    cuts = np.arange(n + 1) * len(rows) // max(n, 1)
    return rows[cuts[:-1] + (rng.random_sample(n) * np.diff(cuts)).astype(np.int64)]


def _too_many_grades(pairs: PreferencePairs, n_wanted: int) -> bool:
    """Whether a few rows of each grade would be more than are wanted; rows at large have all sorts of grades then."""
    return pairs.n_levels > n_wanted / 2


def _rows_by_grade(pairs: PreferencePairs) -> list[IntArray]:
    """The rows of each grade of one group."""
    return np.split(pairs.rows, np.flatnonzero(np.diff(pairs.rank)) + 1)


def _n_kept(n: int, share: float, few: int) -> int:
    return max(round(share * n), min(n, few))
