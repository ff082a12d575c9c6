"""A linear ranker for the first places of each query: the structural hinge of NDCG, by the 1-slack cutting plane."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import column_or_1d

from riffler.errors import InputError
from riffler.learners.newton import Products
from riffler.learners.pair_ranker import (
    GradedSet,
    PairRanker,
    checked_grades,
    grades_of,
    groups_of,
    need_above_zero,
    need_equal_lengths,
    need_not_negative,
    need_two_grades,
    warn_unless,
)
from riffler.losses.pairwise import PreferencePairs
from riffler.metrics.checked import row_weights
from riffler.metrics.graded import ndcg_of_gains
from riffler.records import FloatArray, IntArray, Matrix
from riffler.structured.cutting_plane import Plane, minimise_by_planes
from riffler.structured.graded_order import gains_of, graded_examples
from riffler.structured.order_losses import OrderLoss, need_places


class NdcgRanker(PairRanker):
    """Rank the rows of each query so that NDCG at n is high; every query counts alike, however many rows it has.

    Minimises ``|w|^2 / 2 + C * mean over queries of max over orders of (loss - (score of the true order - score of the
    order))``. The loss is 1 - NDCG at n, plus ``pairs`` times the share of pairs in the wrong order; the score of an
    order is the mean of w . (x_i - x_j) over the pairs (higher, lower grade) that it has in order. With more than two
    grades the hinge is a weighted mean over the grades as thresholds, which is never below the loss.

    Queries of one row, or whose rows have one grade, say nothing about order and are left out.

    Parameters
    ----------
    n : int or None
        Places that count; None for all.
    C : float
        Weight of the mean loss beside the penalty. It multiplies a mean: more queries do not change its meaning.
    pairs : float
        What the share of pairs in the wrong order counts beside NDCG. At 0 rows behind the n-th place are no longer
        pulled apart, which is worse on unseen queries.
    tol : float
        Stop when the proven gap is at most this share of the objective.
    max_iter : int
        Most planes; a ConvergenceWarning tells when they run out.

    Attributes
    ----------
    coef_, n_features_in_
    loss_ : float
        The objective at the weights.
    bound_ : float
        No weights have a lower objective than this.
    n_iter_ : int
        Planes: each costs two products with X, a sort and n times the rows.
    n_queries_ : int
        Queries that were learned from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(600, 5)), np.repeat(np.arange(60), 10)
    >>> y = np.clip(np.round(X[:, 0] + 0.3 * rng.normal(size=600)), 0, 2)
    >>> NdcgRanker().fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    def __init__(
        self, n: int | None = 10, C: float = 100.0, *, pairs: float = 1.0, tol: float = 1e-2, max_iter: int = 1000
    ) -> None:
        self.n = n
        self.C = C
        self.pairs = pairs
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Self:
        """Learn from the order of rows by grade in each query; a whole weight repeats a row."""
        need_above_zero(self, "C", "tol", "max_iter")
        need_not_negative(self, "pairs")
        loss = OrderLoss("ndcg", self.n, self.pairs)
        data = checked_grades(self, X, y, sample_weight, qid)
        need_two_grades(data)
        rows, starts = _repeated(data, data.pairs())
        examples = graded_examples(rows, starts, data.grades, loss)
        products, scores = Products(data.X), np.empty(data.X.shape[0])

        def oracle(weights: FloatArray) -> Plane:
            moves: FloatArray = np.zeros(len(scores))
            cost = examples.worst(loss, products.scores(weights, scores), moves)
            return Plane(products.pull_back(moves), cost)

        found = minimise_by_planes(oracle, data.X.shape[1], float(self.C), tol=self.tol, max_iter=self.max_iter)
        warn_unless(found.gap <= self.tol * found.value, self, "max_iter")
        self.loss_, self.bound_, self.n_iter_ = found.value, found.bound, found.n_planes
        self.n_queries_ = len(starts) - 1
        self.coef_ = found.weights.astype(data.X.dtype).reshape(1, -1)
        return self

    def score(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """Give the mean NDCG at n over the queries with rows of two grades; gains count from the lowest grade."""
        scores = self.decision_function(X)
        given: Any = column_or_1d(y)
        need_equal_lengths(len(scores), len(given))
        need_places(self.n)
        grades = grades_of(given, getattr(self, "classes_", None))
        weight = np.ones(len(scores)) if sample_weight is None else row_weights(sample_weight, len(scores))
        data = GradedSet(X, grades, weight, groups_of(qid, len(scores)))
        rows, starts = _repeated(data, data.pairs())
        n = len(rows) if self.n is None else self.n
        found = [
            ndcg_of_gains(gains_of(grades[rows[first:last]]), scores[rows[first:last]].astype(np.float64), n)
            for first, last in pairwise(starts.tolist())
        ]
        return float(np.mean(found))


def _repeated(data: GradedSet, pairs: PreferencePairs) -> tuple[IntArray, IntArray]:
    """Give the rows that have pairs by query and grade, each as often as its weight says, and where queries start."""
    rows, starts = pairs.rows.astype(np.int64), np.asarray(pairs.group_starts, dtype=np.int64)
    weight = data.weight[rows]
    if (weight == 1).all():
        return rows, starts
    if (weight != np.rint(weight)).any():
        row = int(rows[np.argmax(weight != np.rint(weight))])
        raise InputError(
            f"sample_weight must be whole numbers, row {row} has {data.weight[row]:g}: a place of an order holds a row "
            "or not. Pass how often each row is repeated, or leave sample_weight out."
        )
    counts = weight.astype(np.int64)
    return np.repeat(rows, counts), np.concatenate([[0], np.cumsum(counts)])[starts]
