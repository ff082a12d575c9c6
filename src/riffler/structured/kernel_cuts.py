"""Cuts of a joint kernel: held as inner products with each other, of the working set only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riffler._fast.rows import SimilarRows
from riffler.errors import InputError, OracleError
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.structured.kernel_task import Differences, Inputs, KernelTask, candidate_scores, difference_matrix, picked

ROUNDING = 1e-6  # by which inner products may miss what holds for all of them


class KernelExamples:
    """Inputs with the places of their true outputs among their candidates, and the loss of every candidate.

    Tables over candidates hold those of the first example, then those of the second, and so on.
    """

    def __init__(self, task: KernelTask, X: Inputs, Y: Sequence[Any]) -> None:
        self.task, self.X = task, X
        self.candidates = [list(task.candidates(x)) for x in X]
        self.starts: IntArray = np.cumsum([0, *map(len, self.candidates)])
        pairs = list(zip(Y, self.candidates, strict=True))
        self.truths: IntArray = np.array([_place(y, some, number) for number, (y, some) in enumerate(pairs)])
        self.losses: FloatArray = np.array([float(task.loss(y, other)) for y, some in pairs for other in some])
        self._need_losses()

    def __len__(self) -> int:
        return len(self.candidates)

    def points(self, examples: IntArray, places: IntArray) -> tuple[Inputs, list[Any]]:
        """Give inputs, and of each the output at a place among its candidates."""
        outputs = [self.candidates[example][place] for example, place in zip(examples, places, strict=True)]
        return picked(self.X, examples), outputs

    def scores(self, examples: IntArray, places: IntArray, coefs: FloatArray) -> FloatArray:
        """Score all candidates by a sum of coef * kernel with each of some points."""
        numbers, of = np.unique(self.starts[examples] + places, return_inverse=True)
        totals = np.bincount(of, weights=coefs, minlength=len(numbers))
        numbers, totals = numbers[totals != 0], totals[totals != 0]
        owners = np.searchsorted(self.starts, np.asarray(numbers), side="right") - 1
        points = self.points(owners, numbers - self.starts[owners])
        return candidate_scores(self.task, self.X, self.candidates, points, totals)

    def _need_losses(self) -> None:
        wrong = np.flatnonzero(~(np.isfinite(self.losses) & (self.losses >= 0)))
        if wrong.size:
            number = int(np.searchsorted(self.starts, wrong[0], side="right")) - 1
            raise OracleError(
                f"{type(self.task).__name__}.loss gave {self.losses[wrong[0]]} for example {number}: a loss is a "
                "finite number, 0 or more. Check that method."
            )


class KernelCuts:
    """Cut c is factor * (features of an example's truth - features of another candidate), known by inner products."""

    def __init__(self, examples: KernelExamples, rescaling: str) -> None:
        self._all, self._rescaling = examples, rescaling
        self.n_examples = len(examples)
        self.scores: FloatArray = np.empty(0)  # of the cuts that are held
        self._gram: FloatArray = np.empty((0, 0))
        self._held: IntArray = np.empty(0, np.int64)  # numbers of these cuts among all that were ever found
        self.owners: IntArray = np.empty(0, np.int64)  # of all that were ever found, as is the next
        self.places: IntArray = np.empty(0, np.int64)
        self._alpha: FloatArray = np.empty(0)
        self._asked: IntArray = np.zeros(self.n_examples, np.int64)

    @property
    def rows(self) -> SimilarRows:
        """Inner products of the cuts that are held."""
        return SimilarRows(self._gram, np.arange(len(self._gram)))

    def factors(self, owners: IntArray, places: IntArray) -> FloatArray:
        """What the features of cuts are multiplied with: their losses, with slack rescaling."""
        losses = self._all.losses[self._all.starts[owners] + places]
        return losses if self._rescaling == "slack" else np.ones(len(owners))

    def ask(self) -> FloatArray:
        """Score all candidates, and give the height of the most violating of each example."""
        owners, places = self.owners[self._held], self.places[self._held]
        coefs = self._alpha * self.factors(owners, places)
        all_scores = self._all.scores(
            np.tile(owners, 2), np.concatenate([self._all.truths[owners], places]), np.concatenate([coefs, -coefs])
        )
        of = np.repeat(np.arange(self.n_examples), np.diff(self._all.starts))
        short = all_scores[self._all.starts[:-1] + self._all.truths][of] - all_scores
        everywhere = np.arange(len(of)) - self._all.starts[of]
        heights = self._all.losses - self.factors(of, everywhere) * short
        self._asked = first_highest(heights, self._all.starts)
        return np.take(heights, self._all.starts[:-1] + self._asked)

    def take(self, examples: IntArray) -> FloatArray:
        """Hold the cuts just found of some examples too."""
        new, places = np.arange(len(self.owners), len(self.owners) + len(examples)), self._asked[examples]
        self.owners, self.places = np.concatenate([self.owners, examples]), np.concatenate([self.places, places])
        n_old = len(self._held)
        self._held = np.concatenate([self._held, new])
        columns = self._products(self._held, new)
        gram = np.empty((len(self._held), len(self._held)))
        gram[:n_old, :n_old], gram[:, n_old:], gram[n_old:, :n_old] = self._gram, columns, columns[:n_old].T
        self._need_inner_products(gram, n_old)
        self.scores = np.concatenate([self.scores, self._alpha @ columns[:n_old]])
        self._gram, self._alpha = gram, np.concatenate([self._alpha, np.zeros(len(new))])
        return np.take(self._all.losses, self._all.starts[examples] + places)

    def keep(self, kept: BoolArray) -> None:
        """Drop the other cuts."""
        self._held, self._gram = self._held[kept], self._gram[np.ix_(kept, kept)]

    def refresh(self, alpha: FloatArray) -> float:
        """Sum the scores anew."""
        self._alpha = alpha.copy()
        self.scores = self._gram @ alpha
        return float(alpha @ self.scores)

    def weights(self, alpha: FloatArray) -> FloatArray:
        """Give the share of every cut that was ever found."""
        shares: FloatArray = np.zeros(len(self.owners))
        shares[self._held] = alpha
        return shares

    def _need_inner_products(self, gram: FloatArray, n_old: int) -> None:
        """Raise where a square is below 0, or a product above that of the lengths: no vectors have such a kernel."""
        squares = gram.diagonal()
        largest, at_least_0 = float(np.max(squares, initial=0.0)), np.maximum(squares, 0.0)
        bounds = np.outer(at_least_0, at_least_0[n_old:]) * (1.0 + ROUNDING) + (ROUNDING * largest) ** 2
        if (squares < -ROUNDING * largest).any() or (np.square(gram[:, n_old:]) > bounds).any():
            raise OracleError(
                f"{type(self._all.task).__name__} gives numbers that are no inner products. Take a kernel that is "
                'positive definite, such as "rbf"; of a kernel of one\'s own check that it is symmetric.'
            )

    def _products(self, left: IntArray, right: IntArray) -> FloatArray:
        """Inner products of some cuts with others."""
        products = difference_matrix(self._all.task, self._differences(left), self._differences(right))
        factors = [self.factors(self.owners[some], self.places[some]) for some in (left, right)]
        return products * factors[0][:, np.newaxis] * factors[1] if self._rescaling == "slack" else products

    def _differences(self, cuts: IntArray) -> Differences:
        owners = self.owners[cuts]
        inputs, truths = self._all.points(owners, self._all.truths[owners])
        return inputs, truths, self._all.points(owners, self.places[cuts])[1]


def first_highest(values: FloatArray, starts: IntArray) -> IntArray:
    """Give the place of the first highest value in each part.

    >>> first_highest(np.array([1.0, 5.0, 5.0, 2.0]), np.array([0, 3, 4]))
    array([1, 0])
    """
    highest = np.repeat(np.maximum.reduceat(values, starts[:-1]), np.diff(starts))
    at = np.flatnonzero(values == highest)
    return at[np.searchsorted(at, starts[:-1])] - starts[:-1]


def _place(y: Any, candidates: list[Any], number: int) -> int:  # noqa: ANN401 - the task's own outputs
    for place, other in enumerate(candidates):
        if np.array_equal(y, other):
            return place
    raise InputError(
        f"The true output of example {number} is not among its {len(candidates)} candidates. "
        "Check Y, and that candidates(x) gives every output that may be true."
    )
