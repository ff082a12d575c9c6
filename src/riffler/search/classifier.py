"""The classifier step of a search: a linear model of the labelled rows, refitted from where it was.

Refitting costs the non-zeros of the labelled rows, whatever the size of the collection; then one pass scores the pool.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from riffler.engine import Engine
from riffler.errors import InputError, UnknownName
from riffler.records import FloatArray, IntArray
from riffler.search.costs import Costs, SideCosts
from riffler.search.row_store import RowStore
from riffler.search.similarity_store import MOST_BYTES, SimilarityStore

LOSSES = {"logistic": 1, "squared_hinge": 0}
LEAST_PASSES, MOST_PASSES = 1, 50
LEAST_ROWS = 2000  # for which a store of similarities must have room
FITS_BETWEEN_SUMS = 64  # rounding adds up in weights that are only ever changed


class WarmClassifier:
    """L2 logistic regression or squared-hinge SVM by dual coordinate descent, started where the last labels left it.

    Parameters
    ----------
    engine : the collection's rows
    loss : "squared_hinge" or "logistic"
    costs : price of a mistake about each row, as scikit-learn's C
    tolerance : float
        Largest step, in units of a row's norm, at which a fit ends.
    store : how rows are kept for training; None takes what suits the size of the collection

    >>> from riffler.engine import LocalEngine
    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
    >>> scores = WarmClassifier(LocalEngine([rows])).fit(np.array([0, 1]), np.array([1, 0]))
    >>> bool(scores[2] > scores[1])
    True
    """

    def __init__(
        self,
        engine: Engine,
        *,
        loss: str = "squared_hinge",
        costs: Costs = SideCosts(),  # noqa: B008 - frozen
        tolerance: float = 0.03,
        store: RowStore | SimilarityStore | None = None,
    ) -> None:
        if loss not in LOSSES:
            raise UnknownName.among("loss of a search classifier", loss, LOSSES)
        if not tolerance > 0:
            raise InputError(f"tolerance must be above 0, got {tolerance!r}.")
        self._loss, self._costs, self._tolerance = LOSSES[loss], costs, tolerance
        self._engine = engine
        self._store = store or (SimilarityStore(engine) if _is_small(engine) else RowStore(engine))
        self._alpha: FloatArray = np.empty(0)
        self._signs: FloatArray = np.empty(0)  # 0 for a row that is gathered and not in the present fit
        self._weights: FloatArray = np.zeros(self._store.n_weights + 1)
        self._n_fits = 0

    def copy(self) -> WarmClassifier:
        """Return a classifier that goes on by itself from here."""
        twin = copy(self)
        twin._store = self._store.copy()
        twin._alpha, twin._weights = self._alpha.copy(), self._weights.copy()
        return twin

    @property
    def weights(self) -> FloatArray:
        """Weights of the store's columns and, last, the intercept."""
        return self._weights

    def column_weights(self) -> FloatArray:
        """Return the weight of each column of the features, however the rows are kept."""
        if isinstance(self._store, RowStore):
            return self._weights[:-1].copy()
        used = np.flatnonzero(self._alpha)
        rows = self._engine.rows(self._store.numbers[used])
        weights: FloatArray = rows.T @ (self._alpha[used] * self._signs[used])
        return weights

    def fit(self, numbers: IntArray, labels: IntArray, presumed: IntArray | None = None) -> FloatArray:
        """Learn from labelled rows, and from some presumed irrelevant for this once; return the scores of all rows."""
        self.learn(numbers, labels, presumed)
        scores = self._store.scores(self._weights)
        if isinstance(self._store, SimilarityStore) and self._store.full:
            self._outgrow(self._store)
        return scores

    def learn(self, numbers: IntArray, labels: IntArray, presumed: IntArray | None = None) -> None:
        """Bring the weights up to date; it costs what the labelled rows cost, whatever the size of the collection."""
        from riffler._fast.dual import descend

        presumed = np.empty(0, dtype=np.int64) if presumed is None else presumed
        n_before = self._store.n_rows
        places = self._store.places(np.concatenate([numbers, presumed]))
        signs = np.zeros(self._store.n_rows)
        signs[places[: numbers.size]] = np.where(labels > 0, 1.0, -1.0)
        signs[places[numbers.size :]] = -1.0
        self._leave(signs)
        cost = np.zeros(signs.size)
        cost[places] = self._costs.of(labels, presumed.size)
        if self._loss == LOSSES["logistic"]:
            self._shrink(cost)
        # most of what was learned before still holds: few passes, unless much is new
        n_passes = max(LEAST_PASSES, int(MOST_PASSES * (signs.size - n_before) / places.size))
        descend(
            self._store.rows, signs, cost, self._store.squares, places, self._alpha, self._weights, self._loss,
            n_passes, self._tolerance, numbers.size,
        )  # fmt: skip
        self._n_fits += 1

    def _outgrow(self, store: SimilarityStore) -> None:
        """Go on with the rows themselves."""
        from riffler._fast.dual import rebuild

        self._store = RowStore(self._engine)
        self._store.places(store.numbers)
        self._weights = np.zeros(self._store.n_weights + 1)
        rebuild(self._store.rows, self._signs, self._alpha, np.flatnonzero(self._alpha), self._weights)

    def _leave(self, signs: FloatArray) -> None:
        """Take rows that have left, or changed sides, out of the weights; now and then add up all of them anew."""
        from riffler._fast.dual import rebuild

        n_new = signs.size - self._signs.size
        before = np.concatenate([self._signs, np.zeros(n_new)])
        alpha = np.concatenate([self._alpha, np.zeros(n_new)])
        gone = np.flatnonzero((before != signs) & (alpha != 0))
        if gone.size:
            self._move(gone, before, -alpha[gone])
        alpha[gone] = 0.0
        self._alpha, self._signs = alpha, signs
        if self._n_fits % FITS_BETWEEN_SUMS == FITS_BETWEEN_SUMS - 1:
            rebuild(self._store.rows, signs, alpha, np.flatnonzero(alpha), self._weights)

    def _shrink(self, cost: FloatArray) -> None:
        """A logistic coefficient lies between 0 and the row's cost, which may have shrunk."""
        over = np.flatnonzero(self._alpha > cost)
        self._move(over, self._signs, cost[over] - self._alpha[over])
        self._alpha[over] = cost[over]

    def _move(self, places: IntArray, signs: FloatArray, steps: FloatArray) -> None:
        from riffler._fast.dual import add_rows

        add_rows(self._store.rows, places, signs[places] * steps, self._weights)


def _is_small(engine: Engine) -> bool:
    """Whether there is room for some thousand rows of similarities."""
    return 4 * engine.n_rows * LEAST_ROWS <= MOST_BYTES
