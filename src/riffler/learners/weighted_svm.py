"""WSVM: a linear SVM on points in which both classes weigh the same in total, the pointwise baseline of AUC."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags, Tags

from riffler.errors import LabelError
from riffler.learners.newton import minimise
from riffler.learners.pair_ranker import PairRanker, checked_grades, need_above_zero, need_two_grades, warn_unless
from riffler.losses.pointwise import PointwiseSquaredHinge
from riffler.records import Matrix


class WeightedSVM(PairRanker):
    """Minimise ``|w|^2 / 2 + C * mean of max(0, 1 - y (w . x + b))^2``, where each class has half of the mean.

    Parameters
    ----------
    C : float
        Weight of the mean loss beside the penalty.
    tol : float
        Stop when about this share of the objective is left to gain.
    max_iter : int
        Most Newton steps; a ConvergenceWarning tells when they run out.

    Attributes
    ----------
    coef_, n_features_in_, n_iter_
    intercept_ : array of shape (1,)
        The threshold between the classes; scores are without it.
    loss_ : float
        The objective at the weights.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> WeightedSVM().fit(X, y).score(X, y) > 0.999
    True
    """

    def __init__(self, C: float = 100.0, *, tol: float = 1e-3, max_iter: int = 100) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows."""
        need_above_zero(self, "C", "tol", "max_iter")
        data = checked_grades(self, X, y, sample_weight, None)
        low, high = need_two_grades(data)
        strange = np.flatnonzero((data.grades != low) & (data.grades != high) & (data.weight > 0))
        if strange.size:
            raise LabelError(
                f"Only binary classification is supported: y holds {low:g}, {high:g} and, in row {strange[0]}, "
                f"{data.grades[strange[0]]:g}. Map the relevant class to 1 and all others to 0, or use RankSVM."
            )
        signs = np.where(data.grades == high, 1.0, -1.0)
        share = data.weight.copy()
        for sign in (-1.0, 1.0):
            share[signs == sign] /= 2.0 * share[signs == sign].sum()
        loss = PointwiseSquaredHinge(signs, share)
        start = np.zeros(data.X.shape[1])
        found = minimise(data.X, loss, float(self.C), start, tol=self.tol, max_iter=self.max_iter)
        warn_unless(found.converged, self, "max_iter")
        self.coef_ = found.weights.astype(data.X.dtype).reshape(1, -1)
        self.intercept_ = np.array([loss.at(self.decision_function(data.X)).intercept], dtype=data.X.dtype)
        self.loss_, self.n_iter_ = found.value, found.n_steps
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
