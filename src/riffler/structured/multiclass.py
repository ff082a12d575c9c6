"""Multiclass (Crammer and Singer 2001), with costs: a block of weights for each class."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riffler._fast import chain as kernels
from riffler._fast.rows import as_rows
from riffler.errors import InputError, LabelError
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.structured.chain import checked_sequences, known_labels, need_different, plain
from riffler.structured.chain_problem import ChainProblem
from riffler.structured.label_rules import LabelCosts, barriers, label_costs
from riffler.structured.sequences import Sequences


@dataclass(frozen=True, slots=True, eq=False)
class Multiclass:
    """The task of naming the class of a row: x is a row, y its class; features are the row, in the block of its class.

    To the compiled loops an example is a sequence of one row. Weights are those of each column for each class, column
    by column.

    classes : in the order of the weights; None: the classes of the training data
    costs : what it costs to say b (column) where a is true (row), 0 on the diagonal; None: 1
    n_columns : columns of a row; None: those of the training data

    >>> task = Multiclass().for_data(np.eye(2), ["no", "yes"])
    >>> task.argmax(np.array([1.0, 0.0]), np.array([0.5, 0.0, 0.0, 0.5]))
    'no'
    """

    classes: tuple[Hashable, ...] | None = None
    costs: LabelCosts | None = None
    n_columns: int | None = None

    def for_data(self, X: Matrix, Y: Sequence[Any]) -> Multiclass:
        """Take classes and columns from the data, where they were not given."""
        if np.ndim(Y) != 1:
            raise LabelError(f"Y must be a list of classes, one a row, got an array of shape {np.shape(Y)}.")
        classes = known_labels([Y]) if self.classes is None else tuple(self.classes)
        need_different(classes)
        n_columns = one_row_each(X).rows.shape[1] if self.n_columns is None else self.n_columns
        return replace(self, classes=classes, n_columns=n_columns)

    def joint_feature(self, x: Any, y: Hashable) -> FloatArray:  # noqa: ANN401 - a row, dense or sparse
        """Put the row into the block of its class."""
        classes, n_columns = self._known()
        features = np.zeros((n_columns, len(classes)))
        features[:, self._codes([y])[0]] = dense_row(x)
        return features.ravel()

    def loss(self, y: Hashable, other: Hashable) -> float:
        """Give what it costs to say ``other``; a class that was not known in training costs as much as the dearest."""
        classes, costs = self._known()[0], self._costs()
        if y == other:
            return 0.0
        if y not in classes or other not in classes:
            return float(costs.max())
        return float(costs[classes.index(y), classes.index(other)])

    def largest_loss(self, y: Hashable) -> float:
        """Give the dearest mistake."""
        return float(self._costs().max())

    def argmax(self, x: Any, weights: FloatArray) -> Hashable:  # noqa: ANN401 - a row, dense or sparse
        """Give the class of the highest score."""
        return self._known()[0][int(np.argmax(self._scores(x, weights)))]

    def argmax_of_all(self, X: Matrix, weights: FloatArray) -> list[Any]:
        """Give the best class of every row."""
        classes, n_columns = self._known()
        rows = checked_sequences(one_row_each(X), n_columns, "Row")
        if not len(rows):
            return []
        said: IntArray = np.zeros(len(rows), np.int64)
        nothing = np.zeros((len(classes), len(classes)))
        unary = weights.reshape(n_columns, len(classes))
        kernels.decode(as_rows(rows.rows), rows.starts, unary, nothing, np.zeros((2, len(classes))), nothing, said)
        return [classes[code] for code in said]

    def loss_augmented_argmax(self, x: Any, y: Hashable, weights: FloatArray) -> Hashable:  # noqa: ANN401
        """Give the class that maximises cost plus score."""
        classes = self._known()[0]
        costs = self._costs()[self._codes([y])[0]]
        return classes[int(np.argmax(costs + self._scores(x, weights)))]

    def slack_augmented_argmax(self, x: Any, y: Hashable, weights: FloatArray) -> Hashable:  # noqa: ANN401
        """Give the class that maximises cost times violation."""
        code = self._codes([y])[0]
        scores = self._scores(x, weights)
        return self._known()[0][int(np.argmax(self._costs()[code] * (1.0 - scores[code] + scores)))]

    def problem(self, X: Matrix, Y: Sequence[Any], rescaling: str) -> ChainProblem:
        """Give all rows to the compiled loops."""
        classes, n_columns = self._known()
        rows = checked_sequences(one_row_each(X), n_columns, "Row")
        ends, next_to = barriers(None, classes)
        return ChainProblem(rows, self._codes(plain(Y)), ends, next_to, self._costs(), rescaling, with_pairs=False)

    def _scores(self, x: Any, weights: FloatArray) -> FloatArray:  # noqa: ANN401 - a row, dense or sparse
        classes, n_columns = self._known()
        return np.asarray(dense_row(x) @ weights.reshape(n_columns, len(classes)))

    def _codes(self, Y: Sequence[Hashable]) -> IntArray:
        classes = self._known()[0]
        place = {name: code for code, name in enumerate(classes)}
        strange = [name for name in Y if name not in place]
        if strange:
            raise LabelError(
                f"Y holds the class {strange[0]!r}, which is not among the {len(classes)} known ones. "
                "Pass all classes as Multiclass(classes=...)."
            )
        return np.array([place[name] for name in Y], dtype=np.int64)

    def _costs(self) -> FloatArray:
        return label_costs(self.costs, len(self._known()[0]))

    def _known(self) -> tuple[tuple[Hashable, ...], int]:
        if self.classes is None or self.n_columns is None:
            raise InputError(
                "This Multiclass does not know its classes and columns yet. Call for_data(X, Y) first, or fit."
            )
        return self.classes, self.n_columns


def dense_row(x: Any) -> FloatArray:  # noqa: ANN401 - a row, dense or sparse
    """Give a row as a 1-D array."""
    return np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64).ravel()


def one_row_each(X: Any) -> Sequences:  # noqa: ANN401 - a matrix, or a list of rows
    """View a matrix as sequences of one row."""
    if isinstance(X, Sequences):
        return X
    if isinstance(X, list) and not X:
        return Sequences(np.empty((0, 0)), [])
    if not is_sparse(X):
        X = _stacked(X) if isinstance(X, list) else np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"X must be a matrix with a row for each example, got shape {X.shape}.")
    return Sequences(X, np.ones(X.shape[0], np.int64))


def _stacked(rows: list[Any]) -> FloatArray:
    found = [dense_row(x) for x in rows]
    widths = sorted({len(one) for one in found})
    if len(widths) > 1:
        raise InputError(f"Rows have {widths} columns. All rows need the same columns.")
    return np.vstack(found)
