"""A ranker that is quick and reports progress: what ``riffler rank`` does must not hang on any one learner."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from riffler.records import FloatArray, IntArray, Matrix


class MeanDifference(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Scores by the projection on the difference of the class means."""

    def __init__(
        self,
        k: int | float = 0.25,
        random_state: int | None = None,
        progress: Callable[[float, str], None] | None = None,
    ) -> None:
        self.k = k
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Matrix, y: IntArray) -> MeanDifference:
        if self.progress is not None:
            self.progress(0.5, "averaging")
        self.classes_ = np.unique(y)
        self.coef_ = np.asarray(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).ravel()
        return self

    def decision_function(self, X: Matrix) -> FloatArray:
        scores: FloatArray = X @ self.coef_
        return scores
