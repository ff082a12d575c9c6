"""Graded documents of queries: structured estimation beside pairs and boosted trees, settings chosen alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from riffler.errors import DataSetMissing
from riffler.metrics.graded import ndcg_at
from riffler.metrics.groups import metric_by_group
from riffler.records import FloatArray, IntArray
from riffler.reproduction import Progress
from riffler.reproduction.active_pairs_methods import may_end_early
from riffler.reproduction.kept_runs import KeptRuns
from riffler.reproduction.structured_solvers import file_in, key_of

FILE = "structured-ranking.jsonl"
SETS = ("letor-ohsumed", "letor-mq2008")
MADE_UP = "made-up queries"
PLACES = tuple(range(1, 11))
OURS, NDCG_ALONE, SORTED, ASSIGNED, PAIRS, TREES = (
    "NdcgRanker",
    "NdcgRanker, pairs=0",
    "sort shortcut",
    "linear assignment",
    "RankSVM",
    "LightGBM lambdarank",
)
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0)


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Documents with their grades, those of a query together."""

    X: FloatArray
    y: FloatArray
    qid: IntArray

    def ndcg(self, scores: FloatArray, n: int = 10) -> FloatArray:
        """NDCG of each query that has a relevant document."""
        return metric_by_group(ndcg_at, self.y, scores, self.qid, n=n).values

    def with_an_order(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Documents and grades of each query whose grades differ."""
        starts = np.flatnonzero(np.r_[True, np.diff(self.qid) != 0])
        parts = [
            (X, y)
            for X, y in zip(np.split(self.X, starts[1:]), np.split(self.y, starts[1:]), strict=True)
            if y.min() < y.max()
        ]
        return [X for X, _ in parts], [y for _, y in parts]


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Queries to learn from, to choose settings by, and to test on."""

    data: str
    number: int
    learn: Graded
    choose: Graded
    test: Graded


@dataclass(frozen=True, slots=True)
class Ranked:
    """One method on one fold.

    ndcg : at 1 to 10, of each test query
    train_loss : 1 - NDCG at 10 on the queries learned from, with the chosen setting
    least_train_loss : the same, with the setting where it is least
    seconds : CPU seconds, all settings together
    """

    data: str
    fold: int
    method: str
    chosen: dict[str, Any]
    ndcg: tuple[tuple[float, ...], ...]
    train_loss: float
    least_train_loss: float
    seconds: float


Scores = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Method:
    """How a ranker is fitted with one setting, and the settings it may choose from on the validation queries."""

    name: str
    fit: Callable[..., Scores]
    grid: Mapping[str, tuple[Any, ...]]

    def settings(self) -> list[dict[str, Any]]:
        """Every combination of the grid."""
        return [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]


def folds(data: str) -> list[Fold]:
    """The five folds of a LETOR set; none where it is missing."""
    from riffler import datasets

    try:
        parts = [graded(datasets.load(data, split=f"S{number}", dtype=np.float64)) for number in range(1, 6)]
    except DataSetMissing:
        return []
    turned = [[parts[(first + step) % 5] for step in range(5)] for first in range(5)]
    return [Fold(data, number + 1, joined(one[:3]), one[3], one[4]) for number, one in enumerate(turned)]


def made_up_folds(n_folds: int = 2, n_queries: int = 20, n_documents: int = 10, seed: int = 0) -> list[Fold]:
    """Queries whose grades follow a linear score with noise.

    >>> made_up_folds()[0].test.X.shape
    (200, 5)
    """
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=5)

    def part(first: int) -> Graded:
        X = rng.normal(size=(n_queries * n_documents, 5))
        y = np.clip(np.round(X @ weights / 2.0 + rng.normal(size=len(X))), 0, 2)
        return Graded(X, y, first + np.repeat(np.arange(n_queries), n_documents))

    return [Fold(MADE_UP, number + 1, part(0), part(n_queries), part(2 * n_queries)) for number in range(n_folds)]


def graded(table: Any) -> Graded:  # noqa: ANN401 - a Table with queries
    """Put the documents of a query together."""
    order = np.argsort(table.qid, kind="stable")
    X = table.X.toarray() if hasattr(table.X, "toarray") else np.asarray(table.X)
    return Graded(X[order].astype(np.float64), np.asarray(table.y, dtype=np.float64)[order], table.qid[order])


def joined(parts: Sequence[Graded]) -> Graded:
    """Put parts one below the other."""
    return Graded(*(np.concatenate([getattr(one, name) for one in parts]) for name in ("X", "y", "qid")))


