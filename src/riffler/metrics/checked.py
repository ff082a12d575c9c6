"""What labels, scores and weights must look like before anything is measured; each error names the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.errors import InputError, LabelError
from riffler.records import BoolArray, FloatArray


class UndefinedMetric(LabelError):
    """The labels are well formed, but the measure has no value on them: no positive, or no negative, is there."""


def column(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return the values as a one-dimensional array with at least one row."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # NumPy refuses nested lists of unequal length
        raise InputError(f"{name} must be one-dimensional, got nested lists of unequal length.") from error
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}. Pass one value per row.")
    if array.size == 0:
        raise InputError(f"{name} is empty: there is nothing to measure. Pass at least one row.")
    return array


def binary_labels(labels: ArrayLike) -> BoolArray:
    """Tell which rows are positive; labels are 0/1, False/True or -1/+1.

    >>> binary_labels([-1, 1, 1]).tolist()
    [False, True, True]
    """
    given = column(labels, "labels")
    numbers = given if given.dtype.kind in "biuf" else _numbers_or_nan(given)
    positive: BoolArray = numbers == 1
    minus, zero = numbers == -1, numbers == 0
    wrong = np.flatnonzero(~(positive | minus | zero))
    if wrong.size:
        raise LabelError(
            f"labels must be 0/1, False/True or -1/+1; row {wrong[0]} is {_value(given, wrong[0])!r}. "
            "Map the relevant class to 1 and all others to 0."
        )
    if minus.any() and zero.any():
        first_minus, first_zero = int(np.argmax(minus)), int(np.argmax(zero))
        raise LabelError(
            f"labels must be either 0/1 or -1/+1, not both; row {first_minus} is -1 and row {first_zero} is 0. "
            "If 0 means 'not labelled', drop those rows; if it means negative, write all negatives alike."
        )
    return positive


def finite_scores(scores: ArrayLike, n_rows: int, name: str = "scores") -> NDArray[Any]:
    """Return the scores, one finite real number for each of the rows that the labels have."""
    given = _numeric(scores, n_rows, name)
    wrong = np.flatnonzero(~np.isfinite(given))
    if wrong.size:
        raise InputError(f"{name} must be finite; row {wrong[0]} is {_value(given, wrong[0])}. Fix or drop that row.")
    return given


def row_weights(sample_weight: ArrayLike, n_rows: int) -> FloatArray:
    """Return the weights as float64: finite, none negative, not all zero."""
    given = finite_scores(sample_weight, n_rows, "sample_weight").astype(np.float64)
    wrong = np.flatnonzero(given < 0)
    if wrong.size:
        raise InputError(
            f"sample_weight must not be negative; row {wrong[0]} is {_value(given, wrong[0])}. "
            "A weight says how often a row is repeated; use 0 to leave it out."
        )
    if not given.any():
        raise InputError("sample_weight is zero in every row: nothing is left to measure. Give some row a weight.")
    return given


def grades(labels: ArrayLike) -> FloatArray:
    """Return graded relevance as float64: 0 is irrelevant, larger is better, at most 512 so that 2^y stays finite."""
    given = column(labels, "labels")
    numbers = (given if given.dtype.kind in "biuf" else _numbers_or_nan(given)).astype(np.float64)
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers <= 512)))
    if wrong.size:
        raise LabelError(
            f"labels must be relevance grades from 0 to 512 (the gain is 2^y - 1); row {wrong[0]} is "
            f"{_value(given, wrong[0])!r}. Write irrelevant rows as 0, and map counts or ratings to a few grades."
        )
    return numbers


def _numeric(values: ArrayLike, n_rows: int, name: str) -> NDArray[Any]:
    given = column(values, name)
    if given.dtype.kind not in "biuf":
        raise InputError(f"{name} must be real numbers, got dtype {given.dtype}. Convert them to float first.")
    if given.size != n_rows:
        raise InputError(f"{name} has {given.size} rows, labels have {n_rows}. Pass one value per label.")
    return given


def _numbers_or_nan(given: NDArray[Any]) -> FloatArray:
    """Read an array of Python objects; whatever is no number becomes NaN, which no check lets through."""
    return np.array([v if isinstance(v, int | float) else np.nan for v in given.tolist()], dtype=np.float64)


def _value(given: NDArray[Any], row: int) -> object:
    """Return the row's value as a plain Python object, which prints without its NumPy type."""
    value: object = given[row : row + 1].tolist()[0]
    return value
