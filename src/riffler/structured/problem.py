"""What a solver sees of a structured problem: cuts of single examples, and the plane of all of them.

The risk is the mean over examples of H_i(w) = max over outputs of loss - w . (phi(x, y) - phi(x, output)), or, with slack
rescaling, of loss * (1 - w . (phi(x, y) - phi(x, output))). Solvers minimise |w|^2 / 2 + C * risk(w).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from riffler.errors import InputError, OracleError
from riffler.records import FloatArray, IntArray, is_sparse
from riffler.structured.cutting_plane import Plane
from riffler.structured.task import JointVector, SlackTask, Task

if TYPE_CHECKING:
    from riffler.structured.block_descent import WorkingSets
    from riffler.structured.frank_wolfe import Blocks

RESCALINGS = ("margin", "slack")
ROUNDING = 1e-9  # of the sums compared, by which an oracle may miss the truth


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """H_i(v) >= offset - sum of values * v[indices] for all v, with equality at the weights that were asked about."""

    indices: IntArray
    values: FloatArray
    offset: float

    def height(self, weights: FloatArray) -> float:
        """The bound at some weights."""
        return self.offset - float(self.values @ weights[self.indices])

    def equals(self, other: Cut) -> bool:
        """Whether both say the same."""
        return (
            self.offset == other.offset
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.values, other.values)
        )

    def add_to(self, weights: FloatArray, step: float) -> None:
        """Add ``step`` times the slopes to the weights, in place."""
        weights[self.indices] += step * self.values  # no index stands twice


class Problem(Protocol):
    """Examples as the solvers see them."""

    n_examples: int
    n_weights: int

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Give the cut of the output that violates the margin of one example most."""
        ...

    def plane(self, weights: FloatArray) -> Plane:
        """Give the mean of the cuts of all examples."""
        ...

    def blocks(self, C: float) -> Blocks:
        """Give what block-coordinate Frank-Wolfe keeps for each example."""
        ...

    def working_sets(self, C: float) -> WorkingSets:
        """Give what block descent keeps for each example."""
        ...


class OneByOne:
    """The problem of any task, asked one example after the other through its four methods."""

    def __init__(self, task: Task, X: Sequence[Any], Y: Sequence[Any], rescaling: str = "margin") -> None:
        if rescaling == "slack" and not isinstance(task, SlackTask):
            raise InputError(
                f"{type(task).__name__} has no slack_augmented_argmax, which slack rescaling asks for. "
                'Write that method, or use rescaling="margin".'
            )
        self._task, self._X, self._Y = task, X, Y
        self._rescaling = rescaling
        self._truths = [as_cut_vector(task.joint_feature(x, y)) for x, y in zip(X, Y, strict=True)]
        self.n_examples, self.n_weights = len(X), _common_length(task, self._truths)

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Ask the task for the output that violates the margin most, and check that it is no worse than the truth."""
        x, y = self._X[example], self._Y[example]
        if self._rescaling == "slack":
            other = self._task.slack_augmented_argmax(x, y, weights)  # type: ignore[attr-defined] # checked above
        else:
            other = self._task.loss_augmented_argmax(x, y, weights)
        loss = float(self._task.loss(y, other))
        indices, values = difference(self._truths[example], as_cut_vector(self._task.joint_feature(x, other)))
        if self._rescaling == "slack":
            values = loss * values
        cut = Cut(indices, values, loss)
        self._need_sound(example, cut, weights)
        return cut

    def plane(self, weights: FloatArray) -> Plane:
        """Sum the cuts of all examples."""
        slopes: FloatArray = np.zeros(self.n_weights)
        offset = 0.0
        for example in range(self.n_examples):
            cut = self.cut(example, weights)
            cut.add_to(slopes, 1.0 / self.n_examples)
            offset += cut.offset / self.n_examples
        return Plane(slopes, offset)

    def blocks(self, C: float) -> Blocks:
        """Keep the share of each example as a sparse vector."""
        from riffler.structured.frank_wolfe import SparseBlocks

        return SparseBlocks(self, C)

    def working_sets(self, C: float) -> WorkingSets:
        """Keep the cuts of each example."""
        from riffler.structured.block_descent import KeptCuts

        return KeptCuts(self, C)

    def _need_sound(self, example: int, cut: Cut, weights: FloatArray) -> None:
        """Raise where a loss is impossible, or the answer is worse than the truth, whose violation is 0."""
        name = type(self._task).__name__
        if not (np.isfinite(cut.offset) and cut.offset >= 0):
            raise OracleError(
                f"{name}.loss gave {cut.offset} for example {example}: a loss is a finite number, 0 or more. "
                "Check that method."
            )
        if not np.isfinite(cut.values).all():
            raise OracleError(f"{name}.joint_feature gave a number that is not finite for example {example}.")
        height = cut.height(weights)
        scale = abs(cut.offset) + float(np.abs(cut.values) @ np.abs(weights[cut.indices]))
        if height < -ROUNDING * max(scale, 1.0):
            method = "slack" if self._rescaling == "slack" else "loss"
            raise OracleError(
                f"{name}.{method}_augmented_argmax gave a worse output than the truth for example {example}: its "
                f"violation is {height:.6g}, that of the truth is 0. The output must maximise the loss plus the score; "
                "check the sign of the loss, and that the true output is among those looked at."
            )


def as_cut_vector(vector: JointVector) -> tuple[IntArray, FloatArray, int]:
    """Give the places, the values and the length of a joint feature vector, dense or sparse."""
    if is_sparse(vector):
        row = vector.tocsr()
        if row.shape[0] != 1:
            raise InputError(f"A joint feature vector is one row, got a matrix of shape {row.shape}.")
        row.sum_duplicates()
        return row.indices.astype(np.int64), row.data.astype(np.float64), int(row.shape[1])
    dense = np.asarray(vector, dtype=np.float64)
    if dense.ndim != 1:
        raise InputError(f"A joint feature vector has one dimension, got shape {dense.shape}.")
    places = np.flatnonzero(dense)
    return places, dense[places], len(dense)


def difference(
    truth: tuple[IntArray, FloatArray, int], other: tuple[IntArray, FloatArray, int]
) -> tuple[IntArray, FloatArray]:
    """Take one joint feature vector from the other; what cancels is left out."""
    if truth[2] != other[2]:
        raise OracleError(
            f"Joint feature vectors have {truth[2]} and {other[2]} entries. All vectors of a task have the same length."
        )
    places, of = np.unique(np.concatenate([truth[0], other[0]]), return_inverse=True)
    values = np.bincount(of, weights=np.concatenate([truth[1], -other[1]]), minlength=len(places))
    kept = values != 0
    return places[kept], values[kept]


def _common_length(task: Task, vectors: list[tuple[IntArray, FloatArray, int]]) -> int:
    """Give the number of weights; raises where examples disagree about it."""
    for example, (_, values, length) in enumerate(vectors):
        if length != vectors[0][2]:
            raise OracleError(
                f"{type(task).__name__}.joint_feature gave {vectors[0][2]} numbers for example 0 and {length} for "
                f"example {example}. All vectors of a task have the same length."
            )
        if not np.isfinite(values).all():
            raise InputError(f"Example {example} has a joint feature that is not finite. Fix or drop that example.")
    return vectors[0][2]
