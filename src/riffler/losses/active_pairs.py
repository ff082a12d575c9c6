"""The preference pairs of margin below 1, as sums over the partners of each row; the shell of ``_fast/pair_sums``.

Memory that is used for the first time costs ten times what these loops cost, so a point's arrays go back on a shelf
when it is dropped and serve the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riffler.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _PointArrays:
    """What is known of each row at some scores, by position in the sorted order."""

    order: IntArray
    scores: FloatArray
    weight: FloatArray
    levels: IntArray
    reach: IntArray  # for two levels
    n_partners: FloatArray  # weight of the active ones
    net: FloatArray  # of those above less that of those below

    @classmethod
    def of(cls, n: int) -> _PointArrays:
        """New arrays for n rows."""
        integers = [np.empty(n, np.int32) for _ in range(3)]
        floats = [np.empty(n) for _ in range(4)]
        return cls(integers[0], floats[0], floats[1], integers[1], integers[2], floats[2], floats[3])


def level_starts(rank: IntArray) -> IntArray:
    """Where levels start, and the end; the last level of a group is not the first of the next.

    >>> level_starts(np.array([0, 0, 1, 0, 1, 2]))
    array([0, 2, 3, 4, 5, 6])
    """
    return np.concatenate([[0], np.flatnonzero(rank[1:] != rank[:-1]) + 1, [len(rank)]])


class PairArrays:
    """The rows with pairs as the compiled loops want them, workspaces, and the shelf.

    rows, group_starts, rank : rows by (group, level), where groups start, and each row's level, from 0 in its group
    """

    def __init__(self, rows: IntArray, group_starts: IntArray, rank: IntArray, weight: FloatArray) -> None:
        n = len(rows)
        self.rows, self.weight = rows, weight
        self.n_levels = int(rank.max()) + 1
        # two levels are sorted each by itself, more of them together
        self.starts = level_starts(rank) if self.n_levels == 2 else group_starts
        self._rank = rank
        self.for_sorting = np.empty((3, n), np.uint32)
        self.running = np.empty(n + 1) if self.n_levels == 2 else np.empty(self.n_levels + 2)
        self.weighted, self.sums, self.more_sums = np.empty(n), np.empty(n), np.empty(n)
        self.shelf: list[_PointArrays] = []

    @cached_property
    def level_of_row(self) -> IntArray:
        """The level of each row by its number."""
        levels = np.zeros(len(self.weight), np.int32)
        levels[self.rows] = self._rank
        return levels

    def weight_in_order(self, scores: FloatArray, group_starts: IntArray) -> float:
        """Weight of the pairs whose upper row scores higher, ties by half."""
        from riffler._fast import pair_sums
        from riffler._fast.score_order import sort_in_groups

        here = self.shelf.pop() if self.shelf else _PointArrays.of(len(self.rows))
        given = np.ascontiguousarray(scores, np.float64)
        sort_in_groups(given, self.rows, group_starts, self.for_sorting, here.order, here.scores)
        pair_sums.look_up(self.weight, here.order, here.weight)
        pair_sums.look_up(self.level_of_row, here.order, here.levels)
        tree = np.empty(self.n_levels + 2)
        found = pair_sums.weight_in_order(here.weight, here.scores, here.levels, group_starts, tree)
        self.shelf.append(here)
        return float(found)


class ActivePairs:
    """The pairs of margin below 1 at some scores."""

    def __init__(self, arrays: PairArrays, scores: FloatArray) -> None:
        from riffler._fast import pair_sums
        from riffler._fast.score_order import sort_in_groups

        self._arrays = arrays
        self._here = here = arrays.shelf.pop() if arrays.shelf else _PointArrays.of(len(arrays.rows))
        given = np.ascontiguousarray(scores, np.float64)
        sort_in_groups(given, arrays.rows, arrays.starts, arrays.for_sorting, here.order, here.scores)
        pair_sums.look_up(arrays.weight, here.order, here.weight)
        if arrays.n_levels == 2:
            pair_sums.find_reach(here.scores, arrays.starts, here.reach)
            self._two_levels(here.weight, here.n_partners)
            pair_sums.net_of_two_levels(here.n_partners, arrays.starts, here.net)
        else:
            pair_sums.look_up(arrays.level_of_row, here.order, here.levels)
            self._many_levels(here.weight, here.net, here.n_partners)
            np.subtract(here.net, here.n_partners, out=here.net)
            here.n_partners[:] = here.net + 2.0 * here.n_partners

    def shortfall(self) -> float:
        """Sum of 1 - margin over the active pairs."""
        from riffler._fast.pair_sums import shortfall

        here = self._here
        middle = here.scores[len(here.scores) // 2]
        return float(shortfall(here.scores, middle, here.weight, here.n_partners, here.net))

    def write_partners(self, scale: float, out: FloatArray) -> None:
        """Write ``scale`` times the weight of each row's active pairs."""
        from riffler._fast.pair_sums import write_partners

        write_partners(self._here.order, self._here.weight, self._here.n_partners, scale, out)

    def write_spread(self, values: FloatArray, scale: float, out: FloatArray) -> None:
        """Write ``scale`` times the sum, over a row's active partners, of its difference in value to them."""
        from riffler._fast import pair_sums

        arrays, here = self._arrays, self._here
        given = np.ascontiguousarray(values, np.float64)
        # columns far from 0 shift all values by so much that sums would keep few digits of their differences
        middle = given[here.order[len(here.order) // 2]]
        pair_sums.weighted_by_position(given, middle, here.order, here.weight, arrays.weighted)
        if arrays.n_levels == 2:
            self._two_levels(arrays.weighted, arrays.sums)
        else:
            self._many_levels(arrays.weighted, arrays.sums, arrays.more_sums)
            arrays.sums[:] += arrays.more_sums
        pair_sums.write_spread(here.order, here.weight, here.n_partners, arrays.weighted, arrays.sums, scale, out)

    def add_pull(self, scale: float, out: FloatArray) -> None:
        """Add ``scale`` times the weight of the pairs in which a row is the lower one less that where it is upper."""
        from riffler._fast.pair_sums import add_pull

        add_pull(self._here.order, self._here.weight, self._here.net, scale, out)

    def _two_levels(self, values: FloatArray, out: FloatArray) -> None:
        from riffler._fast.pair_sums import sums_over_two_levels

        sums_over_two_levels(values, self._arrays.starts, self._here.reach, self._arrays.running, out)

    def _many_levels(self, values: FloatArray, above: FloatArray, below: FloatArray) -> None:
        from riffler._fast import pair_sums

        place = self._here.scores, self._here.levels, self._arrays.starts, self._arrays.running
        pair_sums.sums_over_levels_above(values, *place, above)
        pair_sums.sums_over_levels_below(values, *place, below)

    def __del__(self) -> None:
        if hasattr(self, "_here") and len(self._arrays.shelf) < 2:
            self._arrays.shelf.append(self._here)
