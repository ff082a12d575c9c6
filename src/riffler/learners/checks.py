"""What every ranker checks before its loop starts: rows, labels, weights and k. Each error names the row or column."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from riffler.errors import FeatureMismatch, InputError, KClippedWarning, LabelError
from riffler.features.blocked_rows import BlockedRows
from riffler.learners.blocked_checks import checked_blocks, checked_labels
from riffler.metrics import resolve_k
from riffler.metrics.checked import row_weights
from riffler.records import FloatArray, IntArray, Matrix, is_sparse


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Checked training data: rows, labels 1/0, weights and their sums."""

    X: Matrix
    labels: IntArray  # int8, 1 for the positive class
    weight: FloatArray  # repetitions of each row
    classes: Any  # the two labels as the user wrote them, positive last

    @property
    def n_positive(self) -> float:
        """Weight of the positives."""
        return float(self.weight[self.labels > 0].sum())


def is_number(setting: object) -> bool:
    """Tell whether a setting is a real number: not a text, None or a list.

    >>> is_number(np.float32(0.5)), is_number("0.5")
    (True, False)
    """
    return isinstance(setting, Real)


def checked_rows(estimator: BaseEstimator, X: Matrix, *, reset: bool) -> Matrix:
    """Return X as a C-ordered float array or CSR matrix, without a copy where it is one already."""
    return _rows_of(estimator, X, reset=reset, finite=True)


def shaped_rows(estimator: BaseEstimator, X: Matrix) -> Matrix:
    """As checked_rows for rows after the first, but for NaN and infinity, which whoever scores the rows will see."""
    return _rows_of(estimator, X, reset=False, finite=False)


def _rows_of(estimator: BaseEstimator, X: Matrix, *, reset: bool, finite: bool) -> Matrix:
    if isinstance(X, BlockedRows):
        return checked_blocks(estimator, X, reset=reset)
    if not reset:
        check_is_fitted(estimator)
    try:
        return validate_data(
            estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=reset,
            ensure_all_finite=finite,
        )  # fmt: skip
    except ValueError as error:
        raise _named(error, X, estimator, reset) from error


def checked_training(
    estimator: BaseEstimator,
    X: Matrix,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    classes: ArrayLike | None = None,
    reset: bool = True,
) -> TrainingSet:
    """Check rows, labels and weights of a fit (``reset``) or of a further batch of a stream."""
    if y is None:
        raise LabelError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    try:
        if isinstance(X, BlockedRows):
            X, y = checked_blocks(estimator, X, reset=reset), checked_labels(X, y)
        else:
            X, y = validate_data(
                estimator, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=reset
            )
        check_classification_targets(y)
    except InputError:
        raise
    except ValueError as error:
        raise _named(error, X, estimator, reset) from error
    given: Any = column_or_1d(y)
    weight = np.ones(X.shape[0]) if sample_weight is None else row_weights(sample_weight, X.shape[0])
    if 0 < weight.max() < 1:  # shares of a whole, not repetitions: only their proportions can be meant
        weight = weight * (np.count_nonzero(weight) / weight.sum())
    names = _two_classes(given, classes, weight)
    labels = (given == names[1]).astype(np.int8)
    strange = np.flatnonzero((labels == 0) & (given != names[0]))
    if strange.size:
        raise LabelError(
            f"y holds {given[strange[0]]!r} in row {strange[0]}, this ranker knows the classes {list(names)}. "
            "Only binary classification is supported; pass all classes to the first partial_fit."
        )
    return TrainingSet(X, labels, weight, names)


def clipped_k(k: int | float, n_positive: float) -> float:
    """Resolve k against the positives that are there; more than that is clipped with a warning."""
    wanted = resolve_k(k, n_positive)
    if wanted > n_positive:
        warnings.warn(
            f"k={k} asks for {wanted} rows at the top, but only {n_positive:g} positives are there: "
            f"the top was made {n_positive:g} long. Pass a smaller k to silence this.",
            KClippedWarning,
            stacklevel=3,
        )
        return n_positive
    return float(wanted)


def _two_classes(y: Any, classes: ArrayLike | None, weight: FloatArray) -> Any:  # noqa: ANN401 - labels of any kind
    # rows of weight 0 count as absent
    names = np.unique(y[weight > 0]) if classes is None else np.unique(np.asarray(classes))
    if len(names) > 2:
        raise LabelError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(names)}: it has {len(names)} classes, {_some(names)}. "
            "Map the relevant class to 1 and all others to 0."
        )
    if len(names) < 2:
        raise LabelError(
            f"y has one class only ({_some(names)}): a ranker needs positives and negatives. "
            "Check the labels, or pass classes= to partial_fit."
        )
    return names


def _some(names: Any) -> str:  # noqa: ANN401 - labels of any kind
    listed = ", ".join(repr(name.item() if hasattr(name, "item") else name) for name in names[:8])
    return listed + (", ..." if len(names) > 8 else "")


def _named(error: ValueError, X: Matrix, estimator: BaseEstimator, reset: bool) -> InputError:
    """Say where the trouble is: scikit-learn says only that there is some."""
    text = str(error)
    if "NaN" in text or "infinity" in text:
        where = _first_not_finite(X)
        if where is not None:
            row, column, value = where
            return InputError(
                f"X holds {value} in row {row}, column {column}: Input X contains NaN or infinity. "
                "Fill or drop such values first (for example with sklearn.impute.SimpleImputer)."
            )
    if not reset and "features" in text and hasattr(estimator, "n_features_in_"):
        return FeatureMismatch(f"{text} Use the same columns as in fit().")
    if "label type" in text:
        return LabelError(f"{text} Only binary labels can be ranked by.")
    return InputError(text)


def _first_not_finite(X: Matrix) -> tuple[int, int, float] | None:
    if is_sparse(X):
        coo = X.tocoo()
        bad = np.flatnonzero(~np.isfinite(coo.data))
        return None if bad.size == 0 else (int(coo.row[bad[0]]), int(coo.col[bad[0]]), float(coo.data[bad[0]]))
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    places = np.argwhere(~np.isfinite(values))
    return None if len(places) == 0 else (int(places[0][0]), int(places[0][-1]), float(values[tuple(places[0])]))
