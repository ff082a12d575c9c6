"""Quant and QuantCI (Yang, Lewis and Frieder 2021): recall as the classifier's own probabilities see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.errors import InputError
from riffler.records import FloatArray
from riffler.stopping.progress import Decision, Heuristic, Progress


def quant_recall(known: FloatArray, unknown: FloatArray, n_errors: float) -> float:
    """Return Pk / (Pk + Pu) less n_errors standard errors; P are sums of probabilities of known and unknown documents.

    var = Pk^2 / (Pk + Pu)^4 * V_all + V_known / (Pk + Pu)^2 with V = sum p (1 - p).

    >>> quant_recall(np.array([1.0, 1.0, 0.0]), np.array([0.5]), n_errors=0)
    0.8
    """
    p_known, p_unknown = float(known.sum()), float(unknown.sum())
    total = p_known + p_unknown
    if total == 0:
        return 0.0
    v_known = float(np.sum(known * (1 - known)))
    v_all = v_known + float(np.sum(unknown * (1 - unknown)))
    variance = p_known**2 / total**4 * v_all + v_known / total**2
    return float(p_known / total - n_errors * np.sqrt(variance))


@dataclass(frozen=True, slots=True)
class Quant(Heuristic):
    """Stop when the recall that the probabilities imply, less ``n_errors`` errors, reaches the target. A heuristic.

    ``scores`` and ``known_scores`` of the progress must be probabilities of being relevant. QuantCI is n_errors=2.
    """

    needs_scores: ClassVar[bool] = True

    n_errors: float = 0.0

    def decide(self, progress: Progress) -> Decision:
        """Compare the sums of probabilities."""
        history = progress.history()
        if history.n_found == 0:
            return self.say(False, "Nothing relevant has been found yet.")
        known, unknown = np.asarray(progress.known_scores, float), np.asarray(progress.scores, float)
        if known.size != history.answer.size or unknown.size != progress.n_items - history.answer.size:
            return self.say(False, "Needs a probability of every document, read and unread, and there are none.")
        if not all(np.all((p >= 0) & (p <= 1)) for p in (known, unknown)):
            raise InputError("scores and known_scores must be probabilities between 0 and 1. Calibrate them first.")
        recall = quant_recall(known, unknown, self.n_errors)
        return self.say(recall >= progress.target, f"The classifier's probabilities make it a recall of {recall:.1%}.")
