"""What the online perceptrons share: weights that change within a batch, and a pass over labels that are all known.

They classify around a threshold, and relevant rows are rare, so a hyperplane through the mean of the rows would not do:
every row has one more column, the constant 1, whose weight is the ``bias``. Nothing is appended to any matrix.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from typing import Any

import numpy as np

from riffler.errors import UnknownName
from riffler.features.blocks import Scaling
from riffler.learners.active import SCALINGS, ActiveRanker, first_scaling
from riffler.learners.asking import OpenBatch
from riffler.learners.checks import TrainingSet
from riffler.ledger import IRRELEVANT, RELEVANT, UNKNOWN
from riffler.records import FloatArray, IntArray, Matrix
from riffler.scorers.linear import LinearScorer

SIGNS = {RELEVANT: 1, IRRELEVANT: -1, UNKNOWN: 0}


class OnlineWeights:
    """Weights of the scaled columns and of the constant, with their folded form at hand: ``x . v + offset``."""

    def __init__(self, scaling: Scaling) -> None:
        self.scorer = LinearScorer(scaling)
        self.bias = 0.0
        self.n_updates = 0
        self._fold()

    def add(self, X: Matrix, row: int, amount: float) -> None:
        """Add a multiple of one scaled row, its constant included."""
        self.scorer.add(X[row : row + 1], np.array([amount]))
        self.bias += amount
        self.n_updates += 1
        self._fold()

    def _fold(self) -> None:
        folded, offset = self.scorer.scaling.fold(self.scorer.weights[:, None])
        self.v, self.offset = np.ascontiguousarray(folded[:, 0]), float(offset[0]) + self.bias

    def margins(self, X: Matrix) -> FloatArray:
        """Signed distance of each row from the hyperplane, times the norm of the weights."""
        from riffler._fast.rows import as_rows, scores_of_all

        margins = np.empty(X.shape[0])
        scores_of_all(as_rows(X), X.shape[0], self.v, margins)
        return margins + self.offset

    def squares(self, X: Matrix) -> FloatArray:
        """Squared norm of each scaled row, its constant included."""
        from riffler._fast.online import scaled_squares
        from riffler._fast.rows import as_rows

        scaling = self.scorer.scaling
        center = np.zeros(X.shape[1]) if scaling.center is None else scaling.center
        squares = np.empty(X.shape[0])
        scaled_squares(as_rows(X), center, scaling.scale, squares)
        return squares + 1.0


class OnlineRanker(ActiveRanker):
    """A perceptron that walks a batch row by row and may change after each label; rows come in the order given.

    With labels that are all known every mistake corrects the weights; ``fit`` takes the rows in random order, once.
    """

    scaling: str
    weights_: OnlineWeights

    def _learn_all(self, data: TrainingSet) -> None:
        """Learn in one pass over the rows in random order."""
        self._begin(data.X)
        self._correct_mistakes(data.X, data.labels, np.random.RandomState(self._seed).permutation(data.X.shape[0]))
        self._close_known(data, 1)

    def _learn_known(self, X: Matrix, labels: IntArray, number: int) -> None:
        self._correct_mistakes(X, labels, np.arange(X.shape[0]))

    def _correct_mistakes(self, X: Matrix, labels: IntArray, order: IntArray) -> None:
        from riffler._fast.online import next_mistake
        from riffler._fast.rows import as_rows

        rows, signs, weights = as_rows(X), 2.0 * labels - 1.0, self.weights_
        norms = np.sqrt(weights.squares(X))
        at = 0
        while True:
            at, margin = next_mistake(rows, order, at, signs, weights.v, weights.offset)
            if at == order.size:
                break
            row = int(order[at])
            self._correct(weights, X, row, float(signs[row]), margin / norms[row], float(norms[row]))
            at += 1

    def _begin(self, X: Matrix) -> None:
        self._seed = self._new_seed()
        self.weights_ = OnlineWeights(first_scaling(X, self.scaling))

    def _check_scaling(self) -> None:
        if self.scaling not in SCALINGS:
            raise UnknownName.among("scaling", self.scaling, SCALINGS)

    def _ask(self, batch: OpenBatch) -> float:
        batch.memo = deepcopy(self.weights_)  # what is learned on the way counts when everything was asked
        return self._walk(batch, batch.memo)

    def _learn(self, batch: OpenBatch) -> None:
        self.weights_ = batch.memo

    @abstractmethod
    def _walk(self, batch: OpenBatch, weights: Any) -> float:  # noqa: ANN401 - the weights of the subclass
        """Ask row by row, correct these weights after each mistake, and return the least chance of any row."""

    @abstractmethod
    def _correct(self, weights: OnlineWeights, X: Matrix, row: int, sign: float, cosine: float, norm: float) -> None:
        """Learn from one row on the wrong side: ``cosine`` is its margin over its norm."""


def ask_one(batch: OpenBatch, row: int, probability: float) -> int | None:
    """Ask about one row: 1 for relevant, -1 for irrelevant, 0 for unknown; None where the budget has ended."""
    answers = batch.ask(np.array([row]), probability, "sample")
    return SIGNS[int(answers[0])] if answers.size else None
