"""Working sets for kernel features: some thousand rows that stand for all, then those that all rows show to matter.

Rows left out are made up for by the weight of the sampled ones, so every sum over the working set estimates the sum
over all rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riffler.learners.checks import TrainingSet
from riffler.records import IntArray

WORKING_ROWS = 25_000


def sampled_rows(
    data: TrainingSet, rng: np.random.RandomState, n_rows: int = WORKING_ROWS
) -> tuple[IntArray, TrainingSet]:
    """Return the rows of a working set and the set itself: up to half positives, the rest random negatives."""
    counted = data.weight > 0
    positives, negatives = (np.flatnonzero(counted & (data.labels == label)) for label in (1, 0))
    if len(data.labels) <= n_rows:
        return np.arange(len(data.labels)), data
    n_positive = min(len(positives), max(n_rows // 2, n_rows - len(negatives)))
    n_negative = min(len(negatives), n_rows - n_positive)
    kept = [
        rng.choice(rows, n_kept, replace=False) for rows, n_kept in ((positives, n_positive), (negatives, n_negative))
    ]
    rows = np.sort(np.concatenate(kept))
    return rows, _part(data, rows)


def hard_negatives(
    data: TrainingSet, working: IntArray, scores: np.ndarray[tuple[int], np.dtype[np.float32]]
) -> TrainingSet:
    """Return the working set joined by the best scored negatives outside it, half as many as it has rows."""
    outside = (data.labels <= 0) & (data.weight > 0)
    outside[working] = False
    candidates = np.flatnonzero(outside)
    n_added = min(len(candidates), len(working) // 2)
    if n_added == 0:
        return _part(data, working)
    best = candidates[np.argpartition(-scores[candidates], n_added - 1)[:n_added]]
    rows = np.sort(np.concatenate([working, best]))
    # Above the cut every negative is in, and counts once; at it and below, those taken stand for those left out.
    return _part(data, rows, exact=scores > scores[best].min())


def _part(
    data: TrainingSet, rows: IntArray, exact: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None
) -> TrainingSet:
    weight = data.weight[rows].copy()
    for positive in (True, False):
        stratum = (data.labels > 0) == positive
        if exact is not None and not positive:
            stratum &= ~exact
        chosen = stratum[rows]
        if chosen.any():
            weight[chosen] *= data.weight[stratum].sum() / weight[chosen].sum()
    return replace(data, X=data.X[rows], labels=data.labels[rows], weight=weight)
