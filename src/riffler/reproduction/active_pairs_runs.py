"""All runs of the comparison; what is finished is kept in a file, so that a reproduction that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.metrics import roc_auc
from riffler.records import Matrix
from riffler.reproduction import Progress
from riffler.reproduction.active_pairs_data import RankingProblem, Split, problem_key, split_of
from riffler.reproduction.active_pairs_methods import AS_PUBLISHED, SHARES, Cell, Method, may_end_early, run
from riffler.reproduction.kept_runs import KeptRuns

if TYPE_CHECKING:
    from riffler.learners.active_rank_svm import ActiveRankSVM

FILE = "active-pairs-runs.jsonl"
CURVES_FILE, POINTS_FILE = "active-pairs-curves.jsonl", "active-pairs-points.jsonl"

READINGS = {"no constant column": 0.0, "a constant column": 1.0}
"""A point is compared with the zero vector. A column of ones, of which pairs know nothing, lets points have a
threshold; whether the paper has one is not known."""

Cells = Mapping[tuple[str, str], Sequence[Cell]]
"""The runs of (set, method), in the order of their seeds."""


@dataclass(frozen=True, slots=True)
class Curve:
    """AUC on the test part along one run, against pairs."""

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
    kept: KeptRuns[Cell] = KeptRuns(_file(folder, FILE), asdict, lambda values: Cell(**values))
    found: dict[tuple[str, str], list[Cell]] = {}
    n_all = n_runs * len(problems)
    for number, (seed, problem) in enumerate((s, p) for s in range(n_runs) for p in problems.values()):
        split: Split | None = None
        for method in methods:
            key = _key(problem, method.name, seed, method.settings())
            progress(number / n_all, f"{problem.name}, {method.name}, run {seed + 1}")
            cell = kept.get(key)
            if cell is None:
                split = split_of(problem, seed) if split is None else split
                cell = run(method, split, seed)
                kept.add(key, cell)
            found.setdefault((problem.name, method.name), []).append(cell)
    return found


def curve_of_pairs(
    problem: RankingProblem, name: str, n_pairs: int, settings: Mapping[str, Any], folder: Path | None
) -> Curve:
    """AUC on the test part of the first split after every round of one run."""
    from riffler.learners.active_rank_svm import ActiveRankSVM

    kept: KeptRuns[Curve] = KeptRuns(
        _file(folder, CURVES_FILE),
        asdict,
        lambda values: Curve(values["method"], *map(tuple, list(values.values())[1:])),
    )
    ranker = ActiveRankSVM(n_pairs=n_pairs, random_state=0, **settings)
    key = _key(problem, name, 0, ranker.get_params())
    found = kept.get(key)
    if found is None:
        split = split_of(problem, 0)
        numbers, areas = [], []
        with may_end_early():
            for after in ranker.rounds(split.X[split.learn], split.y[split.learn]):
                numbers.append(after.n_pairs)
                areas.append(roc_auc(split.y[split.test], np.asarray(split.X[split.test] @ after.weights)))
        found = Curve(name, tuple(numbers), tuple(areas))
        kept.add(key, found)
    return found


def curves_of_points(
    problem: RankingProblem, n_runs: int, C: float, n_pairs: int, progress: Progress, folder: Path | None
) -> dict[str, dict[float, list[float]]]:
    """AUC on the test part for each reading and share of points among the candidates, sampled as published."""
    from riffler.learners.active_rank_svm import ActiveRankSVM

    kept: KeptRuns[float] = KeptRuns(_file(folder, POINTS_FILE), lambda auc: {"auc": auc}, lambda values: values["auc"])
    found: dict[str, dict[float, list[float]]] = {reading: {share: [] for share in SHARES} for reading in READINGS}
    for seed in range(n_runs):
        progress(seed / n_runs, f"points on {problem.name}, run {seed + 1}")
        split: Split | None = None
        for reading, share in product(READINGS, SHARES):
            ranker = ActiveRankSVM(points=share, C=C, n_pairs=n_pairs, random_state=seed, **AS_PUBLISHED)
            key = _key(problem, reading, seed, [READINGS[reading], ranker.get_params()])
            auc = kept.get(key)
            if auc is None:
                split = split_of(problem, seed) if split is None else split
                auc = _auc_with_constant(split, ranker, READINGS[reading])
                kept.add(key, auc)
            found[reading][share].append(auc)
    return found


def _auc_with_constant(split: Split, ranker: ActiveRankSVM, constant: float) -> float:
    """AUC on the test part of a dense set, one column of which is constant."""
    column = np.full((split.X.shape[0], 1), constant)
    X: Matrix = np.hstack([split.X, column])
    with may_end_early():
        ranker.fit(X[split.learn], split.y[split.learn])
    return roc_auc(split.y[split.test], ranker.decision_function(X[split.test]))


def _key(problem: RankingProblem, method: str, seed: int, settings: object) -> str:
    """Name a run, with a digest of all it depends on but the code: a changed experiment takes no run of the old one."""
    told = json.dumps([problem_key(problem), settings], sort_keys=True)
    return f"{problem.name}|{method}|{seed}|{sha256(told.encode()).hexdigest()[:16]}"


def _file(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder / name
