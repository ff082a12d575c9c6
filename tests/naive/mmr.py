"""Maximal marginal relevance as its definition says: every cosine of every candidate, at every step."""

from __future__ import annotations

import numpy as np

from riffler.records import BoolArray, FloatArray, IntArray


def cosine(one: FloatArray, other: FloatArray) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


def marginal_relevance(
    rows: FloatArray,
    scores: FloatArray,
    reviewed: BoolArray,
    found: IntArray,
    ties: IntArray,
    relevance: float,
    n: int,
) -> list[int]:
    """Choose n items, one after the other."""
    left = [item for item in range(len(scores)) if not reviewed[item]]
    low, high = min(scores[item] for item in left), max(scores[item] for item in left)
    known, chosen = found.tolist(), []
    for _ in range(min(n, len(left))):
        value = {}
        for item in left:
            # rounded, as sums of products differ in their last digits
            alike = round(max((cosine(rows[item], rows[other]) for other in known), default=0.0), 12)
            score = (scores[item] - low) / (high - low)
            value[item] = relevance * score - (1 - relevance) * max(alike, 0.0)
        best = max(left, key=lambda item: (value[item], -ties[item]))
        left.remove(best)
        known.append(best)
        chosen.append(best)
    return chosen
