"""The active modified perceptron (Dasgupta, Kalai and Monteleoni 2009): ask near the threshold, and draw it in."""

from __future__ import annotations

from typing import Any

import numpy as np

from riffler.errors import InputError
from riffler.features.blocks import Scaling
from riffler.learners.active import first_scaling
from riffler.learners.asking import OpenBatch
from riffler.learners.online import OnlineRanker, OnlineWeights, ask_one
from riffler.records import FloatArray, Matrix


class _Weights(OnlineWeights):
    """A unit vector, the margin within which rows are asked for, and how many answers in a row agreed."""

    def __init__(self, scaling: Scaling, threshold: float) -> None:
        super().__init__(scaling)
        self.threshold = threshold
        self.n_right = 0


class ActiveModifiedPerceptron(OnlineRanker):
    """Ask for every row within a threshold of the hyperplane; reflect w on a mistake, halve the threshold on a streak.

    Rows x (a constant column 1 included) are scaled to norm 1 and w starts as the first labelled row, with its sign:

        ask if    |w . x| <= threshold
        wrong:    w = w - 2 (w . x) x                   (its norm stays 1)
        right:    ``patience`` times in succession:     threshold = threshold / 2

    Which rows are asked is certain given the past: nothing can be estimated from such a ledger. The threshold never
    grows again, so noisy labels near the hyperplane leave it where it is.

    Parameters
    ----------
    k : int
        Rows of each batch that are predicted.
    patience : int
        Right answers in succession before the threshold is halved.
    threshold : float or None
        The first threshold; None takes ``1 / sqrt(columns + 1)``.
    scaling : "standard", "center" or "none"
        How columns are shifted and scaled before, by the rows of the first batch; sparse columns are never shifted.
    random_state : int, RandomState or None
        Breaks ties of the predicted top.

    Attributes
    ----------
    n_rounds_ : int
        Batches seen.
    weights_ : what was learned: ``weights_.scorer.weights`` of the scaled columns, ``weights_.bias`` of the constant,
        ``weights_.threshold`` and ``weights_.n_updates``

    Examples
    --------
    >>> from riffler import ArrayOracle
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 3))
    >>> y = (X.sum(axis=1) > 1.5).astype(int)
    >>> oracle, ranker = ArrayOracle(y), ActiveModifiedPerceptron(k=50, random_state=0)
    >>> steps = [ranker.step(X[start : start + 2000], oracle) for start in range(0, 20_000, 2000)]
    >>> float(y[18_000:][steps[-1].predicted].mean()) > 0.9, oracle.n_asked < 2000
    (True, True)
    """

    def __init__(
        self,
        k: int = 50,
        *,
        patience: int = 32,
        threshold: float | None = None,
        scaling: str = "standard",
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.patience = patience
        self.threshold = threshold
        self.scaling = scaling
        self.random_state = random_state

    weights_: _Weights

    def _check_settings(self) -> None:
        self._check_k()
        self._check_scaling()
        if not isinstance(self.patience, int | np.integer) or self.patience < 1:
            raise InputError(f"patience must be a whole number of at least 1, got {self.patience!r}.")
        if self.threshold is not None and not self.threshold > 0:
            raise InputError(f"threshold must be above 0 or None, got {self.threshold!r}.")

    def _begin(self, X: Matrix) -> None:
        self._seed = self._new_seed()
        first = 1.0 / np.sqrt(X.shape[1] + 1) if self.threshold is None else float(self.threshold)
        self.weights_ = _Weights(first_scaling(X, self.scaling), first)

    def _scores(self, X: Matrix) -> FloatArray:
        scores: FloatArray = self.weights_.margins(X) / np.sqrt(self.weights_.squares(X))
        return scores

    def _walk(self, batch: OpenBatch, weights: _Weights) -> float:
        from riffler._fast.online import next_near
        from riffler._fast.rows import as_rows

        rows, norms = as_rows(batch.X), np.sqrt(weights.squares(batch.X))
        at = 0
        while True:
            at, cosine = next_near(rows, at, weights.v, weights.offset, norms, weights.threshold)
            sign = ask_one(batch, at, 1.0) if at < norms.size else None
            if sign is None:
                return 0.0
            if sign * cosine > 0:
                weights.n_right += 1
            elif sign != 0:
                self._correct(weights, batch.X, at, sign, cosine, float(norms[at]))
                weights.n_right = 0
            if weights.n_right >= self.patience:
                weights.threshold /= 2
                weights.n_right = 0
            at += 1

    def _correct(self, weights: OnlineWeights, X: Matrix, row: int, sign: float, cosine: float, norm: float) -> None:
        started = weights.n_updates > 0
        weights.add(X, row, (-2.0 * cosine if started else sign) / norm)
