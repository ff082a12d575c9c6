"""RankSVM on all pairs: the squared hinge by trust-region Newton steps, with sums over pairs in O(n log n)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from riffler.errors import InputError
from riffler.learners.newton import Solution, minimise
from riffler.learners.pair_ranker import GradedSet, PairRanker, checked_grades, need_two_grades
from riffler.losses.pairwise import PairwiseSquaredHinge, PreferencePairs
from riffler.records import FloatArray, IntArray, Matrix

FIRST_SHARE = 1 / 8  # of the rows, at most, on which the first steps are made
FIRST_ROWS, FIRST_ROWS_A_COLUMN = 30_000, 100  # that are enough for them
FEW_ROWS, FEW_OF_A_KIND = 1000, 100
ROWS_A_COLUMN = 40  # below which a part of the rows says too little about the whole


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
        Most Newton steps.
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
        for name in ("C", "tol", "max_iter"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, got {getattr(self, name)!r}.")
        data = checked_grades(self, X, y, sample_weight, qid)
        need_two_grades(data)
        rng = check_random_state(self.random_state)
        pairs = data.pairs()
        start = self._first_guess(data, pairs, rng)
        found = self._descend(data.X, pairs, start)
        self.loss_, self.n_iter_, self.n_products_ = found.value, found.n_steps, found.n_products
        self.coef_ = found.weights.astype(data.X.dtype).reshape(1, -1)
        return self

    def _descend(self, X: Matrix, pairs: PreferencePairs, start: FloatArray) -> Solution:
        return minimise(X, PairwiseSquaredHinge(pairs), float(self.C), start, tol=self.tol, max_iter=self.max_iter)

    def _first_guess(self, data: GradedSet, pairs: PreferencePairs, rng: np.random.RandomState) -> FloatArray:
        """The solution of a part of the rows, where a part is enough to come close."""
        n_rows, n_columns = data.X.shape
        start: FloatArray = np.zeros(n_columns)
        if FIRST_SHARE * n_rows < max(FEW_ROWS, ROWS_A_COLUMN * n_columns):
            return start
        share = min(FIRST_SHARE, max(FIRST_ROWS, FIRST_ROWS_A_COLUMN * n_columns) / n_rows)
        chosen = part_of(pairs, share, rng)
        if len(chosen) > n_rows / 2:
            return start
        part = data.rows(chosen)
        return self._descend(part.X, part.pairs(), start).weights


def part_of(pairs: PreferencePairs, share: float, rng: np.random.RandomState, few: int = FEW_OF_A_KIND) -> IntArray:
    """Draw a share of the groups, or of the rows of each grade where there is one group; a ``few`` of a kind are kept.

    >>> part_of(PreferencePairs([0] * 8000 + [1] * 10), 1 / 8, np.random.RandomState(0)).size
    1010
    """
    n_groups = len(pairs.group_starts) - 1
    cuts = pairs.group_starts
    if n_groups == 1:
        cuts = np.append(np.flatnonzero(np.diff(pairs.rank, prepend=-1)), len(pairs.rank))
        parts = np.split(pairs.rows, cuts[1:-1])
        drawn = [rng.choice(rows, _n_kept(len(rows), share, few), replace=False) for rows in parts]
        return np.sort(np.concatenate(drawn))
    groups = rng.choice(n_groups, _n_kept(n_groups, share, few), replace=False)
    return np.sort(np.concatenate([pairs.rows[cuts[group] : cuts[group + 1]] for group in groups]))


def _n_kept(n: int, share: float, few: int) -> int:
    return max(round(share * n), min(n, few))
