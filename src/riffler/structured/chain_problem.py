"""Labelled sequences as the solvers see them, with everything hot in compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from riffler._fast import chain as kernels
from riffler._fast.chain_descent import descent_pass
from riffler._fast.chain_steps import step_over_chains
from riffler._fast.rows import as_rows
from riffler.errors import InputError, LabelError
from riffler.records import FloatArray, IntArray
from riffler.structured.block_descent import ENOUGH, MOVES
from riffler.structured.chain_cuts import cuts_of_chains
from riffler.structured.cuts import Cuts
from riffler.structured.cutting_plane import Plane
from riffler.structured.problem import Cut
from riffler.structured.sequences import Sequences

FIRST_ROOM = 8  # label sequences that a sequence may keep before there is more room


class ChainProblem:
    """Sequences with the code of the true label of each row.

    Without ``with_pairs`` pairs of labels have no weights, as in sequences of one row, which have no pairs.
    """

    def __init__(
        self,
        sequences: Sequences,
        gold: IntArray,
        ends: FloatArray,
        next_to: FloatArray,
        cost: FloatArray,
        rescaling: str = "margin",
        *,
        with_pairs: bool = True,
    ) -> None:
        self.sequences, self.gold = sequences, gold
        self.ends, self.next_to, self.cost = ends, next_to, cost
        self.slack = rescaling == "slack"
        self.rows = as_rows(sequences.rows)
        self.n_examples, self.n_columns, self.n_labels = len(sequences), sequences.rows.shape[1], len(cost)
        self._no_pairs = None if with_pairs else np.zeros((self.n_labels, self.n_labels))
        self.n_weights = self.n_columns * self.n_labels + (self.n_labels**2 if with_pairs else 0)
        self._need_allowed()
        if self.slack and with_pairs and not np.array_equal(cost, 1.0 - np.eye(self.n_labels)):
            raise InputError('Slack rescaling of chains needs costs of 1. Leave costs out, or use rescaling="margin".')

    def parts(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights of columns and of pairs of labels, as views."""
        cut, n_labels = self.n_columns * self.n_labels, self.n_labels
        pairs = weights[cut:].reshape(n_labels, n_labels) if self._no_pairs is None else self._no_pairs
        return weights[:cut].reshape(-1, n_labels), pairs

    def violating(self, examples: IntArray, weights: FloatArray) -> IntArray:
        """Give the labels that violate the margins of some sequences most, one sequence after the other."""
        starts = self.sequences.starts
        paths: IntArray = np.empty(int((starts[examples + 1] - starts[examples]).sum()), np.int64)
        kernels.violating_paths(
            self.rows, starts, self.gold, examples, *self.parts(weights),
            self.ends, self.next_to, self.cost, self.slack, paths,
        )  # fmt: skip
        return paths

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Give the cut of the most violating labels of one sequence."""
        one = self.cuts(np.array([example]), weights)
        return Cut(one.indices, one.values, float(one.offsets[0]))

    def cuts(self, examples: IntArray, weights: FloatArray) -> Cuts:
        """Give the cuts of some sequences at once."""
        return cuts_of_chains(self, examples, weights)

    def step_over(self, examples: IntArray, weights: FloatArray, step: float) -> float:
        """Ask one sequence after the other and add ``step`` times its slopes to the weights; sum the offsets."""
        sequences, (unary, pairs) = self.sequences, self.parts(weights)
        return float(
            step_over_chains(
                self.rows, sequences.starts, self.gold, examples, unary, pairs,
                self.ends, self.next_to, self.cost, self.slack, step,
            )
        )  # fmt: skip

    def plane(self, weights: FloatArray) -> Plane:
        """Give the mean of the cuts of all sequences."""
        paths = self.violating(np.arange(self.n_examples), weights)
        slopes: FloatArray = np.zeros(self.n_weights)
        loss = kernels.add_cuts(
            self.rows, self.sequences.starts, self.gold, paths, self.cost, self.slack, *self.parts(slopes)
        )
        slopes /= self.n_examples
        return Plane(slopes, loss / self.n_examples)

    def blocks(self, C: float) -> ChainBlocks:
        """Keep for each row how much of each label is in the weights."""
        return ChainBlocks(self, C)

    def working_sets(self, C: float) -> ChainWorkingSets:
        """Keep the label sequences that mattered."""
        return ChainWorkingSets(self, C)

    def _need_allowed(self) -> None:
        """Raise where a true sequence is one that may not be said: no weights could ever score it highest."""
        starts = self.sequences.starts
        begins = starts[:-1][np.diff(starts) > 0]
        finishes = starts[1:][np.diff(starts) > 0] - 1
        barred_at = begins[self.ends[0, self.gold[begins]] < 0]
        barred_at = np.concatenate([barred_at, finishes[self.ends[1, self.gold[finishes]] < 0]])
        follows = np.ones(len(self.gold), bool)
        follows[begins] = False
        rows = np.flatnonzero(follows)
        barred_at = np.concatenate([barred_at, rows[self.next_to[self.gold[rows - 1], self.gold[rows]] < 0]])
        if barred_at.size:
            row = int(barred_at.min())
            number = int(np.searchsorted(starts, row, side="right")) - 1
            raise LabelError(
                f"Sequence {number} has a label at position {row - int(starts[number])} that may not stand there. "
                "Correct the labels, or allow it."
            )


class ChainBlocks:
    """The shares of all sequences: how much of each label is at each row, and of each pair of labels in a sequence."""

    def __init__(self, problem: ChainProblem, C: float) -> None:
        self._problem, self._scale = problem, C / problem.n_examples
        n_labels = problem.n_labels
        self.weights: FloatArray = np.zeros(problem.n_weights)
        self._late: FloatArray = np.zeros(problem.n_weights)
        self._work: FloatArray = np.zeros((problem.n_columns, n_labels))
        self._shares: FloatArray = np.zeros((len(problem.gold), n_labels))
        has_pairs = bool((problem.sequences.lengths > 1).any())
        self._pair_shares: FloatArray = np.zeros((problem.n_examples if has_pairs else 0, n_labels, n_labels))
        self._offsets: FloatArray = np.zeros(problem.n_examples)
        self._sums: FloatArray = np.zeros(3)  # steps, offset, what averaging takes off the offset

    @property
    def offset(self) -> float:
        """The sum of the offsets of all sequences."""
        return float(self._sums[1])

    @property
    def n_bytes(self) -> int:
        """Memory of the shares."""
        return int(self._shares.nbytes + self._pair_shares.nbytes + self._offsets.nbytes)

    def go_over(self, order: IntArray) -> float:
        """Make a step for each sequence in this order."""
        problem = self._problem
        return float(
            kernels.frank_wolfe_pass(
                problem.rows, problem.sequences.starts, problem.gold, order, self._scale,
                problem.ends, problem.next_to, problem.cost, problem.slack,
                problem.parts(self.weights), problem.parts(self._late), self._work,
                self._shares, self._pair_shares, self._offsets, self._sums,
            )
        )  # fmt: skip

    def average(self) -> tuple[FloatArray, float]:
        """Give weights and offset averaged over the steps so far."""
        total = max(self._sums[0] * (self._sums[0] + 1.0) / 2.0, 1.0)
        return self.weights - self._late / total, float(self._sums[1] - self._sums[2] / total)


class ChainWorkingSets:
    """The label sequences that each sequence keeps, one column each; the first is the true one."""

    def __init__(self, problem: ChainProblem, C: float) -> None:
        self._problem, self._scale = problem, C / problem.n_examples
        n_examples = problem.n_examples
        self.weights: FloatArray = np.zeros(problem.n_weights)
        self.n_settles = 1  # to settle takes about as long as to ask
        self._work: FloatArray = np.zeros((problem.n_columns, problem.n_labels))
        self._kept: IntArray = np.zeros((len(problem.gold), FIRST_ROOM), np.min_scalar_type(problem.n_labels))
        self._kept[:, 0] = problem.gold
        self._shares: FloatArray = np.zeros((n_examples, FIRST_ROOM))
        self._shares[:, 0] = 1.0
        self._losses: FloatArray = np.zeros((n_examples, FIRST_ROOM))
        self._n_kept: IntArray = np.ones(n_examples, np.int64)
        self._sums: FloatArray = np.zeros(2)  # the offset of the dual, and how often there was no room

    @property
    def offset(self) -> float:
        """The dual is this minus half the squared norm of the weights."""
        return float(self._sums[0])

    @property
    def n_bytes(self) -> int:
        """Memory of what is kept."""
        return int(self._kept.nbytes + self._shares.nbytes + self._losses.nbytes + self._n_kept.nbytes)

    def go_over(self, order: IntArray) -> FloatArray:
        """Solve the small dual of each sequence in this order; make more room if some had none."""
        gaps = self._visit(order, asks=True)
        if self._sums[1] > 0:
            self._kept = _twice_as_wide(self._kept)
            self._shares, self._losses = _twice_as_wide(self._shares), _twice_as_wide(self._losses)
            self._sums[1] = 0.0
        return gaps

    def settle(self, order: IntArray) -> FloatArray:
        """Solve the small dual of each sequence in this order, over what is kept."""
        return self._visit(order, asks=False)

    def _visit(self, order: IntArray, *, asks: bool) -> FloatArray:
        problem = self._problem
        gaps: FloatArray = np.zeros(problem.n_examples)
        descent_pass(
            problem.rows, problem.sequences.starts, problem.gold, order, asks, self._scale,
            problem.ends, problem.next_to, problem.cost, problem.slack, MOVES, ENOUGH,
            *problem.parts(self.weights), self._work, self._kept, self._shares, self._losses, self._n_kept,
            self._sums, gaps,
        )  # fmt: skip
        return gaps[order]


def _twice_as_wide(table: Any) -> Any:  # noqa: ANN401 - of numbers of any kind
    return np.concatenate([table, np.zeros_like(table)], axis=1)
