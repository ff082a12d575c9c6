"""Where pairs are drawn from: all preference pairs of a set, and its points as pairs with the zero vector.

The shell of ``_fast/pair_draws``: it keeps which pairs were taken, and looks scores up that were worked out before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from riffler.errors import UnknownName
from riffler.losses.pairwise import PreferencePairs
from riffler.records import FloatArray, IntArray, Matrix

HARD_CANDIDATES = 10
"""How many times as many candidates a hard rule looks at as it takes."""

TRIES = 1000
"""Candidates for each pair wanted; where that many are not enough, the others are right by far."""

TRIES_AT_ONCE = 500_000
"""Candidates between two chances to interrupt; where none of them is accepted, no more are tried."""


@dataclass(frozen=True, slots=True)
class SamplingRule:
    """How candidates are chosen: ``code`` is their chance in the compiled loop, ``hard`` ranks them instead."""

    code: int
    hard: str | None = None


SAMPLINGS: dict[str, SamplingRule] = {
    "random": SamplingRule(0),
    "soft-close": SamplingRule(1),
    "soft-correct": SamplingRule(2),
    "hard-close": SamplingRule(0, "close"),
    "hard-correct": SamplingRule(0, "correct"),
}


def sampling_from(name: str) -> SamplingRule:
    """Turn a name into its rule.

    >>> sampling_from("soft-correct").code
    2
    """
    if name not in SAMPLINGS:
        raise UnknownName.among("sampling", name, SAMPLINGS)
    return SAMPLINGS[name]


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPairs:
    """Row numbers of pairs, -1 for the zero vector, how many candidates it took, and chance and margin of each.

    n_again : candidates that were accepted, but taken before; by_chance : whether chances decided, and nothing else
    """

    upper: IntArray
    lower: IntArray
    n_candidates: int
    chances: FloatArray
    margins: FloatArray
    n_again: int = 0
    by_chance: bool = True

    @property
    def rate(self) -> float:
        """Share of the candidates that were accepted."""
        return (len(self.upper) + self.n_again) / self.n_candidates


class PairPool:
    """The pairs of a set of rows that were not taken yet.

    weight : repetitions of each row; pairs are drawn in proportion to the weights of their rows. Where these differ, a
    pair may be taken again, as pairs of rows that stand there twice would be
    """

    def __init__(self, X: Matrix, pairs: PreferencePairs, weight: FloatArray, seed: int) -> None:
        from riffler._fast.rows import as_rows

        self._rows, self._pairs, self._seed = as_rows(X), pairs, seed
        self.compiled = _compiled_pool(pairs, weight[pairs.rows])
        self._weighted = len(self.compiled.reached) > 0
        self._scores = np.empty(len(pairs.rows))
        self._table = np.full(1024, -1, np.int64)
        self._taken: list[tuple[IntArray, IntArray]] = []
        self._n_candidates = 0

    @property
    def n_pairs(self) -> int:
        """Number of different pairs, points not counted."""
        return int(((self.compiled.stop - self.compiled.start) * (self.compiled.start - self.compiled.low)).sum())

    def all_pairs(self) -> DrawnPairs:
        """Every pair."""
        upper, lower = [], []
        for low, start, stop in zip(self.compiled.low, self.compiled.start, self.compiled.stop, strict=True):
            upper.append(np.repeat(np.arange(start, stop), start - low))
            lower.append(np.tile(np.arange(low, start), stop - start))
        rows, n = self._pairs.rows, self.n_pairs
        return DrawnPairs(rows[np.concatenate(upper)], rows[np.concatenate(lower)], n, np.ones(n), np.zeros(n))

    def draw(self, n: int, w: FloatArray, sampling: SamplingRule, rule: Any) -> DrawnPairs:  # noqa: ANN401
        """Draw at most n pairs by their margins under w, not taken before (points may be, and pairs by weight)."""
        from riffler._fast.pair_draws import accept_pairs, forget_pairs, take_pairs

        self._scores.fill(np.nan)
        n_looked_at = n if sampling.hard is None else HARD_CANDIDATES * n
        self._make_room(n_looked_at)
        upper, lower, margins, chances = (np.empty(n_looked_at, kind) for kind in (np.int32, np.int32, float, float))
        rule = rule._replace(again=self._weighted and sampling.hard is None)
        place = self._rows, self.compiled, rule, w, self._scores, self._seed
        n_done = n_candidates = n_again = 0
        while n_done < n_looked_at and n_candidates < TRIES * n_looked_at:
            n_tries = min(TRIES_AT_ONCE, TRIES * n_looked_at - n_candidates)
            rest = [of_pairs[n_done:] for of_pairs in (upper, lower, margins, chances)]
            found = accept_pairs(*place, self._n_candidates + n_candidates, n_tries, self._table, *rest)
            n_done, n_candidates, n_again = n_done + found[0], n_candidates + found[1], n_again + found[2]
            if found[0] == 0:
                break
        self._n_candidates += n_candidates
        chosen = np.arange(n_done)
        if sampling.hard is not None:
            forget_pairs(len(self._pairs.rows), upper[:n_done], lower[:n_done], self._table)
            # points may come twice
            chosen = np.unique(np.stack([upper[:n_done], lower[:n_done]]), axis=1, return_index=True)[1]
            measure = np.abs(margins[chosen]) if sampling.hard == "close" else margins[chosen]
            chosen = chosen[np.argsort(measure, kind="stable")[:n]]
            take_pairs(len(self._pairs.rows), upper[chosen], lower[chosen], self._table)
        self._taken.append((upper[chosen], lower[chosen]))
        drawn = self._rows_at(upper[chosen]), self._rows_at(lower[chosen])
        return DrawnPairs(*drawn, n_candidates, chances[chosen], margins[chosen], n_again, sampling.hard is None)

    def _make_room(self, n_more: int) -> None:
        """Keep the table of taken pairs at most half full."""
        from riffler._fast.pair_draws import take_pairs

        wanted = 2 * (sum(len(upper) for upper, _ in self._taken) + n_more)
        if wanted > len(self._table):
            self._table = np.full(1 << int(np.ceil(np.log2(2 * wanted))), -1, np.int64)
            for upper, lower in self._taken:
                take_pairs(len(self._pairs.rows), upper, lower, self._table)

    def _rows_at(self, places: IntArray) -> IntArray:
        return np.where(places >= 0, self._pairs.rows[places], -1).astype(np.int32)


def _compiled_pool(pairs: PreferencePairs, weight: FloatArray) -> Any:  # noqa: ANN401 - a named tuple for numba
    from riffler._fast.pair_draws import Pool, alias_table

    n = len(pairs.rows)
    segments = np.flatnonzero((np.diff(pairs.rank, prepend=-1) != 0) | _marks(pairs.group_starts, n))
    ends = np.append(segments[1:], n)
    above = pairs.rank[segments] > 0
    start, stop = segments[above], ends[above]
    low = pairs.group_starts[np.searchsorted(pairs.group_starts, start, side="right") - 1]
    equal = bool((weight == weight[0]).all())
    before = np.arange(n + 1.0) if equal else np.concatenate(([0.0], np.cumsum(weight)))
    shares = (before[stop] - before[start]) * (before[start] - before[low])
    keep, alias = np.empty(len(start)), np.empty(len(start), np.int64)
    alias_table(shares / shares.sum(), keep, alias)
    points = np.argsort(pairs.rank > 0, kind="stable").astype(np.int32)
    none = np.empty(0)
    of_points = none if equal else np.concatenate(([0.0], np.cumsum(weight[points])))
    n_lower = int(np.count_nonzero(pairs.rank == 0))
    return Pool(pairs.rows, low, start, stop, keep, alias, none if equal else before, points, n_lower, of_points)


def _marks(places: IntArray, n: int) -> Any:  # noqa: ANN401 - a boolean array
    marked = np.zeros(n + 1, dtype=bool)
    marked[places] = True
    return marked[:n]
