"""The target method (Cormack and Grossman 2016): stop when m random relevant documents have all been met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError
from riffler.stopping.progress import Decision, Progress, all_read


@dataclass(frozen=True, slots=True)
class Target:
    """Draw at random until ``n_targets`` relevant ones are found, then review until the policy has met them all.

    P(stop with recall < t) <= t^n_targets: with ten, recall .7 is certain to 97 %, recall .95 only to 40 %. With
    n_targets=None as many are drawn as the target and confidence ask for.
    """

    n_targets: int | None = 10

    def __post_init__(self) -> None:
        if self.n_targets is not None and self.n_targets < 1:
            raise InputError(f"n_targets must be at least 1, or None for as many as are needed, got {self.n_targets}.")

    @property
    def certificate(self) -> bool:
        """It certifies some recall; whether the one that is wanted, each decision says."""
        return True

    @property
    def blind(self) -> bool:
        """The targets must not steer the policy."""
        return True

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
            reason += f": recall {progress.target:.0%} to {sure:.1%}, or {low:.1%} to {progress.confidence:.0%}"
        return Decision(stop, f"{reason}.", sure >= progress.confidence, recall_low=low if stop else None)

    def controls(self, progress: Progress, n: int) -> int:
        """Draw at random until there are enough targets."""
        history = progress.history()
        return n if int(np.sum(history.control & history.relevant)) < self._wanted(progress) else 0

    def _wanted(self, progress: Progress) -> int:
        if self.n_targets is not None:
            return self.n_targets
        return int(np.ceil(np.log(1 - progress.confidence) / np.log(progress.target) - 1e-9))
