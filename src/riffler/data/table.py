"""The one record every reader returns: items as rows of a matrix, with what was known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.errors import LabelError
from riffler.records import FloatArray, IntArray, Matrix

LabelValue = str | float
"""A label as the file writes it: a text or a number."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a CSV or Parquet file: a number, or a text that becomes one 0/1 feature per category."""

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features this column turns into.

        >>> Column("job", ("clerk", "nurse")).feature_names
        ('job=clerk', 'job=nurse')
        """
        if self.categories is None:
            return (self.name,)
        return tuple(f"{self.name}={category}" for category in self.categories)


@dataclass(frozen=True, slots=True)
class Schema:
    """How a file was turned into a matrix, so that a second file can be turned the same way (``like=``).

    ``columns`` is None where the file names no columns (svmlight, NPZ). ``positive`` and ``negative`` are the label
    values that became 1 and 0; ``negative`` is None where everything else is negative; both are None for graded labels.
    ``dense`` says whether X became a dense array; None leaves it to what takes less memory.
    """

    n_features: int
    columns: tuple[Column, ...] | None = None
    label: str | None = None
    id: str | None = None
    positive: tuple[LabelValue, ...] | None = None
    negative: tuple[LabelValue, ...] | None = None
    dense: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Items with their features and, where known, labels.

    X : dense array or CSR matrix of floats, shape (n_items, n_features)
    y : 0/1 labels, or grades where the file has query ids; shape (n_items,); None where the file has no labels
    qid : query of each item, shape (n_items,), or None
    ids : name of each item: the id column, else its row number counted from 1; shape (n_items,)

    >>> Table(X=np.eye(3), y=np.array([0, 1, 1]), qid=None, ids=np.arange(1, 4), source="toy", schema=Schema(3))
    Table(toy: 3 items, 3 features, 2 positives)
    """

    X: Matrix
    y: IntArray | FloatArray | None
    qid: IntArray | None
    ids: NDArray[Any]
    source: str
    schema: Schema

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """One name per column of X, or None where the file names no columns."""
        if self.schema.columns is None:
            return None
        return tuple(name for column in self.schema.columns for name in column.feature_names)

    def labels(self) -> NDArray[Any]:
        """Give ``y``; a LabelError where the file has no labels."""
        if self.y is None:
            raise LabelError(
                f"{self.source}: has no labels, and they are needed here. "
                "Name the column with label=, or use a file that has them."
            )
        return self.y

    @property
    def n_items(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self.X.shape[1])

    def __repr__(self) -> str:
        if self.y is None:
            labels = "no labels"
        elif self.qid is not None:
            labels = f"{len(np.unique(self.qid))} queries"
        else:
            labels = f"{int(np.sum(self.y))} positives"
        return f"Table({self.source}: {self.n_items} items, {self.n_features} features, {labels})"


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """What a format reader hands on: labels still as the file writes them (numbers, texts, or None)."""

    X: Matrix
    labels: NDArray[Any] | None
    qid: IntArray | None = None
    ids: NDArray[Any] | None = None
    columns: tuple[Column, ...] | None = None
    label: str | None = None
    id: str | None = None
