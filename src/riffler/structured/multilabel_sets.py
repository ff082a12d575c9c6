"""What solvers keep for each example of many labels, in short form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riffler._fast.label_descent import label_visits
from riffler._fast.label_tree import label_steps
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.structured.block_descent import ENOUGH, MOVES

if TYPE_CHECKING:
    from riffler.structured.multilabel_problem import MultilabelProblem

FIRST_ROOM = 8  # labellings of an example


class MultilabelWorkingSets:
    """The labellings that each example keeps for block descent, the first of which is the truth: n * room * L bytes."""

    def __init__(self, problem: MultilabelProblem, C: float) -> None:
        self._problem, self._scale = problem, C / problem.n_examples
        self.weights: FloatArray = np.zeros(problem.n_weights)
        self.n_settles = 1  # to settle takes about as long as to ask
        self.offset = 0.0
        self._squares = squares_of_rows(problem.rows)
        self._kept: IntArray = np.zeros((problem.n_examples, FIRST_ROOM, problem.space.n_labels), np.int8)
        self._kept[:, 0] = problem.labels
        self._shares: FloatArray = np.zeros((problem.n_examples, FIRST_ROOM))
        self._shares[:, 0] = 1.0
        self._n_kept: IntArray = np.ones(problem.n_examples, np.int64)

    @property
    def n_bytes(self) -> int:
        """Memory of what is kept."""
        return self._kept.nbytes + self._shares.nbytes + self._n_kept.nbytes

    def go_over(self, order: IntArray) -> FloatArray:
        """Solve the small dual of each example in this order, no example twice."""
        return self._visit(order, asks=True)

    def settle(self, order: IntArray) -> FloatArray:
        """Solve the small dual of each example in this order, over what is kept."""
        return self._visit(order, asks=False)

    def _visit(self, order: IntArray, *, asks: bool) -> FloatArray:
        if self._n_kept.max() == self._shares.shape[1]:  # a visit adds one labelling at most
            self._kept = np.concatenate([self._kept, np.zeros_like(self._kept)], axis=1)
            self._shares = np.concatenate([self._shares, np.zeros_like(self._shares)], axis=1)
        problem, space = self._problem, self._problem.space
        gaps: FloatArray = np.zeros(problem.n_examples)
        self.offset += label_visits(
            problem.views, self._squares, order, asks, space.costs, problem.rescaling, space.forest.tree, self._scale,
            MOVES, ENOUGH, *space.parts(self.weights), self._kept, self._shares, self._n_kept, gaps,
        )  # fmt: skip
        return gaps[order]


class MultilabelBlocks:
    """Shares of block-coordinate Frank-Wolfe in short form: n * (L + 4 E) numbers, and as many for the average."""

    def __init__(self, problem: MultilabelProblem, C: float) -> None:
        self._problem, self._scale = problem, C / problem.n_examples
        self.weights: FloatArray = np.zeros(problem.n_weights)
        self.offset = 0.0
        space = problem.space
        self._shares: FloatArray = np.zeros((problem.n_examples, space.n_labels + 4 * len(space.forest.edges)))
        self._offsets: FloatArray = np.zeros(problem.n_examples)
        self._late: FloatArray = np.zeros_like(self._shares)  # a change at step k is missing from the steps before it
        self._late_offset, self._n_steps = 0.0, 0
        self._squares = squares_of_rows(problem.rows)

    @property
    def n_bytes(self) -> int:
        """Memory of the shares."""
        return self._shares.nbytes + self._late.nbytes + self._offsets.nbytes

    def go_over(self, order: IntArray) -> float:
        """Make a step for each example in this order."""
        problem, space = self._problem, self._problem.space
        label_weights, table_scores = space.parts(self.weights)  # views: the steps change the weights
        gaps, risen, late = label_steps(
            problem.views, self._squares, order, problem.labels, space.costs, problem.rescaling, space.forest.tree,
            self._scale, label_weights, table_scores, self._shares, self._offsets, self._late, self._n_steps,
        )  # fmt: skip
        self._n_steps += len(order)
        self.offset += risen
        self._late_offset += late
        return float(gaps)

    def average(self) -> tuple[FloatArray, float]:
        """Give weights and offset averaged over the steps so far."""
        total = max(self._n_steps * (self._n_steps + 1) / 2.0, 1.0)
        missing = self._problem.space.weights_of(self._problem.rows, self._late)
        return self.weights - missing / total, self.offset - self._late_offset / total


def squares_of_rows(rows: Matrix) -> FloatArray:
    """Give 1 + |x|^2 of every row: the constant counts too."""
    squares = rows.multiply(rows) if is_sparse(rows) else rows * rows
    return 1.0 + np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
