"""Maximal marginal relevance: relevant, and unlike what is chosen or found already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.engine import Engine
from riffler.errors import InputError
from riffler.records import BoolArray, FloatArray, IntArray, Matrix, is_sparse
from riffler.search.view import SearchView

FIRST_LOOK = 256  # candidates whose likeness is computed at first; then twice as many, if there may be better ones


@dataclass(frozen=True, slots=True)
class MaximalMarginalRelevance:
    """The item of the largest λ · π_i − (1 − λ) · max_j cos⁺(x_i, x_j), then the next, given those chosen.

    j runs over the items chosen before and all found relevant; π_i is the score, scaled so that unreviewed items lie
    between 0 and 1, and cos⁺ the cosine, or 0 where that is negative. λ · π_i bounds the value from above, so likeness
    is computed only for items whose bound reaches the best value; the choice is as if it were computed for all.

    Parameters
    ----------
    relevance : float in [0, 1]
        λ: 1 is the greedy policy, 0 looks for what is unlike everything found.

    >>> from riffler.engine import LocalEngine
    >>> from riffler.search.ranking import Scores
    >>> none = np.empty(0, dtype=np.int64)
    >>> rows = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    >>> view = SearchView(
    ...     LocalEngine([rows]), ranking=Scores(np.array([2.0, 1.9, 1.0])), reviewed=np.zeros(3, dtype=bool),
    ...     items=none, answers=none, rounds=none, round=0, rng=np.random.default_rng(0),
    ... )
    >>> MaximalMarginalRelevance(0.5).propose(view, 2).tolist()
    [0, 2]
    """

    relevance: float = 0.8

    def __post_init__(self) -> None:
        if not 0 <= self.relevance <= 1:
            raise InputError(f"relevance must be between 0 and 1, got {self.relevance!r}.")

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return at most n items in the order they were chosen."""
        pool = view.pool(n)
        free = np.flatnonzero(~pool.excluded)
        bounds = self.relevance * spread_out(pool.scores[free])
        falling = np.lexsort((free if pool.ties is None else pool.ties[free], -bounds))
        looked = _Looked(view, pool.items_of(free[falling]), bounds[falling], 1.0 - self.relevance)
        chosen = [looked.take_best() for _ in range(min(n, free.size))]
        return np.array(chosen, dtype=np.int64)


class _Looked:
    """Candidates in falling order of their bound, of which the first so many have been looked at closely."""

    def __init__(self, view: SearchView, items: IntArray, bounds: FloatArray, price: float) -> None:
        self._engine, self._items, self._bounds, self._price = view.engine, items, bounds, price
        self._ties = items if view.ties is None else view.ties[items]
        self._known = view.relevant  # what is found, and then what is chosen
        self._likeness: FloatArray = np.empty(0)
        self._open: BoolArray = np.empty(0, dtype=bool)
        self._rows: Matrix = unit_rows(self._engine, items[:0])

    def take_best(self) -> int:
        """Return the item of the largest value, and remember it as chosen."""
        while True:
            size = self._likeness.size
            values = np.where(self._open, self._bounds[:size] - self._price * self._likeness, -np.inf)
            best = values.max(initial=-np.inf)
            if size == self._items.size or best > self._bounds[size]:
                break
            self._look_further()
        equal = np.flatnonzero(values == best)
        at = int(equal[np.argmin(self._ties[equal])])
        self._choose(at)
        return int(self._items[at])

    def _choose(self, at: int) -> None:
        self._open[at] = False
        self._known = np.append(self._known, self._items[at])
        if self._price > 0:
            self._likeness = np.maximum(self._likeness, likeness(self._rows, self._rows[[at]]))

    def _look_further(self) -> None:
        size = self._likeness.size
        new = self._items[size : max(FIRST_LOOK, 2 * size)]
        rows = unit_rows(self._engine, new)
        found = unit_rows(self._engine, self._known)
        parts = [likeness(rows[start : start + FIRST_LOOK], found) for start in range(0, new.size, FIRST_LOOK)]
        self._likeness = np.concatenate([self._likeness, *parts])
        self._open = np.append(self._open, np.ones(new.size, dtype=bool))
        self._rows = _stacked(self._rows, rows)


def spread_out(scores: FloatArray) -> FloatArray:
    """Scale scores to lie between 0 and 1; equal scores are all 0.

    >>> spread_out(np.array([-1.0, 0.0, 3.0])).tolist()
    [0.0, 0.25, 1.0]
    """
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    scaled: FloatArray = (scores - low) / (high - low) if high > low else np.zeros(scores.size)
    return scaled


def likeness(rows: Matrix, others: Matrix) -> FloatArray:
    """Largest cosine of each unit row to any of the others, at least 0.

    >>> likeness(np.eye(2), np.array([[0.6, 0.8], [-1.0, 0.0]])).tolist()
    [0.6, 0.8]
    """
    if others.shape[0] == 0:
        return np.zeros(rows.shape[0])
    products = rows @ others.T
    largest = products.max(axis=1)
    values = largest.toarray().ravel() if is_sparse(largest) else np.asarray(largest).ravel()
    # the last digits of a product depend on how many rows are multiplied at once
    positive: FloatArray = np.round(np.maximum(values, 0.0), 12)
    return positive


def unit_rows(engine: Engine, numbers: IntArray) -> Matrix:
    """Gather rows of the collection in double precision, divided by their length; a row of zeros stays one."""
    rows = engine.rows(numbers).astype(np.float64)
    squares = rows.multiply(rows).sum(axis=1) if is_sparse(rows) else np.einsum("ij,ij->i", rows, rows)
    length = np.sqrt(np.asarray(squares).ravel())
    length[length == 0] = 1.0
    if is_sparse(rows):
        rows.data /= np.repeat(length, np.diff(rows.indptr))
        return rows
    dense: FloatArray = rows / length[:, None]
    return dense


def _stacked(above: Matrix, below: Matrix) -> Matrix:
    from scipy import sparse

    return sparse.vstack([above, below], format="csr") if is_sparse(above) else np.vstack([above, below])
