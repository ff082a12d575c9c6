"""What the rankers that learn the whole order share: grades, query groups, scores, and the share of pairs in order.

scikit-learn has no name for rankers. These are neither classifiers nor regressors: ``y`` holds grades (two labels of
any kind, or numbers of which higher is better), and ``qid`` names the query whose rows a row is compared with.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import column_or_1d

from riffler.errors import InputError, LabelError
from riffler.features.blocked_rows import BlockedRows, rows_of, whole_blocks
from riffler.learners.checks import checked_rows, is_number
from riffler.learners.ranker import linear_scores
from riffler.losses.pairwise import PreferencePairs
from riffler.metrics.checked import row_weights
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

LARGEST = 1e140  # in X: squares of more, summed and weighed, leave the range of floats
ORDER_UNKNOWN = "Write grades as numbers (higher is better), or map the relevant class to 1 and all others to 0."


@dataclass(frozen=True, slots=True, eq=False)
class GradedSet:
    """Checked training data: rows, grades as numbers, weights, and the group of each row (None: one group)."""

    X: Matrix
    grades: FloatArray
    weight: FloatArray
    groups: IntArray | None

    def rows(self, chosen: IntArray) -> GradedSet:
        """The same for some of the rows."""
        groups = None if self.groups is None else self.groups[chosen]
        return GradedSet(rows_of(self.X, chosen), self.grades[chosen], self.weight[chosen], groups)

    def pairs(self) -> PreferencePairs:
        """The preference pairs among the rows."""
        return PreferencePairs(self.grades, self.groups, self.weight)


class PairRanker(BaseEstimator):
    """A linear score without intercept, learned so that rows of higher grade come before rows of lower grade."""

    coef_: FloatArray  # shape (1, n_features)

    def decision_function(self, X: Matrix) -> FloatArray:
        """Score the rows of X: the higher, the more relevant."""
        return linear_scores(checked_rows(self, X, reset=False), self.coef_[0])

    def predict(self, X: Matrix) -> FloatArray:
        """Give the scores, as rankers do."""
        return self.decision_function(X)

    def score(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """Share of the pairs of different grades (in the same query) that are in order: AUC, for two grades."""
        scores = self.decision_function(X)
        weight = None if sample_weight is None else row_weights(sample_weight, len(scores))
        given: Any = column_or_1d(y)
        need_equal_lengths(len(scores), len(given))
        grades = grades_of(given, getattr(self, "classes_", None))
        return PreferencePairs(grades, groups_of(qid, len(scores)), weight).share_in_order(scores)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def checked_grades(
    estimator: BaseEstimator,
    X: Matrix,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    *,
    classes: ArrayLike | None = None,
    reset: bool = True,
) -> GradedSet:
    """Check rows, grades, weights and groups of a fit (``reset``) or of a further batch of a stream."""
    if y is None:
        raise LabelError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    X = without_repeats(checked_rows(estimator, X, reset=reset))
    need_moderate_values(X)
    try:
        given: Any = column_or_1d(y, warn=True)
    except ValueError as error:
        raise InputError(str(error)) from error
    need_equal_lengths(X.shape[0], len(given))
    weight = np.ones(X.shape[0]) if sample_weight is None else row_weights(sample_weight, X.shape[0])
    known = known_labels(given, classes) if reset else getattr(estimator, "classes_", known_labels(given, classes))
    data = GradedSet(X, grades_of(given, known), weight, groups_of(qid, X.shape[0]))
    _remember(estimator, known)
    return data


def without_repeats(X: Matrix) -> Matrix:
    """Give a CSR matrix in which no entry of a row stands twice: squares of parts are not the square of their sum."""
    if isinstance(X, BlockedRows):
        for start, stop, block in X:
            if is_sparse(block) and not block.has_canonical_format:
                raise InputError(
                    f"The block of rows {start} to {stop - 1} holds an entry twice, or columns that do not rise. "
                    "Write the block again after sum_duplicates()."
                )
    elif is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def need_moderate_values(X: Matrix) -> None:
    """Raise if squares of the values cannot be summed."""
    for _, _, block in whole_blocks(X):
        values: Any = block.data if is_sparse(block) else block
        if values.size and max(float(values.max()), -float(values.min())) > LARGEST:
            raise InputError(
                f"X holds values beyond {LARGEST:g}, whose squares are beyond the range of floats. "
                "Scale the columns first (for example with sklearn.preprocessing.StandardScaler)."
            )


def warn_unless(converged: bool, ranker: PairRanker, setting: str) -> None:
    """Warn that the steps ran out, and say what to do."""
    if not converged:
        warnings.warn(
            f"{type(ranker).__name__} stopped after {setting}={getattr(ranker, setting)} before it came within tol of "
            f"the best: scale the columns, ask for a smaller C, a larger tol or a larger {setting}.",
            ConvergenceWarning,
            stacklevel=3,
        )


def need_above_zero(estimator: BaseEstimator, *names: str) -> None:
    """Raise unless these settings are finite numbers above 0."""
    for name in names:
        value = getattr(estimator, name)
        if not is_number(value) or not 0 < value < np.inf:
            raise InputError(f"{name} must be above 0, got {value!r}. Pass a finite number.")


def need_not_negative(estimator: BaseEstimator, *names: str) -> None:
    """Raise unless these settings are finite numbers, 0 or above."""
    for name in names:
        value = getattr(estimator, name)
        if not is_number(value) or not 0 <= value < np.inf:
            raise InputError(f"{name} must be 0 or above, got {value!r}. Pass a finite number.")


def need_equal_lengths(n_rows: int, n_labels: int) -> None:
    """Raise unless every row has its label."""
    if n_labels != n_rows:
        raise InputError(
            f"X and y have inconsistent numbers of samples: [{n_rows}, {n_labels}]. Pass the label of each row."
        )


def known_labels(y: Any, classes: Any = None) -> Any:  # noqa: ANN401 - labels of any kind
    """Give the labels that a ranker may meet: those it was told, else the two of y; None for numbers, or for one label.

    >>> known_labels(np.array(["no", "yes", "no"])).tolist()
    ['no', 'yes']
    """
    if classes is not None:
        return np.unique(np.asarray(classes))
    if _are_numbers(y):
        return None
    try:
        names = np.unique(y)
    except TypeError as error:  # text and numbers
        raise LabelError(f"Unknown label type: y mixes {type(y[0]).__name__} with others. {ORDER_UNKNOWN}") from error
    return None if len(names) == 1 else names


def _remember(estimator: BaseEstimator, known: Any) -> None:  # noqa: ANN401 - labels of any kind
    if known is not None:
        estimator.classes_ = known
    elif hasattr(estimator, "classes_"):
        del estimator.classes_


def _are_numbers(y: Any) -> bool:  # noqa: ANN401 - labels of any kind
    return y.dtype.kind in "biuf" or (y.dtype == object and all(isinstance(label, Number) for label in y))


def grades_of(y: Any, classes: Any = None) -> FloatArray:  # noqa: ANN401 - labels of any kind
    """Turn labels into numbers: numbers stay, of two labels of another kind the later in the alphabet is the better.

    >>> grades_of(np.array(["no", "yes", "no"]))
    array([0., 1., 0.])
    """
    names = known_labels(y, classes)
    if names is not None:
        _need_known(y, names)
    if _are_numbers(y):
        grades: FloatArray = y.astype(np.float64, copy=False)
        strange = np.flatnonzero(~np.isfinite(grades))
        if strange.size:
            raise LabelError(f"y must be finite; row {strange[0]} is {y[strange[0]]}. Fix or drop that row.")
        return grades
    if names is None:  # one label
        return np.zeros(len(y))
    if len(names) > 2:
        raise LabelError(
            f"Unknown label type: y has {len(names)} labels that are not numbers, so their order is not known. "
            f"{ORDER_UNKNOWN}"
        )
    return np.asarray(y == names[-1], dtype=np.float64)


def _need_known(y: Any, names: Any) -> None:  # noqa: ANN401 - labels of any kind
    strange = np.flatnonzero(~np.isin(y, names))
    if strange.size:
        raise LabelError(
            f"y holds {y[strange].tolist()[0]!r} in row {strange[0]}, this ranker knows the labels {names.tolist()}. "
            "Pass all labels as classes to the first partial_fit."
        )


def groups_of(qid: ArrayLike | None, n_rows: int) -> IntArray | None:
    """Number the query of each row; None stands for one query."""
    if qid is None:
        return None
    given = np.asarray(qid)
    if given.shape != (n_rows,):
        raise InputError(f"qid has shape {given.shape}, X has {n_rows} rows. Pass the query of each row.")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        row = int(np.argmin(np.isfinite(given)))
        raise InputError(f"qid must name a query in every row; row {row} is {given[row]}. Fix or drop that row.")
    try:
        return np.unique(given, return_inverse=True)[1]
    except TypeError as error:  # text and None
        raise InputError(
            "qid mixes text with numbers or None. Write all queries in one way, and name one in every row."
        ) from error


def need_two_grades(data: GradedSet) -> tuple[float, float]:
    """Give the lower and the higher grade of a set that must have two, not counting rows of weight 0."""
    counted = data.weight > 0
    present = data.grades if counted.all() else data.grades[counted]
    low, high = float(present.min()), float(present.max())
    if low == high:
        raise LabelError(f"y has one class only ({low:g}): a ranker needs positives and negatives. Check the labels.")
    return low, high


def need_points_apart(points: float, data: GradedSet) -> None:
    """Raise where there are points, but more than two grades, not counting rows of weight 0."""
    present = data.grades[data.weight > 0]
    if points > 0 and present.size and not np.isin(present, (present.min(), present.max())).all():
        raise LabelError(
            f"points={points} needs two grades, y has more: a point says only whether a row is relevant. "
            "Use points=0, or map the relevant grades to 1 and all others to 0."
        )


def need_share(points: float) -> None:
    """Raise unless the share of points is one."""
    if not 0 <= points <= 1:
        raise InputError(f"points must be in [0, 1], got {points!r}.")
