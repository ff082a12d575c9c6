"""Stop after n irrelevant documents in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.errors import InputError
from riffler.ledger import RELEVANT
from riffler.stopping.progress import Decision, Heuristic, Progress


@dataclass(frozen=True, slots=True)
class InARow(Heuristic):
    """Stop when the last ``n`` documents that the policy proposed were all irrelevant. A heuristic."""

    needs_scores: ClassVar[bool] = False

    n: int = 100

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"n must be at least 1, got {self.n}.")

    def decide(self, progress: Progress) -> Decision:
        """Count what has been read since the last find."""
        ranked = progress.history().ranked
        finds = np.flatnonzero(ranked == RELEVANT)
        if not finds.size:
            return self.say(False, "Nothing relevant has been found yet.")
        dry = ranked.size - 1 - int(finds[-1])
        return self.say(
            dry >= self.n, f"{dry} irrelevant documents in a row; {self.n} are enough.", max(self.n - dry, 0)
        )
