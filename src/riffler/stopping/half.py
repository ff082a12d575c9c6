"""Stop at a share of the collection, by default half."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from riffler.errors import InputError
from riffler.stopping.progress import Decision, Heuristic, Progress


@dataclass(frozen=True, slots=True)
class Half(Heuristic):
    """Stop when ``share`` of the collection has been read. A heuristic."""

    needs_scores: ClassVar[bool] = False

    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"share must lie between 0 and 1, got {self.share!r}.")

    def decide(self, progress: Progress) -> Decision:
        """Compare what has been read with the share."""
        n_read, enough = progress.history().answer.size, math.ceil(self.share * progress.n_items)
        return self.say(
            n_read >= enough, f"{n_read} of {progress.n_items} read; {enough} are enough.", max(enough - n_read, 0)
        )
