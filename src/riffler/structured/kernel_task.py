"""Structured problems given by a joint kernel: inner products of outputs with their inputs, and no feature vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from riffler.errors import InputError, LabelError, UnknownName
from riffler.records import FloatArray, IntArray, is_sparse
from riffler.structured.chain import known_labels
from riffler.structured.checked_rows import checked_rows

Inputs: TypeAlias = Any
"""A sequence of the task's own inputs; or rows of a matrix, dense or sparse."""

Differences = tuple[Inputs, Sequence[Any], Sequence[Any]]
"""Inputs, their outputs, and others to tell these from."""

CHUNK = 2_000_000  # entries of a kernel matrix that are held at once


@runtime_checkable
class KernelTask(Protocol):
    """A kernel between pairs of input and output, a loss, and the outputs that an input may have."""

    def joint_kernel(self, x: Any, y: Any, x2: Any, y2: Any) -> float:  # noqa: ANN401 - the task's own inputs and outputs
        """Give phi(x, y) . phi(x2, y2), without making either."""
        ...

    def loss(self, y: Any, other: Any) -> float:  # noqa: ANN401
        """Give what it costs to answer ``other`` where ``y`` is true: 0 for y itself, never below 0."""
        ...

    def candidates(self, x: Any) -> Sequence[Any]:  # noqa: ANN401
        """Give all outputs that x may have; they are tried one by one."""
        ...


@runtime_checkable
class MatrixKernelTask(KernelTask, Protocol):
    """A task that gives many values of its kernel at once."""

    def kernel_matrix(self, X: Inputs, Y: Sequence[Any], X2: Inputs, Y2: Sequence[Any]) -> FloatArray:
        """Give the kernel of each pair (X[i], Y[i]) with each pair (X2[j], Y2[j])."""
        ...


@runtime_checkable
class DifferenceKernelTask(KernelTask, Protocol):
    """A task that gives inner products of differences at once: phi(x, y) - phi(x, other) with each other."""

    def difference_matrix(self, first: Differences, second: Differences) -> FloatArray:
        """Give the inner product of each difference of the first with each of the second."""
        ...


@runtime_checkable
class ScoringKernelTask(KernelTask, Protocol):
    """A task that scores all candidates of many inputs at once."""

    def scores(self, X: Inputs, points_X: Inputs, points_Y: Sequence[Any], coefs: FloatArray) -> FloatArray:
        """Give sum of coef * kernel with each point, for all candidates of the first input, then of the second, ..."""
        ...


@runtime_checkable
class FittedKernelTask(KernelTask, Protocol):
    """A task that learns its outputs or settings from the data."""

    def for_data(self, X: Inputs, Y: Sequence[Any]) -> KernelTask:
        """Give a copy that knows these examples."""
        ...


def kernel_matrix(task: KernelTask, X: Inputs, Y: Sequence[Any], X2: Inputs, Y2: Sequence[Any]) -> FloatArray:
    """Give the kernel of each pair of input and output with each other, at once where the task can."""
    if isinstance(task, MatrixKernelTask):
        return np.asarray(task.kernel_matrix(X, Y, X2, Y2), dtype=np.float64)
    values = [task.joint_kernel(x, y, x2, y2) for x, y in zip(X, Y, strict=True) for x2, y2 in zip(X2, Y2, strict=True)]
    return np.array(values, dtype=np.float64).reshape(len(Y), len(Y2))


def difference_matrix(task: KernelTask, first: Differences, second: Differences) -> FloatArray:
    """Give the inner product of each phi(x, y) - phi(x, other) of the first with each of the second."""
    if isinstance(task, DifferenceKernelTask):
        return task.difference_matrix(first, second)
    total: FloatArray = np.zeros((len(first[1]), len(second[1])))
    for sign, outputs in ((1.0, first[1]), (-1.0, first[2])):
        total += sign * kernel_matrix(task, first[0], outputs, *second[:2])
        total -= sign * kernel_matrix(task, first[0], outputs, second[0], second[2])
    return total


