"""What to ask when nothing is known: rows that say the most about any model, or just any rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riffler.records import BoolArray, FloatArray, IntArray

LOOKED_AT = 5000  # rows among which the next ones are chosen


def random_cover(features: FloatArray, free: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
    """Any n free rows."""
    rows = np.flatnonzero(free)
    return rng.permutation(rows)[:n]


def spread_cover(features: FloatArray, free: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
    """Free rows that lie farthest from what is known: each has the largest variance that the rows before left.

    The variance is that of the score of a row under a linear model with prior variance 1, given noisy scores of the
    rows asked so far; one update a row that is chosen.
    """
    pool = rng.permutation(np.flatnonzero(free))[:LOOKED_AT]
    rows = features[pool].astype(np.float64)
    asked = features[~free].astype(np.float64)
    precision = np.eye(rows.shape[1]) + 0.25 * asked.T @ asked
    reach = np.linalg.solve(precision, rows.T).T  # row times covariance
    variance = np.einsum("ij,ij->i", reach, rows)
    chosen: list[int] = []
    for _ in range(min(n, len(pool))):
        best = int(np.argmax(variance))
        chosen.append(best)
        along, size = reach[best].copy(), 4.0 + variance[best]
        shadow = rows @ along
        reach -= np.outer(shadow / size, along)
        variance -= shadow**2 / size
        variance[best] = -np.inf
    return pool[chosen]


Cover = Callable[[FloatArray, BoolArray, int, np.random.Generator], IntArray]

COVERS: dict[str, Cover] = {"random": random_cover, "spread": spread_cover}
