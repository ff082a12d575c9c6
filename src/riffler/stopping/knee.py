"""The knee of the gain curve (Cormack and Grossman 2016): stop when the slope after it is far below that before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.ledger import RELEVANT
from riffler.records import IntArray
from riffler.stopping.progress import Decision, Heuristic, Progress


def slope_ratio(ranked: IntArray) -> float:
    """Return the slope before the knee over that after it.

    With R(i) relevant among the first i of n, the knee is the i farthest above the line from (0, 0) to (n, R(n)):
    (R(i) / i) / ((1 + R(n) - R(i)) / (n - i)).

    >>> slope_ratio(np.array([1] * 10 + [0] * 90))
    90.0
    """
    n = ranked.size
    if n < 2:
        return 0.0
    gain = np.cumsum(ranked == RELEVANT)
    depth = np.arange(1, n)
    knee = int(np.argmax(gain[:-1] * n - gain[-1] * depth)) + 1  # the distance from the line, times a constant
    before = gain[knee - 1] / knee
    return float(before * (n - knee) / (1 + gain[-1] - gain[knee - 1]))


@dataclass(frozen=True, slots=True)
class Knee(Heuristic):
    """Stop when the slope ratio reaches 156 - min(found, 150), at ``least`` documents or more. A heuristic."""

    needs_scores: ClassVar[bool] = False

    least: int = 1000

    def decide(self, progress: Progress) -> Decision:
        """Compare the slopes before and after the knee."""
        ranked = progress.history().ranked
        found = int(np.sum(ranked == RELEVANT))
        if found == 0:
            return self.say(False, "Nothing relevant has been found yet, so the curve has no knee.")
        ratio, enough = slope_ratio(ranked), 156 - min(found, 150)
        stop = ratio >= enough and ranked.size >= min(self.least, progress.n_items)
        return self.say(stop, f"The curve is {ratio:.1f} times steeper before its knee; {enough} are enough.")