def candidate_scores(
    task: KernelTask,
    X: Inputs,
    candidates: Sequence[Sequence[Any]],
    points: tuple[Inputs, Sequence[Any]],
    coefs: FloatArray,
) -> FloatArray:
    """Score all candidates of every input, one input after the other; points are inputs and their outputs."""
    if isinstance(task, ScoringKernelTask):
        return task.scores(X, *points, coefs)
    owners = np.repeat(np.arange(len(candidates)), [len(some) for some in candidates])
    outputs = [output for some in candidates for output in some]
    n_rows = max(1, CHUNK // max(len(coefs), 1))
    parts = [
        kernel_matrix(task, picked(X, owners[start : start + n_rows]), outputs[start : start + n_rows], *points) @ coefs
        for start in range(0, len(outputs), n_rows)
    ]
    return np.concatenate([np.empty(0), *parts])


def as_inputs(X: Inputs) -> Inputs:
    """Give inputs that can be gone through and picked from: tables as arrays, sparse matrices row by row.

    >>> from scipy import sparse
    >>> as_inputs(sparse.coo_array([[1.0]])).format
    'csr'
    """
    if is_sparse(X):
        return X.tocsr()
    return np.asarray(X) if hasattr(X, "shape") else X


def picked(X: Inputs, places: IntArray) -> Inputs:
    """Give some inputs: rows of a matrix, or of any sequence."""
    return X[places] if hasattr(X, "shape") else [X[place] for place in places]


@dataclass(frozen=True, slots=True)
class MulticlassKernel:
    """Naming the class of a row: K((x, y), (x2, y2)) = k(x, x2) where y is y2, else 0; a wrong class costs 1.

    kernel : k by the name that scikit-learn gives it: "rbf", "linear", "poly", "cosine", ...
    gamma : of the kernels that have one; None: 1 / (columns * variance of all entries)
    classes : None: those of the training data

    >>> task = MulticlassKernel(gamma=0.5, classes=("no", "yes"))
    >>> task.kernel_matrix(np.zeros((2, 1)), ["no", "yes"], np.ones((1, 1)), ["yes"]).round(3)
    array([[0.   ], [0.607]])
    """

    kernel: str = "rbf"
    gamma: float | None = None
    classes: tuple[Any, ...] | None = None

    def for_data(self, X: Inputs, Y: Sequence[Any]) -> MulticlassKernel:
        """Take classes and gamma from the data, where they were not given."""
        classes = known_labels([Y]) if self.classes is None else tuple(self.classes)
        rows = checked_rows(X)
        return replace(self, classes=classes, gamma=_scale(rows) if self.gamma is None else self.gamma)

    def joint_kernel(self, x: Any, y: Any, x2: Any, y2: Any) -> float:  # noqa: ANN401
        """Give k(x, x2) where the classes are equal, else 0."""
        return float(self._kernel(_row(x), _row(x2))[0, 0]) if y == y2 else 0.0

    def loss(self, y: Any, other: Any) -> float:  # noqa: ANN401
        """Give 1 where the classes differ."""
        return float(y != other)

    def candidates(self, x: Any) -> Sequence[Any]:  # noqa: ANN401
        """Give all classes."""
        return self._known()

    def kernel_matrix(self, X: Inputs, Y: Sequence[Any], X2: Inputs, Y2: Sequence[Any]) -> FloatArray:
        """Give k(x, x2) where the classes are equal, else 0, for all pairs."""
        equal = self._codes(Y)[:, np.newaxis] == self._codes(Y2)
        return np.multiply(self._kernel(X, X2), equal) if equal.size else np.zeros(equal.shape)

    def difference_matrix(self, first: Differences, second: Differences) -> FloatArray:
        """Give k(x, x2) times how many of the classes agree, less those of a truth that is another's error."""
        (y, other), (y2, other2) = ([self._codes(some) for some in one[1:]] for one in (first, second))
        agree = (y[:, np.newaxis] == y2).astype(np.int8) + (other[:, np.newaxis] == other2)
        agree -= y[:, np.newaxis] == other2
        agree -= other[:, np.newaxis] == y2
        return np.multiply(self._kernel(first[0], second[0]), agree) if agree.size else np.zeros(agree.shape)

    def scores(self, X: Inputs, points_X: Inputs, points_Y: Sequence[Any], coefs: FloatArray) -> FloatArray:
        """Score all classes of every row: one product of k with the coefs, which stand in the columns of classes."""
        table = np.zeros((len(coefs), len(self._known())))
        table[np.arange(len(coefs)), self._codes(points_Y)] = coefs
        n_rows, n_all = max(1, CHUNK // max(len(coefs), 1)), np.shape(X)[0]
        if len(coefs) == 0:
            return np.zeros(n_all * table.shape[1])
        starts = range(0, n_all, n_rows)
        return np.concatenate([(self._kernel(X[at : at + n_rows], points_X) @ table).ravel() for at in starts])

    def _kernel(self, X: Any, X2: Any) -> FloatArray:  # noqa: ANN401 - matrices, dense or sparse
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

        if self.kernel not in PAIRWISE_KERNEL_FUNCTIONS:
            raise UnknownName.among("kernel", self.kernel, PAIRWISE_KERNEL_FUNCTIONS)
        try:
            # not all kernels have a gamma
            found = pairwise_kernels(X, X2, metric=self.kernel, filter_params=True, gamma=self.gamma)
        except ValueError as error:
            raise InputError(f"The kernel {self.kernel!r} cannot compare these rows. {error}") from error
        return np.asarray(found, dtype=np.float64)

    def _codes(self, Y: Sequence[Any]) -> IntArray:
        place = {label: code for code, label in enumerate(self._known())}
        try:
            return np.array([place[label] for label in Y], dtype=np.int64)
        except KeyError as error:
            known = ", ".join(map(repr, place))
            raise LabelError(f"There is no class {error.args[0]!r} among those known: {known}.") from None

    def _known(self) -> tuple[Any, ...]:
        if self.classes is None:
            raise InputError("This MulticlassKernel does not know its classes yet. Call for_data(X, y) first, or fit.")
        return self.classes


def _row(x: Any) -> Any:  # noqa: ANN401
    return x if is_sparse(x) else np.atleast_2d(x)


def _scale(X: Any) -> float:  # noqa: ANN401
    """1 / (columns * variance of all entries), or 1 where nothing varies."""
    squares = X.multiply(X).mean() if is_sparse(X) else np.mean(np.square(X))
    variance = float(squares) - float(X.mean() if is_sparse(X) else np.mean(X)) ** 2
    return 1.0 / (np.shape(X)[1] * variance) if variance > 0 else 1.0
