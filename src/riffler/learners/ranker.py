"""What every linear ranker shares: it scores, it predicts its top, and it is a binary classifier to scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from riffler.features.blocked_rows import BlockedRows, whole_blocks
from riffler.learners.checks import checked_rows
from riffler.metrics import precision_at_k
from riffler.records import FloatArray, Matrix


class LinearRanker(ClassifierMixin, BaseEstimator):
    """A linear scoring function; ``decision_function`` ranks and is above 0 for the training data's top k."""

    k: int | float
    coef_: FloatArray  # shape (1, n_features)
    intercept_: FloatArray  # shape (1,): minus the score at which the top ends
    classes_: Any

    def decision_function(self, X: Matrix) -> FloatArray:
        """Score the rows of X: the higher, the more relevant; the top k of the training rows lie above 0."""
        X = checked_rows(self, X, reset=False)
        scores: FloatArray = self._raw_scores(X) + self.intercept_[0]
        return scores

    def predict(self, X: Matrix) -> Any:  # noqa: ANN401 - labels as the user wrote them
        """Label as positive what scores like the top k of the training rows."""
        in_top = self.decision_function(X) > 0
        return self.classes_[in_top.astype(int)]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Precision at this ranker's k of the ranking of X: what it was trained for."""
        labels = np.asarray(y) == self.classes_[1]
        return precision_at_k(labels, self.decision_function(X), self.k, sample_weight=sample_weight)

    def _raw_scores(self, X: Matrix) -> FloatArray:
        """Scores under the weights, before the threshold of the top."""
        return linear_scores(X, self.coef_[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        # Only the top k are called positive, so with k below the number of positives accuracy is low by design.
        tags.classifier_tags.poor_score = True
        return tags

    def _set_threshold(self, scores: FloatArray, weight: FloatArray, k: float) -> None:
        """Let ``decision_function`` be above 0 for the first k of these raw scores; k = 0 changes nothing."""
        if k > 0 or not hasattr(self, "intercept_"):
            self.intercept_ = np.array([-threshold_of_top(scores, weight, k)], dtype=self.coef_.dtype)


def linear_scores(X: Matrix | BlockedRows, weights: FloatArray) -> FloatArray:
    """Scores by one compiled loop over each row: the same whatever rows are scored together."""
    from riffler._fast.rows import as_rows, scores_of_all

    scores = np.empty(X.shape[0], dtype=X.dtype)
    for start, stop, block in whole_blocks(X):
        scores_of_all(as_rows(block), stop - start, weights, scores[start:stop])
    return scores


def threshold_of_top(scores: FloatArray, weight: FloatArray, k: float) -> float:
    """A score between the last row of the first k units of weight and the next lower one; for k = 0, above all.

    >>> threshold_of_top(np.array([3.0, 1.0, 2.0]), np.ones(3), k=2)
    1.5
    """
    present = weight > 0
    scores, weight = scores[present], weight[present]
    if k <= 0:
        return float(np.nextafter(scores.max(), np.inf))
    order = np.argsort(-scores, kind="stable")
    last = scores[order[min(int(np.searchsorted(np.cumsum(weight[order]), k - 1e-9)), len(order) - 1)]]
    below = scores[scores < last]
    return float((last + below.max()) / 2) if below.size else float(np.nextafter(last, -np.inf))
