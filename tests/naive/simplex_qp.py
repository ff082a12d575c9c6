"""The best of a concave quadratic on a simplex, by trying every set of entries that could have a say."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

from riffler.records import FloatArray


def value(gram: FloatArray, offsets: FloatArray, a: FloatArray) -> float:
    """b . a - a' G a / 2."""
    return float(offsets @ a - a @ gram @ a / 2)


def gap(gram: FloatArray, offsets: FloatArray, a: FloatArray, total: float) -> float:
    """How far the slope at ``a`` lets the value of any other point with sum ``total`` or less be above its own."""
    slope = offsets - gram @ a
    return total * max(0.0, float(slope.max())) - float(slope @ a)


def best_value(gram: FloatArray, offsets: FloatArray, total: float) -> float:
    """The highest value over a >= 0 with sum ``total`` or less."""
    n = len(offsets)
    padded, right = np.zeros((n + 1, n + 1)), np.append(offsets, 0.0)  # the last entry takes what is not spent
    padded[:n, :n] = gram
    best = 0.0
    for entries in chain.from_iterable(combinations(range(n + 1), size) for size in range(1, n + 2)):
        chosen = list(entries)
        system = np.ones((len(chosen) + 1, len(chosen) + 1))
        system[:-1, :-1], system[-1, -1] = padded[np.ix_(chosen, chosen)], 0.0
        a = np.zeros(n + 1)
        a[chosen] = np.linalg.lstsq(system, np.append(right[chosen], total), rcond=None)[0][:-1]
        if (a >= -1e-9 * total).all() and abs(a.sum() - total) <= 1e-9 * total:
            best = max(best, value(padded, right, np.maximum(a, 0.0)))
    return best
