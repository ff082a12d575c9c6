"""A bet against the model's own predictions: if it wins too much, the stream has changed.

Each answer y came with a predicted chance p. Whoever bets that relevant rows are rarer (or more common) than predicted
multiplies a stake by ``1 + bet * (y - q)``, where q is p moved by the slack against the bet; if the predictions are
right to within the slack, no bet grows on average. The stake starts again at 1 whenever it falls below, so that a long
good past does not hide a bad present (an e-CUSUM): while nothing changes, an alarm at level A comes at most once in A
answers on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.records import FloatArray, IntArray

BETS = np.array([-0.9, -0.5, 0.5, 0.9])


@dataclass(frozen=True, slots=True, eq=False)
class DriftWatch:
    """Stakes of four bets, and the round in which each last stood at 1.

    slack : how far a prediction may be off before it counts as wrong; a regularised model is never quite right
    """

    stakes: FloatArray
    since: IntArray
    slack: float

    @classmethod
    def new(cls, round: int, slack: float = 0.15) -> DriftWatch:
        """Start with nothing won."""
        return cls(np.ones(BETS.size), np.full(BETS.size, round), slack)

    def after(self, answers: IntArray, chances: FloatArray, round: int) -> DriftWatch:
        """Return the watch after some answers of a round, each with the chance that was predicted for it."""
        stakes, since = self.stakes.copy(), self.since.copy()
        against = np.sign(BETS) * self.slack
        for answer, chance in zip(answers.tolist(), chances.tolist(), strict=True):
            stakes *= 1.0 + BETS * (answer - np.clip(chance + against, 0.0, 1.0))
            fallen = stakes <= 1.0
            stakes[fallen], since[fallen] = 1.0, round
        return DriftWatch(stakes, since, self.slack)

    @property
    def stake(self) -> float:
        """Largest stake."""
        return float(self.stakes.max())

    @property
    def changed_in(self) -> int:
        """The round since which the winning bet has been winning."""
        return int(self.since[int(np.argmax(self.stakes))])
