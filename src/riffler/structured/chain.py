"""Linear chains: a label for each row of a sequence, each label looking at its row and at the label before it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from riffler._fast import chain as kernels
from riffler._fast.rows import as_rows
from riffler.errors import FeatureMismatch, InputError, LabelError
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.structured.chain_problem import ChainProblem
from riffler.structured.label_rules import Allowed, LabelCosts, barriers, label_costs
from riffler.structured.sequences import Sequences


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The task of labelling sequences: unary features of rows, pairs of neighbouring labels, Viterbi.

    Weights are those of each column for each label, column by column, then those of each pair of labels. The loss is
    the number of wrong labels, or what they cost.

    labels : what may be said, in the order of the weights; None: the labels of the training data
    allowed : which labels may come first, last, and after which; None: all
    costs : what it costs to say b (column) where a is true (row), 0 on the diagonal; None: 1
    n_columns : columns of a row; None: those of the training data

    >>> X = [np.eye(2), np.eye(2)[::-1]]
    >>> chain = Chain().for_data(X, [["a", "b"], ["b", "a"]])
    >>> chain.argmax(X[0], np.array([1.0, 0, 0, 1, 0, 0, 0, 0]))
    ['a', 'b']
    """

    labels: tuple[Hashable, ...] | None = None
    allowed: Allowed | None = None
    costs: LabelCosts | None = None
    n_columns: int | None = None

    def for_data(self, X: Sequence[Any], Y: Sequence[Any]) -> Chain:
        """Take labels and columns from the data, where they were not given."""
        labels = known_labels(Y) if self.labels is None else tuple(self.labels)
        need_different(labels)
        n_columns = Sequences.of(X).rows.shape[1] if self.n_columns is None else self.n_columns
        return replace(self, labels=labels, n_columns=n_columns)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self._known()[0])

    def joint_feature(self, x: Matrix, y: Sequence[Any]) -> csr_matrix:
        """Count each label's rows, and each pair of labels."""
        labels, n_columns = self._known()
        codes = self._codes([y])
        rows = csr_matrix(x, dtype=np.float64)
        unary = np.zeros((n_columns, len(labels)))
        np.add.at(unary, (rows.indices, np.repeat(codes, np.diff(rows.indptr))), rows.data)
        pairs = np.zeros((len(labels), len(labels)))
        np.add.at(pairs, (codes[:-1], codes[1:]), 1.0)
        return csr_matrix(np.concatenate([unary.ravel(), pairs.ravel()])[np.newaxis])

    def loss(self, y: Sequence[Any], other: Sequence[Any]) -> float:
        """Sum the costs of the wrong labels; a label that was not known in training costs as much as the dearest."""
        costs = self._costs()
        place = {label: code for code, label in enumerate(self._known()[0])}
        return float(
            sum(
                costs[place[truth], place[said]] if truth in place and said in place else costs.max()
                for truth, said in zip(y, other, strict=True)
                if truth != said
            )
        )

    def largest_loss(self, y: Sequence[Any]) -> float:
        """Give the loss where every label is wrong."""
        return float(len(y) * self._costs().max())

    def argmax(self, x: Matrix, weights: FloatArray) -> list[Any]:
        """Give the labels of the highest score."""
        return list(self.argmax_of_all([x], weights)[0])

    def argmax_of_all(self, X: Sequence[Any], weights: FloatArray) -> list[list[Any]]:
        """Give the best labels of every sequence."""
        labels, n_columns = self._known()
        sequences = checked_sequences(X, n_columns)
        names = np.empty(len(labels), dtype=object)
        names[:] = labels
        said = names[self.decode(sequences, weights)].tolist()
        return [said[start:stop] for start, stop in zip(sequences.starts[:-1], sequences.starts[1:], strict=True)]

    def decode(self, sequences: Sequences, weights: FloatArray) -> IntArray:
        """Give the place among ``labels`` of the best label of every row."""
        labels, n_columns = self._known()
        unary, pairs = parts_of(weights, n_columns, len(labels))
        paths: IntArray = np.zeros(sequences.rows.shape[0], np.int64)
        if not len(paths):
            return paths
        ends, next_to = barriers(self.allowed, labels)
        kernels.decode(as_rows(sequences.rows), sequences.starts, unary, pairs, ends, next_to, paths)
        return paths

    def loss_augmented_argmax(self, x: Matrix, y: Sequence[Any], weights: FloatArray) -> list[Any]:
        """Give the labels that maximise loss plus score."""
        return self._worst([x], [y], weights, "margin")

    def slack_augmented_argmax(self, x: Matrix, y: Sequence[Any], weights: FloatArray) -> list[Any]:
        """Give the labels that maximise loss times violation, by the best labels for each number of mistakes."""
        return self._worst([x], [y], weights, "slack")

    def problem(self, X: Sequence[Any], Y: Sequence[Any], rescaling: str) -> ChainProblem:
        """Give all sequences to the compiled loops."""
        labels, n_columns = self._known()
        sequences = checked_sequences(X, n_columns)
        need_same_lengths(sequences, Y)
        ends, next_to = barriers(self.allowed, labels)
        return ChainProblem(sequences, self._codes(Y), ends, next_to, self._costs(), rescaling)

    def _worst(self, X: Sequence[Any], Y: Sequence[Any], weights: FloatArray, rescaling: str) -> list[Any]:
        labels = self._known()[0]
        return [labels[code] for code in self.problem(X, Y, rescaling).violating(np.array([0]), weights)]

    def _codes(self, Y: Sequence[Any]) -> IntArray:
        labels = self._known()[0]
        place = {label: code for code, label in enumerate(labels)}
        try:
            codes = [place[label] for y in Y for label in plain(y)]
        except KeyError as error:
            raise LabelError(
                f"Y holds the label {error.args[0]!r}, which is not among the {len(labels)} known ones. "
                "Pass all labels as Chain(labels=...)."
            ) from None
        return np.array(codes, dtype=np.int64)

    def _costs(self) -> FloatArray:
        return label_costs(self.costs, self.n_labels)

    def _known(self) -> tuple[tuple[Hashable, ...], int]:
        if self.labels is None or self.n_columns is None:
            raise InputError("This Chain does not know its labels and columns yet. Call for_data(X, Y) first, or fit.")
        return self.labels, self.n_columns


