"""What a sampler sees and does: the rows below the cut, and a way to ask about some of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riffler.records import BoolArray, FloatArray, IntArray

TINY = 1e-290  # weights that sum to less are 0: the scale of such would overflow

Ask = Callable[[IntArray, FloatArray], IntArray]
"""Ask for the labels of some rows, each with its inclusion probability; the answers are 1, 0 or -1 for unknown.

Where the budget ends, the answers are fewer than the rows: those of the first rows.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Below:
    """The rows of a batch that were not predicted, in any order.

    gaps : how far each lies below the last predicted row, in units of the spread of the scores; at least 0
    n_wanted : positives that the update has room for, the mistakes of the top (Delta)
    n_expected : labels that may be bought below the cut, in expectation (m); None leaves the weights unscaled
    floor : least probability of each row
    draws : a random number in [0, 1) for each row, keyed by seed, round and item
    """

    gaps: FloatArray
    n_wanted: int
    n_expected: float | None
    floor: float
    draws: FloatArray


class Sampler(Protocol):
    """Chooses which labels below the cut to ask for."""

    def sample(self, below: Below, ask: Ask) -> float:
        """Ask, and return the least probability with which any row below could have been asked; 0 if it is unknown."""
        ...


class WeightedSampler(ABC):
    """Asks for each row independently, with a probability in proportion to a weight that its gap decides."""

    @abstractmethod
    def weights(self, gaps: FloatArray) -> FloatArray:
        """Weight of each row, at least 0."""

    def sample(self, below: Below, ask: Ask) -> float:
        """Draw each row with its budgeted probability."""
        if below.gaps.size == 0:
            return 1.0
        probability = budgeted(self.weights(below.gaps), below.n_expected, below.floor)
        rows = np.flatnonzero(below.draws < probability)
        ask(rows, probability[rows])
        return float(probability.min())


def budgeted(weights: FloatArray, n_expected: float | None, floor: float = 0.0) -> FloatArray:
    """Probabilities ``min(1, floor + c * weight)`` whose sum is ``n_expected`` where that is possible.

    The floor is paid for out of the expected number; if the floor alone costs more, all rows get the floor. Rows that
    reach 1 leave their excess to the others. None as the number takes the weights for probabilities, unscaled.

    >>> budgeted(np.array([8.0, 1.0, 1.0]), n_expected=2)
    array([1. , 0.5, 0.5])
    >>> budgeted(np.array([8.0, 1.0, 1.0]), n_expected=1, floor=0.2).round(2)
    array([0.52, 0.24, 0.24])
    """
    if n_expected is None:
        return np.clip(weights, floor, 1.0)
    n = weights.size
    left = min(float(n_expected), float(n)) - floor * n
    if left <= 0:
        return np.full(n, floor)
    if not weights.any():  # all underflowed: nothing tells the rows apart
        weights = np.ones(n)
    room = 1.0 - floor
    total = float(weights.sum())
    scale = left / total if total > TINY else 0.0
    if scale * float(weights.max()) <= room:
        return floor + scale * weights
    full: BoolArray = np.zeros(n, dtype=bool)
    while True:
        over = (scale * weights > room) & ~full
        if not over.any():
            break
        full |= over
        rest = float(weights.sum(where=~full))
        scale = max(0.0, left - room * np.count_nonzero(full)) / rest if rest > TINY else 0.0
    probability: FloatArray = np.minimum(floor + scale * weights, 1.0)
    probability[full] = 1.0
    return probability
