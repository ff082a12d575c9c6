"""RankSVM with the hinge (Joachims 2006): all pairs as one structural example, by the 1-slack cutting plane."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from riffler.learners.newton import Products
from riffler.learners.pair_ranker import PairRanker, checked_grades, need_above_zero, need_two_grades, warn_unless
from riffler.losses.pairwise import PairwiseHinge
from riffler.records import FloatArray, Matrix
from riffler.structured.cutting_plane import Plane, minimise_by_planes


class HingeRankSVM(PairRanker):
    """Minimise ``|w|^2 / 2 + C * mean over pairs of max(0, 1 - (w . x_i - w . x_j))``, with a proven gap.

    Parameters
    ----------
    C : float
        Weight of the mean loss beside the penalty.
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
        Planes: each costs two products with X and one sort.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> HingeRankSVM().fit(X, y).score(X, y) > 0.999
    True
    """

    def __init__(self, C: float = 100.0, *, tol: float = 1e-2, max_iter: int = 1000) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Self:
        """Learn from all pairs of rows of different grades (in the same query)."""
        need_above_zero(self, "C", "tol", "max_iter")
        data = checked_grades(self, X, y, sample_weight, qid)
        need_two_grades(data)
        loss, products = PairwiseHinge(data.pairs()), Products(data.X)
        scores = np.empty(data.X.shape[0])

        def oracle(weights: FloatArray) -> Plane:
            point = loss.at(products.scores(weights, scores))
            return Plane(-products.pull_back(point.slope), point.value - float(point.slope @ scores))

        found = minimise_by_planes(oracle, data.X.shape[1], float(self.C), tol=self.tol, max_iter=self.max_iter)
        warn_unless(found.gap <= self.tol * found.value, self, "max_iter")
        self.loss_, self.bound_, self.n_iter_ = found.value, found.bound, found.n_planes
        self.coef_ = found.weights.astype(data.X.dtype).reshape(1, -1)
        return self
