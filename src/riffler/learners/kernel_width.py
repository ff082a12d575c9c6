"""Choosing warp and width of an RBF kernel, each judged by a quick classifier on a small part of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from riffler.features.blocks import RowBlocks, identity_scaling
from riffler.features.kernel import KernelMap, OfWarped
from riffler.features.warp import Warp
from riffler.learners.checks import TrainingSet
from riffler.learners.top_search import TopSearch
from riffler.learners.working_set import sampled_rows

FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of 1 / (mean squared row norm)
TRIAL_ROWS = 5000
TRIAL_COMPONENTS = 300


def chosen_kernel(
    data: TrainingSet,
    warps: list[Warp],
    gamma: float | None,
    k: int | float,
    tell: Callable[[float, str], None],
    rng: np.random.RandomState,
) -> tuple[Warp, float]:
    """Return the warp and width whose quick classifiers have the best top and order on held-out rows of a sample."""
    if gamma is not None and len(warps) == 1:
        return warps[0], gamma
    _, sample = sampled_rows(data, rng, TRIAL_ROWS)
    seeds = rng.randint(2**31, size=2)
    tried: list[tuple[float, Warp, float]] = []
    for warp in warps:
        warped = replace(sample, X=warp(sample.X))
        plain = RowBlocks(warped.X, identity_scaling(warped.X.shape[1]))
        unit = 1.0 / (float(plain.mean_squares(sample.weight).sum()) or 1.0)
        for width in [factor * unit for factor in FACTORS] if gamma is None else [gamma]:
            tell(0.2 * len(tried) / (len(warps) * len(FACTORS)), "kernel width")
            # the same folds and directions for every width: only the width differs
            trial = KernelMap("fourier", TRIAL_COMPONENTS, width, warp).fit(sample.X, np.random.RandomState(seeds[0]))
            rows = RowBlocks(warped.X, identity_scaling(TRIAL_COMPONENTS), OfWarped(trial))
            search = TopSearch(warped, rows, k, 1.0, tol=1e-1, max_iter=20, progress=lambda share, doing: None)
            search.try_all(None, np.random.RandomState(seeds[1]))
            tried.append((max(one.worth.weighed(0.5) for one in search.candidates), warp, width))
    _, best_warp, best_width = max(tried, key=lambda one: one[0])
    return best_warp, best_width
