"""What a solver sees of a structured problem: cuts of single examples, and the plane of all of them.

The risk is the mean over examples of H_i(w) = max over outputs of loss - w . (phi(x, y) - phi(x, output)), or, with
slack rescaling, of loss * (1 - w . (phi(x, y) - phi(x, output))). Solvers minimise |w|^2 / 2 + C * risk(w).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from riffler.errors import InputError, OracleError
from riffler.records import FloatArray, IntArray, is_sparse
from riffler.structured.cutting_plane import Plane
from riffler.structured.task import JointVector

if TYPE_CHECKING:
    from riffler.structured.block_descent import WorkingSets
    from riffler.structured.frank_wolfe import Blocks

RESCALINGS = ("margin", "slack")


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


def as_cut_vector(vector: JointVector) -> tuple[IntArray, FloatArray, int]:
    """Give the places, the values and the length of a joint feature vector, dense or sparse."""
    if is_sparse(vector):
        row = vector.tocsr(copy=True)  # the task may keep its own
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
