"""The budget rule: a knee, and as many documents as a random search for ten relevant ones would take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.ledger import RELEVANT
from riffler.stopping.knee import slope_ratio
from riffler.stopping.progress import Decision, Heuristic, Progress


@dataclass(frozen=True, slots=True)
class Budget(Heuristic):
    """Stop when the slope ratio is at least 6 and n >= 10 n_items / found, or at 3/4 of the collection. A heuristic."""

    needs_scores: ClassVar[bool] = False

    ratio: float = 6.0

    def decide(self, progress: Progress) -> Decision:
        """Compare what has been read with the budget that the finds allow."""
        history = progress.history()
        n_read, most = history.answer.size, 0.75 * progress.n_items
        if n_read >= most:
            return self.say(True, f"{n_read} of {progress.n_items} documents are read, three quarters.", 0)
        found = int(np.sum(history.ranked == RELEVANT))
        if found == 0:
            return self.say(False, "Nothing relevant has been found yet.")
        budget, ratio = 10 * progress.n_items / found, slope_ratio(history.ranked)
        reason = (
            f"{n_read} read, the budget is {min(budget, most):.0f}; slope ratio {ratio:.1f}, {self.ratio:g} is enough."
        )
        return self.say(ratio >= self.ratio and n_read >= budget, reason)
