"""Rankings for simulated reviews: labels in the order of scores with a known gap."""

from __future__ import annotations

import numpy as np

from riffler.evaluation.stopping_replay import Outcome, Review
from riffler.evaluation.stopping_replay import replay_rule as run
from riffler.records import IntArray

__all__ = ["Outcome", "Review", "ranked_labels", "run"]


def ranked_labels(
    rng: np.random.Generator, n_items: int, n_relevant: int, gap: float = 3.0, hard: float = 0.05
) -> IntArray:
    """Labels in the order of a ranking: normal scores, the relevant ones higher by ``gap``, a few hard ones by 1."""
    labels = np.zeros(n_items, dtype=np.int8)
    labels[:n_relevant] = 1
    scores = rng.normal(size=n_items)
    scores[:n_relevant] += np.where(rng.random(n_relevant) < hard, 1.0, gap)
    ordered: IntArray = labels[np.argsort(-scores)]
    return ordered
