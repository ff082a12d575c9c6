"""Surrogates of precision at k straight from their definitions, by enumerating every labelling with k ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from riffler.records import FloatArray, IntArray


def loss(scores: FloatArray, labels: IntArray, k: int) -> int:
    """Negatives in the top k, the worst case over ties."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], labels[i]))
    return sum(1 - int(labels[i]) for i in order[:k])


def surrogate(name: str, scores: FloatArray, labels: IntArray, k: int) -> float:
    """Definitions of ALGORITHMS 2.1."""
    n, positives = len(scores), np.flatnonzero(labels)
    best = -np.inf
    for chosen in combinations(range(n), k):
        picked = np.zeros(n)
        picked[list(chosen)] = 1
        mistakes = float(((1 - labels) * picked).sum())
        value = mistakes + float((picked * scores).sum())
        if name != "ramp":
            value -= float((labels * scores).sum())
        missed = [i for i in positives if not picked[i]]
        if name == "avg" and len(positives) > k:
            value += (len(positives) - k) / (len(positives) - k + mistakes) * float(scores[missed].sum())
        if name == "max":
            value += float(np.sort(scores[missed])[::-1][: len(positives) - k].sum())
        best = max(best, value)
    if name == "ramp":
        best -= max(float(scores[list(some)].sum()) for some in combinations(positives, k))
    return best