def methods() -> list[Method]:
    """The rankers that can be run here: without LightGBM there is none of it."""
    from importlib.util import find_spec

    c_grid = {"C": C_GRID}
    every = [
        Method(OURS, _ndcg_ranker(1.0), c_grid),
        Method(NDCG_ALONE, _ndcg_ranker(0.0), c_grid),
        Method(SORTED, _by_assignment("discount"), {"C": (1.0, 100.0, 10_000.0)}),
        Method(ASSIGNED, _by_assignment("linear"), {"C": (100.0,)}),
        Method(PAIRS, _pairs, c_grid),
    ]
    if find_spec("lightgbm") is not None:
        every.append(Method(TREES, _trees, {"leaves": (4, 8, 16, 31), "at_least": (5, 20, 50)}))
    return every


def rank_all(every: Sequence[Fold], progress: Progress, folder: Path | None) -> list[Ranked]:
    """Run every method on every fold; what is finished is kept."""
    kept: KeptRuns[Ranked] = KeptRuns(file_in(folder, FILE), asdict, _read)
    found = []
    for number, fold in enumerate(every):
        for method in methods():
            progress(number / len(every), f"{method.name} on {fold.data}, fold {fold.number}")
            key = key_of([fold.data, fold.number, *fold.learn.X.shape, method.name], dict(method.grid))
            one = kept.get(key)
            if one is None:
                one = ranked(method, fold)
                kept.add(key, one)
            found.append(one)
    return found


def ranked(method: Method, fold: Fold) -> Ranked:
    """Fit with every setting, choose by NDCG at 10 of the validation queries, and measure on the test queries."""
    start = process_time()
    settings = method.settings()
    with may_end_early():
        rankers = [method.fit(fold.learn, fold.choose, **setting) for setting in settings]
    seconds = process_time() - start
    losses = [1.0 - float(fold.learn.ndcg(ranker(fold.learn.X)).mean()) for ranker in rankers]
    best = int(np.argmax([fold.choose.ndcg(ranker(fold.choose.X)).mean() for ranker in rankers]))
    scores = rankers[best](fold.test.X)
    ndcg = tuple(tuple(fold.test.ndcg(scores, n).tolist()) for n in PLACES)
    return Ranked(fold.data, fold.number, method.name, settings[best], ndcg, losses[best], min(losses), seconds)


def _read(values: Mapping[str, Any]) -> Ranked:
    return Ranked(**{**values, "ndcg": tuple(map(tuple, values["ndcg"]))})


def _ndcg_ranker(pairs: float) -> Callable[..., Scores]:
    def fit(learn: Graded, choose: Graded, C: float) -> Scores:
        from riffler.learners.ndcg_ranker import NdcgRanker

        scores: Scores = NdcgRanker(10, C, pairs=pairs).fit(learn.X, learn.y, qid=learn.qid).decision_function
        return scores

    return fit


def _pairs(learn: Graded, choose: Graded, C: float) -> Scores:
    from riffler.learners.rank_svm import RankSVM

    scores: Scores = RankSVM(C, random_state=0).fit(learn.X, learn.y, qid=learn.qid).decision_function
    return scores


def _by_assignment(places: str) -> Callable[..., Scores]:
    def fit(learn: Graded, choose: Graded, C: float) -> Scores:
        from riffler.structured.assignment import Assignment
        from riffler.structured.structural_svm import StructuralSVM

        model = StructuralSVM(Assignment("ndcg", n=10, places=places), solver="one-slack", C=C, random_state=0)
        weights = model.fit(*learn.with_an_order()).coef_
        return lambda X: np.asarray(X @ weights)

    return fit


def _trees(learn: Graded, choose: Graded, leaves: int, at_least: int) -> Scores:
    """Lambdarank, stopped early by the validation queries."""
    import lightgbm

    model = lightgbm.LGBMRanker(
        n_estimators=500, learning_rate=0.05, num_leaves=leaves, min_child_samples=at_least, random_state=0,
        n_jobs=1, verbose=-1,
    )  # fmt: skip
    sizes, others = (np.unique(part.qid, return_counts=True)[1] for part in (learn, choose))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # eval_set has a new name in some versions
        model.fit(
            learn.X, learn.y.astype(int), group=sizes, eval_set=[(choose.X, choose.y.astype(int))],
            eval_group=[others], eval_at=[10], callbacks=[lightgbm.early_stopping(50, verbose=False)],
        )  # fmt: skip
    return lambda X: np.asarray(model.predict(X))
