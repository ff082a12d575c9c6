"""The methods that are compared, each with the settings it may choose from on the validation part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from riffler.metrics import roc_auc
from riffler.records import IntArray
from riffler.reproduction.active_pairs_data import Split

C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
PUBLISHED, OURS = "soft-correct", "ours"
N_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class Method:
    """A ranker and grids to choose from, one after the other: the second starts from what the first chose."""

    name: str
    make: Callable[..., Any]
    grids: tuple[dict[str, tuple[Any, ...]], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one split: AUC on the test part, what was chosen, and the CPU seconds of the last fit."""

    auc: float
    validation: float
    chosen: dict[str, Any]
    seconds: float


def methods(n_pairs: int = N_PAIRS) -> dict[str, Method]:
    """Every method by its name; ``ours`` weighs pairs by how rare they are and may use points."""
    from riffler.learners.active_rank_svm import ActiveRankSVM
    from riffler.learners.combined_ranking import CombinedRankingRegression
    from riffler.learners.rank_svm import RankSVM
    from riffler.learners.weighted_svm import WeightedSVM

    def active(sampling: str, **fixed: Any) -> Callable[..., Any]:  # noqa: ANN401 - parameters
        return lambda seed, **grid: ActiveRankSVM(sampling, n_pairs=n_pairs, random_state=seed, **{**fixed, **grid})

    c_grid = {"C": C_GRID}
    every = (
        Method(PUBLISHED, active("soft-correct", weighting="equal"), (c_grid,)),
        Method("WSVM", lambda seed, **grid: WeightedSVM(**grid), (c_grid,)),
        Method("ERankSVM", lambda seed, **grid: RankSVM(random_state=seed, **grid), (c_grid,)),
        Method(
            "CRR",
            lambda seed, **grid: CombinedRankingRegression(random_state=seed, **grid),
            ({"alpha": (1e-5, 1e-4, 1e-3, 1e-2)}, {"points": (0.0, 0.5, 0.9)}),
        ),
        Method("random", active("random", weighting="equal"), (c_grid,)),
        Method("soft-close", active("soft-close", weighting="equal"), (c_grid,)),
        Method(
            OURS,
            active("soft-correct", weighting="inverse", softness=0.3, batch=0.2),
            (c_grid, {"points": (0.0, 0.3, 0.7)}),
        ),
    )
    return {method.name: method for method in every}


def run(method: Method, split: Split, seed: int) -> Cell:
    """Choose on the validation part, fit again on both parts, and measure on the test part."""
    chosen: dict[str, Any] = {}
    best = -np.inf
    for grid in method.grids:
        points = [{**chosen, **dict(zip(grid, values, strict=True))} for values in product(*grid.values())]
        found = [fitted_auc(method, split, seed, point, split.fit, split.validation)[0] for point in points]
        chosen, best = points[int(np.argmax(found))], float(np.max(found))
    auc, seconds = fitted_auc(method, split, seed, chosen, split.learn, split.test)
    return Cell(auc, best, chosen, seconds)


def fitted_auc(
    method: Method, split: Split, seed: int, point: dict[str, Any], train: IntArray, score: IntArray
) -> tuple[float, float]:
    """AUC on some rows of the ranker fitted on others, and the CPU seconds of the fit."""
    model = method.make(seed, **point)
    X = split.X[train]
    start = process_time()
    model.fit(X, split.y[train])
    seconds = process_time() - start
    return roc_auc(split.y[score], model.decision_function(split.X[score])), seconds
