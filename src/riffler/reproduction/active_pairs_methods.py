"""The methods that are compared, each with the settings it may choose from on the validation part."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from riffler.metrics import roc_auc
from riffler.records import FloatArray, IntArray
from riffler.reproduction.active_pairs_data import Split

C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
PUBLISHED, OURS, OURS_AT_RANDOM = "soft-correct", "ours", "ours, random"
N_PAIRS = 10_000
AS_PUBLISHED: dict[str, Any] = {"weighting": "equal", "candidates": "independent"}
AS_OURS: dict[str, Any] = {"weighting": "robust", "candidates": "spread", "softness": 0.3, "batch": 0.2}


@dataclass(frozen=True, slots=True)
class Method:
    """A ranker and grids to choose from, one after the other: the second starts from what the first chose, and must
    be clearly better.
    """

    name: str
    make: Callable[..., Any]
    grids: tuple[dict[str, tuple[Any, ...]], ...]

    def settings(self) -> list[Any]:
        """All that the runs depend on but the data: the ranker with its parameters, and the grids."""
        ranker = self.make(0)
        return [type(ranker).__name__, ranker.get_params(), self.grids]


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one split: AUC on the test part, what was chosen, and the CPU seconds of the last fit.

    test_share : rows of the test part by rows that were learned from
    """

    auc: float
    validation: float
    chosen: dict[str, Any]
    seconds: float
    test_share: float = 0.0


def methods(n_pairs: int = N_PAIRS) -> dict[str, Method]:
    """Every method by its name; ``ours`` is soft-correct sampling with all that was added to it, points included.

    ``ours, random`` accepts every candidate, all else the same.
    """
    from riffler.learners.active_rank_svm import ActiveRankSVM
    from riffler.learners.combined_ranking import CombinedRankingRegression
    from riffler.learners.rank_svm import RankSVM
    from riffler.learners.weighted_svm import WeightedSVM

    def active(sampling: str, **fixed: Any) -> Callable[..., Any]:  # noqa: ANN401 - parameters
        return lambda seed, **grid: ActiveRankSVM(sampling, n_pairs=n_pairs, random_state=seed, **{**fixed, **grid})

    c_grid: dict[str, tuple[Any, ...]] = {"C": C_GRID}
    ours_grids = (c_grid, {"points": (0.0, 0.3, 0.7)})
    every = (
        Method(PUBLISHED, active("soft-correct", **AS_PUBLISHED), (c_grid,)),
        Method("WSVM", lambda seed, **grid: WeightedSVM(**grid), (c_grid,)),
        Method("ERankSVM", lambda seed, **grid: RankSVM(random_state=seed, **grid), (c_grid,)),
        Method(
            "CRR",
            lambda seed, **grid: CombinedRankingRegression(random_state=seed, **grid),
            ({"alpha": (1e-5, 1e-4, 1e-3, 1e-2)}, {"points": (0.0, 0.5, 0.9)}),
        ),
        Method("random", active("random", **AS_PUBLISHED), (c_grid,)),
        Method("soft-close", active("soft-close", **AS_PUBLISHED), (c_grid,)),
        Method(OURS, active("soft-correct", **AS_OURS), ours_grids),
        Method(OURS_AT_RANDOM, active("random", **AS_OURS), ours_grids),
    )
    return {method.name: method for method in every}


def run(method: Method, split: Split, seed: int) -> Cell:
    """Choose on the validation part, fit again on both parts, and measure on the test part."""
    chosen: dict[str, Any] = {}
    best: FloatArray | None = None  # scores of the validation rows
    labels = split.y[split.validation]
    for grid in method.grids:
        points = [{**chosen, **dict(zip(grid, values, strict=True))} for values in product(*grid.values())]
        found = [fitted(method, split, seed, point, split.fit, split.validation)[0] for point in points]
        number = int(np.argmax([roc_auc(labels, scores) for scores in found]))
        if best is None or clearly_better(labels, found[number], best):
            chosen, best = points[number], found[number]
    assert best is not None
    scores, seconds = fitted(method, split, seed, chosen, split.learn, split.test)
    test_share = len(split.test) / len(split.learn)
    return Cell(roc_auc(split.y[split.test], scores), roc_auc(labels, best), chosen, seconds, test_share)


def clearly_better(labels: IntArray, scores: FloatArray, before: FloatArray) -> bool:
    """Whether AUC rises by more than the standard error of the difference (DeLong): few rows tell little apart.

    >>> labels = np.array([0] * 50 + [1] * 50)
    >>> one, other = np.arange(100.0), np.append(np.arange(99.0), 48.0)
    >>> clearly_better(labels, one, other), clearly_better(labels, one, -one)
    (False, True)
    """
    gains = [placements(labels, scores, of) - placements(labels, before, of) for of in (1, 0)]
    error = np.sqrt(sum(float(gain.var(ddof=1)) / len(gain) for gain in gains))
    return bool(gains[0].mean() > error)


def placements(labels: IntArray, scores: FloatArray, of: int) -> FloatArray:
    """Share of the other class that each row of a class is on the right side of; ties count one half.

    >>> placements(np.array([1, 1, 0, 0]), np.array([3.0, 1.0, 1.0, 0.0]), of=1)
    array([1.  , 0.75])
    """
    mine, others = scores[labels == of], np.sort(scores[labels != of])
    below: FloatArray = (np.searchsorted(others, mine) + np.searchsorted(others, mine, "right")) / (2 * len(others))
    return below if of == 1 else 1.0 - below


def fitted(
    method: Method, split: Split, seed: int, point: dict[str, Any], train: IntArray, score: IntArray
) -> tuple[FloatArray, float]:
    """Scores of some rows by the ranker fitted on others, and the CPU seconds of the fit."""
    model = method.make(seed, **point)
    X = split.X[train]
    start = process_time()
    with may_end_early():
        model.fit(X, split.y[train])
    seconds = process_time() - start
    return np.asarray(model.decision_function(split.X[score])), seconds


@contextmanager
def may_end_early() -> Iterator[None]:
    """What a grid offers may be too much for the steps allowed; it is judged by what it gives, as the others are."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
