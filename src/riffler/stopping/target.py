"""The target method (Cormack and Grossman 2016): stop when m random relevant documents have all been met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.errors import InputError
from riffler.stopping.progress import Decision, Progress, all_read, draw_until, least_sample
from riffler.stopping.words import per_cent


@dataclass(frozen=True, slots=True)
class Target:
    """Draw at random until ``n_targets`` relevant ones are found, then review until the policy has met them all.

    P(stop with recall < t) <= t^n_targets: with ten, recall .7 is certain to 97 %, recall .95 only to 40 %. With
    n_targets=None as many are drawn as the target and confidence ask for.
    """

    certificate: ClassVar[bool] = True  # it certifies some recall; whether the one that is wanted, each decision says
    blind: ClassVar[bool] = True  # the targets must not steer the policy
    needs_scores: ClassVar[bool] = False

    n_targets: int | None = 10

    def __post_init__(self) -> None:
        if self.n_targets is not None and self.n_targets < 1:
            raise InputError(f"n_targets must be at least 1, or None for as many as are needed, got {self.n_targets}.")

    def decide(self, progress: Progress) -> Decision:
        """Stop when all targets are met."""
        history = progress.history()
        if (done := all_read(progress, history)) is not None:
            return done
        wanted = self._wanted(progress)
        drawn = history.control & (history.answer != 0)  # one that nobody could judge counts as a target never met
        n_drawn, n_met = int(drawn.sum()), int(np.sum(history.met & history.relevant))
        if n_drawn < wanted:
            return Decision(False, f"{n_drawn} of {wanted} random relevant documents are drawn.", True)
        sure = 1.0 - progress.target**n_drawn
        low = (1.0 - progress.confidence) ** (1.0 / n_drawn)
        stop = n_met == n_drawn
        reason = f"The policy has met {n_met} of {n_drawn} random relevant documents"
        if stop:
            goal, proved = f"{per_cent(progress.target)} to {per_cent(sure, 1)}", f"{per_cent(low, 1)} to "
            reason += f": recall {goal}, or {proved}{per_cent(progress.confidence)}"
        return Decision(stop, f"{reason}.", sure >= progress.confidence, recall_low=low if stop else None)

    def controls(self, progress: Progress, n: int) -> int:
        """Draw at random until there are enough targets."""
        return draw_until(progress, n, self._wanted(progress))

    def _wanted(self, progress: Progress) -> int:
        if self.n_targets is not None:
            return self.n_targets
        return least_sample(progress.target, progress.confidence)
