"""Choosing the width of an RBF kernel: a few widths, each judged by a quick classifier on a small part of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riffler.features.blocks import RowBlocks, Scaling, identity_scaling
from riffler.features.kernel import KernelMap
from riffler.learners.checks import TrainingSet
from riffler.learners.top_search import TopSearch
from riffler.learners.working_set import sampled_rows

FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of 1 / (mean squared row norm)
TRIAL_ROWS = 5000
TRIAL_COMPONENTS = 300


def chosen_gamma(
    data: TrainingSet,
    scaling: Scaling,
    k: int | float,
    tell: Callable[[float, str], None],
    rng: np.random.RandomState,
) -> float:
    """Return the width whose quick classifiers have the best top and order on held-out rows of a sample."""
    _, sample = sampled_rows(data, rng, TRIAL_ROWS)
    unit = 1.0 / RowBlocks(sample.X, scaling).mean_squares(sample.weight).sum()
    seeds = rng.randint(2**31, size=2)
    worths = []
    for place, factor in enumerate(FACTORS):
        tell(0.2 * place / len(FACTORS), "kernel width")
        # the same folds and directions for every width: only the width differs
        trial = KernelMap("fourier", TRIAL_COMPONENTS, factor * unit, scaling)
        trial.fit(sample.X, np.random.RandomState(seeds[0]))
        rows = RowBlocks(sample.X, identity_scaling(TRIAL_COMPONENTS), trial)
        search = TopSearch(sample, rows, k, 1.0, tol=1e-1, max_iter=20, progress=lambda share, doing: None)
        search.try_all(None, np.random.RandomState(seeds[1]))
        worths.append(max(one.worth.weighed(0.5) for one in search.candidates))
    return float(FACTORS[int(np.argmax(worths))] * unit)
