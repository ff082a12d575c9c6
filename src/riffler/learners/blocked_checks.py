"""What is checked of a matrix in blocks before a ranker learns from it, a stretch of rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from riffler.errors import FeatureMismatch, InputError
from riffler.features.blocked_rows import BlockedRows
from riffler.features.blocks import row_views
from riffler.records import is_sparse


def checked_blocks(estimator: BaseEstimator, X: BlockedRows, *, reset: bool) -> BlockedRows:
    """Return X if it is finite, of one kind of floats, and this ranker learns from blocks or was fitted before."""
    if reset and not getattr(estimator, "takes_blocks", False):
        raise InputError(
            f"{type(estimator).__name__} learns in memory only, and X came in blocks. Use TopKRanker, SGDAtK or "
            "RankSVM, or gather some of the rows: X[numbers]."
        )
    if 0 in X.shape:
        raise InputError(f"X must have at least one row and one column, got shape {X.shape}.")
    kinds = {block.dtype for _, _, block in X}
    if kinds not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        raise InputError(f"Blocks must be all float32 or all float64, got {sorted(map(str, kinds))}. Convert them.")
    _same_columns(estimator, X, reset=reset)
    for start, _, rows in row_views(X):
        values = rows.data if is_sparse(rows) else rows
        if not np.isfinite(values).all():
            raise InputError(_first_not_finite(start, rows))
    return X


def checked_labels(X: BlockedRows, y: Any) -> Any:  # noqa: ANN401 - labels of any kind
    """Return one label for each row of a blocked X."""
    given: Any = column_or_1d(y, warn=True)
    if len(given) != X.shape[0]:
        raise InputError(
            f"X and y have inconsistent numbers of samples: [{X.shape[0]}, {len(given)}]. Pass the label of each row."
        )
    return given


def _same_columns(estimator: BaseEstimator, X: BlockedRows, *, reset: bool) -> None:
    if reset:
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    check_is_fitted(estimator)
    if X.shape[1] != estimator.n_features_in_:
        raise FeatureMismatch(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input. Use the same columns as in fit()."
        )


def _first_not_finite(start: int, rows: Any) -> str:  # noqa: ANN401 - a matrix
    places = rows.tocoo() if is_sparse(rows) else None
    values = places.data if places is not None else rows.ravel()
    at = int(np.argmin(np.isfinite(values)))
    row, column = (places.row[at], places.col[at]) if places is not None else divmod(at, rows.shape[1])
    return (
        f"X holds {values[at]} in row {start + int(row)}, column {int(column)}: Input X contains NaN or infinity. "
        "Fill or drop such values first (for example with sklearn.impute.SimpleImputer)."
    )
