"""A linear classifier or ranker trained for a measure of a whole set (Joachims 2005), by the 1-slack cutting plane."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from riffler.errors import LabelError, UnknownName
from riffler.learners.checks import TrainingSet, checked_training
from riffler.learners.newton import Products
from riffler.learners.pair_ranker import (
    need_above_zero,
    need_equal_lengths,
    need_moderate_values,
    need_not_negative,
)
from riffler.learners.ranker import LinearRanker, threshold_of_top
from riffler.metrics import precision_at_k, recall_at_k, roc_auc
from riffler.metrics.checked import row_weights
from riffler.records import BoolArray, FloatArray, IntArray, Matrix
from riffler.structured.cutting_plane import Plane, minimise_by_planes
from riffler.structured.measures import (
    F1,
    MEASURES,
    ErrorRate,
    LabelMeasure,
    Measure,
    Oracle,
    RocArea,
    Violation,
    measure_from_name,
)


class MultivariateSVM(LinearRanker):
    """Learn weights for precision or recall at k, F1, the break-even point, the error rate or ROC area of a whole set.

    Minimises ``|w|^2 / 2 + C * max over labellings of (loss - (score of the labels - score of the labelling))``, the
    score of a labelling being the sum of ``w . x`` over the rows it selects, by the rows that a loss of 1 stands for.
    To the maximum ``pairs`` times the mean hinge of the pairs (positive, negative) is added.

    Parameters
    ----------
    measure : {"f1", "precision", "recall", "prbep", "error", "auc"}
    k : int or float
        For precision and recall: the rows at the top, as a number, or as a share of the positives.
    C : float
        Weight of the loss beside the penalty. The loss is a share, so C keeps its meaning when rows are added.
    pairs : float
        What the mean hinge of all pairs (that of ROC area) counts beside the measure. At 0 this is the method of the
        paper: where labels are noisy and positives rare its best weights are often none at all, since the worst
        labelling selects the highest of very many negatives. ROC area itself needs no such help.
    tol : float
        Stop when the proven gap is at most this share of the objective.
    max_iter : int
        Most planes; a ConvergenceWarning tells when they run out.

    Attributes
    ----------
    classes_, coef_, n_features_in_
    intercept_ : array of shape (1,)
        Minus the score above which rows are called positive: for F1 and the error rate where the measure is best on the
        training rows, for precision and recall below their top k, else below as many rows as are positive.
    loss_ : float
        The objective at the weights.
    bound_ : float
        No weights have a lower objective than this.
    n_iter_ : int
        Planes: each costs two products with X and, at most, one sort.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.95], class_sep=2, flip_y=0, random_state=0)
    >>> MultivariateSVM("f1").fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        measure: str = "f1",
        *,
        k: int | float = 0.25,
        C: float = 100.0,
        pairs: float = 1.0,
        tol: float = 1e-2,
        max_iter: int = 1000,
    ) -> None:
        self.measure = measure
        self.k = k
        self.C = C
        self.pairs = pairs
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Learn from rows and their labels, of two kinds; the later in order is the positive one."""
        need_above_zero(self, "C", "tol", "max_iter")
        need_not_negative(self, "pairs")
        if not isinstance(self.measure, str) or self.measure not in MEASURES:
            raise UnknownName.among("measure", self.measure, MEASURES)
        data = checked_training(self, X, y, None)
        need_moderate_values(data.X)
        self.classes_ = data.classes
        weights = self._learned(data, measure_from_name(self.measure, self.k))
        self.coef_ = weights.astype(data.X.dtype).reshape(1, -1)
        cut = self._threshold(self._raw_scores(data.X).astype(np.float64), data.labels)
        self.intercept_ = np.array([-cut], dtype=data.X.dtype)
        return self

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Give the measure on these rows (1 - the error rate, for "error"); "prbep" is precision at all positives."""
        scores = self.decision_function(X)
        labels = self._known_positives(y, len(scores))
        weight = np.ones(len(scores)) if sample_weight is None else row_weights(sample_weight, len(scores))
        if self.measure == "auc":
            return roc_auc(labels, scores, sample_weight=weight)
        if self.measure in ("f1", "error"):
            return _share_right(self.measure, labels, scores > 0, weight)
        if self.measure == "recall":
            return recall_at_k(labels, scores, self.k, sample_weight=weight)
        return precision_at_k(labels, scores, 1.0 if self.measure == "prbep" else self.k, sample_weight=weight)

    def _known_positives(self, y: ArrayLike, n_rows: int) -> BoolArray:
        """Tell which labels are the positive one; raises where there is another than the two, or not one a row."""
        given: Any = column_or_1d(y)
        need_equal_lengths(n_rows, len(given))
        positive: BoolArray = np.asarray(given == self.classes_[1], dtype=np.bool_)
        strange = np.flatnonzero(~positive & (given != self.classes_[0]))
        if strange.size:
            raise LabelError(
                f"y holds {given[strange].tolist()[0]!r} in row {strange[0]}, this model knows the classes "
                f"{self.classes_.tolist()}. Write the labels as in fit."
            )
        return positive

    def _learned(self, data: TrainingSet, measure: Measure) -> FloatArray:
        """Give the weights; that of a constant column lets the threshold of F1 and errors move, and is dropped."""
        products, worst = Products(data.X), _beside_pairs(measure, data.labels, float(self.pairs))
        with_constant = isinstance(measure, F1 | ErrorRate)
        scores = np.empty(data.X.shape[0])
        n_columns = data.X.shape[1]

        def oracle(weights: FloatArray) -> Plane:
            products.scores(weights[:n_columns], scores)
            found = worst(scores + weights[n_columns:].sum())
            slopes = products.pull_back(found.moves)
            return Plane(np.append(slopes, found.moves.sum()) if with_constant else slopes, found.loss)

        n_weights = n_columns + int(with_constant)
        found = minimise_by_planes(oracle, n_weights, float(self.C), tol=self.tol, max_iter=self.max_iter)
        self.loss_, self.bound_, self.n_iter_ = found.value, found.bound, found.n_planes
        if found.gap > self.tol * found.value:
            warnings.warn(
                f"MultivariateSVM stopped after max_iter={self.max_iter} before it came within tol of the best: scale "
                "the columns, ask for a smaller C, a larger tol or a larger max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found.weights[:n_columns]

    def _threshold(self, scores: FloatArray, labels: IntArray) -> float:
        """Give the score above which rows are called positive."""
        measure = measure_from_name(self.measure, self.k)
        n_positive = int(labels.sum())
        if isinstance(measure, F1 | ErrorRate):
            n_top = _best_top(measure, scores, labels)
        else:
            fixed = measure.n_selected(n_positive, len(labels)) if isinstance(measure, LabelMeasure) else None
            n_top = n_positive if fixed is None else fixed
        return threshold_of_top(scores, np.ones(len(scores)), n_top)


def _beside_pairs(measure: Measure, labels: IntArray, pairs: float) -> Oracle:
    """The oracle of a measure, to which that of ROC area is added so many times."""
    worst, area = measure.oracle(labels), RocArea().oracle(labels)
    if pairs == 0 or isinstance(measure, RocArea):
        return worst

    def both(scores: FloatArray) -> Violation:
        one, other = worst(scores), area(scores)
        return Violation(one.loss + pairs * other.loss, one.moves + pairs * other.moves)

    return both


def _best_top(measure: LabelMeasure, scores: FloatArray, labels: IntArray) -> int:
    """Give how many of the best scored rows to call positive so that the loss is least; ties are never parted."""
    order = np.argsort(-scores, kind="stable")
    n_relevant = np.concatenate([[0], np.cumsum(labels[order])])
    n_top = np.concatenate([[0], np.flatnonzero(np.diff(scores[order])) + 1, [len(order)]])
    a = n_relevant[n_top]
    loss = measure.table_loss(a, n_top - a, int(labels.sum()), len(labels))
    return int(n_top[np.argmin(loss)])


def _share_right(measure: str, labels: BoolArray, selected: BoolArray, weight: FloatArray) -> float:
    """F1 or accuracy, of weighted rows."""
    if measure == "error":
        return float(weight @ (labels == selected) / weight.sum())
    right = float(weight @ (labels & selected))
    return 2.0 * right / max(float(weight @ labels) + float(weight @ selected), 1e-300)
