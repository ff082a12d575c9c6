"""All runs of the comparison; what is finished is kept in a file, so that a reproduction that was stopped goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riffler.metrics import roc_auc
from riffler.reproduction import Progress
from riffler.reproduction.active_pairs_data import RankingProblem, Split, split_of
from riffler.reproduction.active_pairs_methods import SHARES, Cell, Method, run
from riffler.reproduction.kept_runs import KeptRuns

FILE = "active-pairs-runs.jsonl"

Cells = Mapping[tuple[str, str], Sequence[Cell]]
"""The runs of (set, method), in the order of their seeds."""


@dataclass(frozen=True, slots=True)
class Curve:
    """AUC on the test part along one run, against pairs and CPU seconds."""

    method: str
    n_pairs: tuple[int, ...]
    auc: tuple[float, ...]


def run_all(
    problems: Mapping[str, RankingProblem],
    methods: Sequence[Method],
    n_runs: int,
    progress: Progress,
    folder: Path | None,
) -> dict[tuple[str, str], list[Cell]]:
    """Run every method on every set from ``n_runs`` seeds; a set is split once a seed, for all methods."""
    path = None if folder is None else folder / FILE
    kept: KeptRuns[Cell] = KeptRuns(path, asdict, lambda values: Cell(**values))
    found: dict[tuple[str, str], list[Cell]] = {}
    n_all = n_runs * len(problems)
    for number, (seed, problem) in enumerate((s, p) for s in range(n_runs) for p in problems.values()):
        split: Split | None = None
        for method in methods:
            key = f"{problem.name}|{len(problem.y)}|{method.name}|{seed}"
            progress(number / n_all, f"{problem.name}, {method.name}, run {seed + 1}")
            cell = kept.get(key)
            if cell is None:
                split = split_of(problem, seed) if split is None else split
                cell = run(method, split, seed)
                kept.add(key, cell)
            found.setdefault((problem.name, method.name), []).append(cell)
    return found


def curve_of_pairs(split: Split, sampling: str, n_pairs: int, seed: int, **settings: Any) -> Curve:  # noqa: ANN401
    """AUC on the test part after every round of one run."""
    from riffler.learners.active_rank_svm import ActiveRankSVM

    ranker = ActiveRankSVM(sampling, n_pairs=n_pairs, random_state=seed, **settings)
    numbers, areas = [], []
    for found in ranker.rounds(split.X[split.learn], split.y[split.learn]):
        numbers.append(found.n_pairs)
        areas.append(roc_auc(split.y[split.test], np.asarray(split.X[split.test] @ found.weights)))
    return Curve(sampling, tuple(numbers), tuple(areas))


def curve_of_points(problem: RankingProblem, n_runs: int, C: float, n_pairs: int) -> dict[float, list[float]]:
    """AUC on the test part for each share of points among the candidates."""
    from riffler.learners.active_rank_svm import ActiveRankSVM

    found: dict[float, list[float]] = {share: [] for share in SHARES}
    for seed in range(n_runs):
        split = split_of(problem, seed)
        X, y = split.X[split.learn], split.y[split.learn]
        for share in SHARES:
            ranker = ActiveRankSVM(points=share, weighting="equal", C=C, n_pairs=n_pairs, random_state=seed).fit(X, y)
            found[share].append(roc_auc(split.y[split.test], ranker.decision_function(split.X[split.test])))
    return found
