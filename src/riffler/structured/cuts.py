"""Cuts of many examples at once, one a row of a sparse matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.structured.cutting_plane import Plane
from riffler.structured.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Cut c has slopes ``values[starts[c]:starts[c + 1]]`` at these ``indices``, none of which stands twice."""

    values: FloatArray
    indices: IntArray
    starts: IntArray
    offsets: FloatArray

    def __len__(self) -> int:
        return len(self.offsets)

    def heights(self, weights: FloatArray) -> FloatArray:
        """Give the bound of each cut at some weights."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        sums = np.bincount(owners, weights=self.values * weights[self.indices], minlength=len(self))
        return self.offsets - sums

    def chosen(self, places: IntArray) -> Cuts:
        """Give some of the cuts, in this order."""
        lengths = np.diff(self.starts)[places]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(self.starts[places] - starts[:-1], lengths) + np.arange(starts[-1])
        return Cuts(self.values[entries], self.indices[entries], starts, self.offsets[places])

    def sum(self, shares: FloatArray, n_weights: int) -> Plane:
        """Give the sum of the cuts, each times its share."""
        steps = np.repeat(shares, np.diff(self.starts)) * self.values
        slopes: FloatArray = np.zeros(n_weights)
        np.add.at(slopes, self.indices, steps)
        return Plane(slopes, float(shares @ self.offsets))


NO_CUTS = Cuts(np.empty(0), np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0))


@runtime_checkable
class ManyCuts(Protocol):
    """A problem that gives the cuts of many examples at once."""

    def cuts(self, examples: IntArray, weights: FloatArray) -> Cuts:
        """Give the cut of each of these examples."""
        ...


def cuts_of(problem: Problem, examples: IntArray, weights: FloatArray) -> Cuts:
    """Ask some examples for their most violating outputs: all at once where the problem can, else one by one."""
    if isinstance(problem, ManyCuts):
        return problem.cuts(examples, weights)
    found = [problem.cut(int(example), weights) for example in examples]
    starts = np.cumsum([0, *(len(cut.indices) for cut in found)])
    values = np.concatenate([cut.values for cut in found])
    indices = np.concatenate([cut.indices for cut in found])
    return Cuts(values, indices, starts, np.array([cut.offset for cut in found]))


def joined(first: Cuts, second: Cuts) -> Cuts:
    """Give all cuts of both, one after the other."""
    return Cuts(
        np.concatenate([first.values, second.values]),
        np.concatenate([first.indices, second.indices]),
        np.concatenate([first.starts, first.starts[-1] + second.starts[1:]]),
        np.concatenate([first.offsets, second.offsets]),
    )
