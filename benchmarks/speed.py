"""Speed and memory of the rankers as ratios to a peer or to the limit, both measured in the same run on one thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
import sets
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV
from sklearn.utils import check_random_state

from riffler import PerceptronAtK, SGDAtK, TopKRanker
from riffler.learners.batches import mixed_batches
from riffler.learners.checks import checked_training
from riffler.records import IntArray, Matrix

REPEATS = 15


@dataclass(frozen=True, slots=True)
class EpochCost:
    """One epoch against one product with the weights and one selection of the same length."""

    data: str
    ranker: str
    product_ms: float
    selection_ms: float
    epoch_ms: float

    @property
    def ratio(self) -> float:
        """(epoch - selection) / product: the goal is at most 2."""
        return (self.epoch_ms - self.selection_ms) / self.product_ms


def median_ms(work: Callable[[], object]) -> float:
    """Median of 15 runs after a warm-up, in milliseconds."""
    work()
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return float(np.median(times) * 1e3)


def synthetic(n_rows: int, n_columns: int, kind: str, dtype: Any, seed: int = 0) -> tuple[Matrix, IntArray]:  # noqa: ANN401
    """Rows with 2 % positives that lie along a random direction; ``kind`` is "dense" or the non-zeros of a CSR row."""
    rng = np.random.default_rng(seed)
    if kind == "dense":
        X: Matrix = rng.standard_normal((n_rows, n_columns), dtype=np.float32).astype(dtype, copy=False)
    else:
        per_row = int(kind)
        # a few columns are in most rows and most are in few, as words are
        columns = (n_columns * rng.random((n_rows, per_row)) ** 3).astype(np.int32)
        values = rng.random(n_rows * per_row).astype(dtype)
        X = sparse.csr_matrix((values, columns.ravel(), np.arange(0, n_rows * per_row + 1, per_row, dtype=np.int32)))
        X.resize(n_rows, n_columns)
        X.sum_duplicates()
    scores = X @ rng.standard_normal(n_columns).astype(dtype)
    noisy = scores + scores.std() * rng.standard_normal(n_rows)
    return X, (noisy > np.quantile(noisy, 0.98)).astype(np.int64)


def epoch_costs() -> list[EpochCost]:
    """SGDAtK and PerceptronAtK on dense and CSR data of at least 2 * 10^7 non-zeros."""
    shapes = [
        ("dense 200,000 x 100", 200_000, 100, "dense"),
        ("dense 600,000 x 36", 600_000, 36, "dense"),
        ("CSR 300,000 x 50,000, 80 a row", 300_000, 50_000, "80"),
    ]
    costs = []
    for title, n_rows, n_columns, kind in shapes:
        for dtype in (np.float32, np.float64):
            X, y = synthetic(n_rows, n_columns, kind, dtype)
            weights = np.random.default_rng(1).standard_normal(n_columns).astype(dtype)
            scores = X @ weights
            product = median_ms(lambda X=X, weights=weights: X @ weights)  # type: ignore[misc]
            selection = median_ms(lambda scores=scores: np.argpartition(scores, len(scores) // 50))  # type: ignore[misc]
            for ranker in _rankers():
                data = checked_training(ranker, X, y, None)
                batches = mixed_batches(data.X, data.labels, None, check_random_state(0))
                start = (data, check_random_state(0)) if isinstance(ranker, PerceptronAtK) else (data,)
                ranker._start(*start)
                epoch = median_ms(lambda r=ranker, d=data, b=batches: r._epoch(d, b, 0.0))  # type: ignore[misc]
                name = f"{type(ranker).__name__} {ranker.surrogate}"
                costs.append(EpochCost(f"{title} {np.dtype(dtype).name}", name, product, selection, epoch))
    return costs


def _rankers() -> list[Any]:
    return [SGDAtK(surrogate=name) for name in ("avg", "max", "ramp", "struct")] + [
        PerceptronAtK(surrogate=name) for name in ("avg", "max")
    ]


def fit_against_cv(
    titles: tuple[str, ...] = ("cod-rna", "ijcnn1", "a9a", "covtype-100k", "reuters-moneyfx"),
) -> list[dict[str, Any]]:
    """Whole TopKRanker.fit with its tuning against LogisticRegressionCV with as many candidates, one thread each."""
    rows = []
    for source in (source for source in sets.SOURCES if source.title in titles):
        split = sets.load(source, 0)
        if split is None:
            continue
        X, y = split.X[split.learn], split.y[split.learn]
        TopKRanker(max_iter=1).fit(X[:2000], y[:2000])  # compile before the clock runs
        start = perf_counter()
        ranker = TopKRanker(random_state=0).fit(X, y)
        ours = perf_counter() - start
        start = perf_counter()
        LogisticRegressionCV(
            Cs=len(ranker.candidates_), cv=5, l1_ratios=(0.0,), use_legacy_attributes=False, scoring="neg_log_loss"
        ).fit(X, y)
        theirs = perf_counter() - start
        rows.append(
            {
                "data": split.title,
                "candidates": len(ranker.candidates_),
                "TopKRanker_s": ours,
                "LogisticRegressionCV_s": theirs,
                "ratio": ours / theirs,
            }
        )
    return rows


GROWTH = """
import json, resource, sys, time
import numpy as np
sys.path.insert(0, sys.argv[3])
from speed import synthetic
from riffler import PerceptronAtK, SGDAtK, TopKRanker
from riffler.records import n_bytes
method, n_rows = sys.argv[1], int(sys.argv[2])
make = {"TopKRanker": lambda: TopKRanker(random_state=0), "SGDAtK": lambda: SGDAtK(random_state=0),
        "PerceptronAtK": lambda: PerceptronAtK(random_state=0)}[method]
small, small_y = synthetic(3000, 30, "dense", np.float64)
make().fit(small, small_y)
X, y = synthetic(n_rows, 30, "dense", np.float64)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# making the data peaked higher than keeping it: fill memory up to that peak so that the fit's own use shows
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 1024
filler = np.ones(max(0, (before - resident()) * 128), dtype=np.float64)
before = max(before, resident())
start = time.perf_counter()
make().fit(X, y)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"method": method, "rows": n_rows, "seconds": seconds, "megabytes": max((peak - before) / 1024, 0.1),
                  "input_megabytes": n_bytes(X) / 2**20}))
"""


def growth(here: str, sizes: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000, 1_000_000)) -> list[dict[str, Any]]:
    """Time and peak memory beyond the input against rows, each in a fresh process; 30 dense columns, 2 % positives."""
    points = []
    for method in ("TopKRanker", "SGDAtK", "PerceptronAtK"):
        for n_rows in sizes:
            done = subprocess.run(
                [sys.executable, "-c", GROWTH, method, str(n_rows), here],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            points.append(json.loads(done.stdout))
            print(f"growth: {points[-1]}", file=sys.stderr, flush=True)
    return points


def as_rows(costs: list[EpochCost]) -> list[dict[str, Any]]:
    """Plain values with the ratio."""
    return [{**asdict(cost), "ratio": cost.ratio} for cost in costs]