def known_labels(Y: Iterable[Iterable[Hashable]]) -> tuple[Hashable, ...]:
    """Give the labels that occur, sorted where they can be."""
    found = {label for y in Y for label in plain(y)}
    if not found:
        raise LabelError("There is no label in Y: all sequences are empty. Pass at least one row with its label.")
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(sorted(found, key=str))


def plain(labels: Any) -> Sequence[Any]:  # noqa: ANN401 - a list or an array
    """Give labels as Python objects: those of arrays compare and print better so."""
    names: Sequence[Any] = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return names


def need_different(labels: Sequence[Hashable]) -> None:
    """Raise where a label stands twice."""
    if len(set(labels)) < len(labels):
        twice = next(label for place, label in enumerate(labels) if label in labels[:place])
        raise LabelError(f"The label {twice!r} is given twice. Name each label once.")


def parts_of(weights: FloatArray, n_columns: int, n_labels: int) -> tuple[FloatArray, FloatArray]:
    """Split weights into those of columns and those of pairs of labels; both are views."""
    if len(weights) != n_columns * n_labels + n_labels**2:
        raise FeatureMismatch(
            f"A chain of {n_columns} columns and {n_labels} labels has {n_columns * n_labels + n_labels**2} weights, "
            f"got {len(weights)}."
        )
    cut = n_columns * n_labels
    return weights[:cut].reshape(n_columns, n_labels), weights[cut:].reshape(n_labels, n_labels)


def checked_sequences(X: Sequence[Any], n_columns: int, noun: str = "Sequence") -> Sequences:
    """Put sequences one below the other; values must be finite, and of as many columns as were learned from."""
    sequences = Sequences.of(X)
    rows = sequences.rows
    if rows.shape[0] == 0:
        return Sequences(np.empty((0, n_columns)), sequences.lengths)
    if rows.shape[1] != n_columns:
        raise FeatureMismatch(
            f"The rows have {rows.shape[1]} columns, those learned from {n_columns}. Make the features as for training."
        )
    values = _values(rows)
    if values.dtype.kind not in "fiub":
        raise InputError(f"Rows must be numbers, got {values.dtype}.")
    if not np.isfinite(values).all():
        number = next(place for place, one in enumerate(sequences) if not np.isfinite(_values(one)).all())
        raise InputError(f"{noun} {number} has a value that is not finite. Fix or drop it.")
    if values.dtype not in (np.float32, np.float64):  # the loops are compiled for these
        return Sequences(rows.astype(np.float64), sequences.lengths)
    return sequences


def _values(rows: Matrix) -> Any:  # noqa: ANN401 - an array of any kind
    return rows.data if is_sparse(rows) else rows


def need_same_lengths(sequences: Sequences, Y: Sequence[Any]) -> None:
    """Raise unless every row of every sequence has its label."""
    for number, (n_rows, y) in enumerate(zip(sequences.lengths, Y, strict=True)):
        if len(y) != n_rows:
            raise InputError(f"Sequence {number} has {n_rows} rows and {len(y)} labels. Pass one label for each row.")
