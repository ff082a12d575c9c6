"""Stop when a fixed number of documents has been read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from riffler.errors import InputError
from riffler.stopping.progress import Decision, Heuristic, Progress


@dataclass(frozen=True, slots=True)
class FixedBudget(Heuristic):
    """Stop when ``n`` documents have been read. A heuristic."""

    needs_scores: ClassVar[bool] = False

    n: int = 1000

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"n must be at least 1, got {self.n}.")

    def decide(self, progress: Progress) -> Decision:
        """Compare what has been read with the budget."""
        n_read, enough = progress.history().answer.size, min(self.n, progress.n_items)
        return self.say(n_read >= enough, f"{n_read} documents read; the budget is {enough}.", max(enough - n_read, 0))
