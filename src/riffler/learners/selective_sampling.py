"""The selective sampling perceptron (Cesa-Bianchi, Gentile and Zaniboni 2006): near the threshold, ask more often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from riffler.errors import InputError
from riffler.features.blocks import Scaling
from riffler.learners.active import first_scaling
from riffler.learners.asking import OpenBatch
from riffler.learners.online import OnlineRanker, OnlineWeights, ask_one
from riffler.records import FloatArray, Matrix


@dataclass(frozen=True, slots=True)
class AdaptiveB:
    """``b = beta * X^2 * sqrt(1 + updates)``, with X the largest norm of a row so far: as margins grow, so does b.

    A margin is at most ``X^2 * sqrt(updates)``, so every row is asked for with at least ``beta / (1 + beta)``.
    """

    beta: float = 0.01

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise InputError(f"beta must be above 0, got {self.beta!r}.")


class _Weights(OnlineWeights):
    """Weights that also know the largest squared norm of a row so far."""

    def __init__(self, scaling: Scaling) -> None:
        super().__init__(scaling)
        self.largest_square = 0.0

    def add(self, X: Matrix, row: int, amount: float) -> None:
        """Add a multiple of one scaled row; rows with known labels count for the largest norm too."""
        self.largest_square = max(self.largest_square, float(self.squares(X[row : row + 1])[0]))
        super().add(X, row, amount)


class SelectiveSamplingPerceptron(OnlineRanker):
    """Ask for a row's label with probability ``b / (b + |margin|)``; a queried row on the wrong side is added to w.

    It is a classifier, not made for the top: rows are walked in the order given and w changes within a batch. The
    batch's top k is predicted by the weights before it. With ``b`` infinite it is the perceptron with all labels. What
    was missed can be estimated with ``AdaptiveB`` only: it alone keeps a least probability.

    Parameters
    ----------
    k : int
        Rows of each batch that are predicted.
    b : float or AdaptiveB
        The margin at which every second row is asked for, or the rule by which it grows.
    scaling : "standard", "center" or "none"
        How columns are shifted and scaled, by the rows of the first batch; sparse columns are never shifted. A
        constant column 1 is always added.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_rounds_ : int
        Batches seen.
    weights_ : what was learned: ``weights_.scorer.weights`` of the scaled columns, ``weights_.bias`` of the constant,
        and ``weights_.n_updates``

    Examples
    --------
    >>> from riffler import ArrayOracle
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(20_000) < 0.1).astype(int)
    >>> X = rng.normal(size=(20_000, 3)) + 2 * y[:, None]
    >>> oracle, ranker = ArrayOracle(y), SelectiveSamplingPerceptron(k=50, random_state=0)
    >>> steps = [ranker.step(X[start : start + 2000], oracle) for start in range(0, 20_000, 2000)]
    >>> float(y[18_000:][steps[-1].predicted].mean()) > 0.9, oracle.n_asked < 4000
    (True, True)
    """

    def __init__(
        self,
        k: int = 50,
        *,
        b: float | AdaptiveB = 1.0,
        scaling: str = "standard",
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.b = b
        self.scaling = scaling
        self.random_state = random_state

    weights_: _Weights

    def _check_settings(self) -> None:
        self._check_k()
        self._check_scaling()
        if not isinstance(self.b, AdaptiveB) and not (isinstance(self.b, int | float) and self.b > 0):
            raise InputError(f"b must be a number above 0 or AdaptiveB(beta), got {self.b!r}.")

    def _begin(self, X: Matrix) -> None:
        self._seed = self._new_seed()
        self.weights_ = _Weights(first_scaling(X, self.scaling))

    def _scores(self, X: Matrix) -> FloatArray:
        return self.weights_.margins(X)

    def _walk(self, batch: OpenBatch, weights: _Weights) -> float:
        from riffler._fast.online import next_drawn
        from riffler._fast.rows import as_rows

        rows, n_rows = as_rows(batch.X), batch.X.shape[0]
        b = self._b_of_rows(batch.X, weights)
        at = 0
        while True:
            growth = np.sqrt(1.0 + weights.n_updates) if isinstance(self.b, AdaptiveB) else 1.0
            at, margin, chance = next_drawn(rows, at, weights.v, weights.offset, b, growth, batch.draws)
            sign = ask_one(batch, at, chance) if at < n_rows else None
            if sign is None:
                return self._floor()
            if sign != 0 and sign * margin <= 0:
                self._correct(weights, batch.X, at, sign, 0.0, 1.0)
            at += 1

    def _floor(self) -> float:
        """Least chance that is certain before any row is drawn; margins grow, so a fixed b keeps none."""
        if isinstance(self.b, AdaptiveB):
            return self.b.beta / (1.0 + self.b.beta)
        return 1.0 if self.b == np.inf else 0.0

    def _b_of_rows(self, X: Matrix, weights: _Weights) -> FloatArray:
        """Return b for each row, up to the growth by updates; the largest norm counts the rows up to this one."""
        if not isinstance(self.b, AdaptiveB):
            return np.full(X.shape[0], float(self.b))
        largest = np.maximum.accumulate(np.maximum(weights.squares(X), weights.largest_square))
        weights.largest_square = float(largest[-1])
        return self.b.beta * largest

    def _correct(self, weights: OnlineWeights, X: Matrix, row: int, sign: float, cosine: float, norm: float) -> None:
        weights.add(X, row, sign)
