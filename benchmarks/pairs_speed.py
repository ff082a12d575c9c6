"""Time of the rankers of pairs: to a given AUC, to a given gap, a candidate, and against the size of the data.

Times are CPU seconds of this process on one thread, so that what else runs on the machine counts little.
"""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from riffler import ActiveRankSVM, RankSVM, datasets, roc_auc
from riffler._fast.pair_draws import Rule, accept_pairs
from riffler.errors import DataSetMissing
from riffler.learners.pair_pool import PairPool, sampling_from
from riffler.learners.pair_ranker import GradedSet
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

LARGE = (
    ("ijcnn1", None),
    ("cod-rna", None),
    ("covtype-100k", None),
    ("connect-4", 1),
    ("mnist", 5),
    ("kddcup99", 0),
    ("rcv1v2-subsets", "CCAT"),
)
"""Sets above a million non-zeros."""

DENSE_COLUMNS = 2000


def load(name: str, positive: str | int | None) -> tuple[Matrix, IntArray] | None:
    """All rows; sets of few columns are made dense."""
    try:
        table = datasets.load(name, split="all", positive=positive, dtype=np.float64)
    except DataSetMissing:
        return None
    X, y = table.X, np.asarray(table.labels()).astype(np.int64)
    if is_sparse(X) and X.shape[1] <= DENSE_COLUMNS:
        X = X.toarray()
    return X, y


def standardised(X: Matrix, rows: IntArray) -> Matrix:
    """Dense columns by the mean and spread of some rows; sparse ones as they are."""
    return X if is_sparse(X) else np.ascontiguousarray(StandardScaler().fit(X[rows]).transform(X))


def made_up(n_rows: int, n_columns: int = 50_000, a_row: int = 80, seed: int = 0) -> tuple[Matrix, IntArray]:
    """Sparse rows whose labels follow a linear score with noise; a tenth is positive."""
    rng = np.random.default_rng(seed)
    columns = (n_columns * rng.random(n_rows * a_row) ** 2).astype(np.int32)
    starts = np.arange(0, n_rows * a_row + 1, a_row)
    X = sparse.csr_matrix((rng.random(n_rows * a_row), columns, starts), shape=(n_rows, n_columns))
    X.sum_duplicates()  # a column may be drawn twice
    signal = X @ rng.normal(size=n_columns) + rng.normal(size=n_rows)
    return X, (signal > np.quantile(signal, 0.9)).astype(np.int64)


def problems() -> dict[str, tuple[Matrix, IntArray]]:
    """The large sets that are here, and one that is made up."""
    found = {name: load(name, positive) for name, positive in LARGE}
    return {name: one for name, one in found.items() if one is not None} | {"made up, 100k x 50k": made_up(100_000)}


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least of some measurements."""
    times = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def solver() -> list[dict[str, Any]]:
    """Time of RankSVM to a relative gap of 1e-3, in products X @ w of the same run."""
    rows = []
    for name, (given, y) in problems().items():
        X = standardised(given, np.arange(len(y)))
        w = np.ones(X.shape[1])
        unit = cpu_seconds(lambda X=X, w=w: X @ w, 5)  # type: ignore[misc]
        RankSVM(max_iter=2).fit(X[:3000], np.arange(3000) % 2)  # compile before the clock runs
        for C in (100.0, 10_000.0):
            best = RankSVM(C, tol=1e-7, max_iter=500, random_state=0).fit(X, y).loss_
            ranker = RankSVM(C, random_state=0)
            seconds = cpu_seconds(lambda r=ranker, X=X, y=y: r.fit(X, y))  # type: ignore[misc]
            gap = ranker.loss_ / best - 1
            rows.append(
                {
                    "data": name,
                    "shape": str(X.shape),
                    "C": C,
                    "X @ w ms": 1e3 * unit,
                    "seconds": seconds,
                    "units": seconds / unit,
                    "gap": f"{gap:.1e}",
                    "products": ranker.n_products_,
                }
            )
            print(rows[-1], flush=True)
    return rows


SPEED_SEEDS = 5
NEVER = float("inf")


def speed() -> list[dict[str, Any]]:
    """CPU seconds until 99.9 % of a rival's final AUC: ours against RankSVM and LinearSVC; median and range of seeds.

    A fifth of the rows is for the test, nothing is chosen by it. The rest is split anew by each seed: three quarters to
    learn from and a quarter to choose C by, which is done at the first seed. Both sides must reach the AUC that the
    rival itself ends with, less a thousandth. The rivals are run with ever more iterations and charged only for
    the shortest run that gets there.
    """
    return [_speed_on(name, X, y) for name, (X, y) in problems().items()]


def _speed_on(name: str, X: Matrix, y: IntArray) -> dict[str, Any]:
    rest, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    chosen: dict[str, float] = {}
    found: list[dict[str, Curve]] = []
    for seed in range(SPEED_SEEDS):
        fit, validation = train_test_split(rest, test_size=0.25, stratify=y[rest], random_state=seed)
        scaled = standardised(X, fit)
        learn = scaled[fit], y[fit]
        if seed == 0:
            _warm_up(*learn)
            chosen = {method: _choose(method, *learn, scaled[validation], y[validation]) for method in CURVES}
        found.append({method: CURVES[method](chosen[method], seed, *learn, scaled[test], y[test]) for method in CURVES})
    row: dict[str, Any] = {"data": name}
    for rival in ("RankSVM", "LinearSVC"):
        levels = [0.999 * curves[rival][-1][1] for curves in found]
        theirs, ours = (
            [_seconds_to(level, curves[method]) for level, curves in zip(levels, found, strict=True)]
            for method in (rival, "ActiveRankSVM")
        )
        row |= {f"{rival} s": _median_and_range(theirs), f"ours s, to AUC of {rival}": _median_and_range(ours)}
        row[f"{rival} / ours"] = _median_and_range([one / other for one, other in zip(theirs, ours, strict=True)])
    row |= {f"{method} AUC": f"{np.median([curves[method][-1][1] for curves in found]):.4f}" for method in CURVES}
    row["C"] = ", ".join(f"{C:g}" for C in chosen.values())
    print(row, flush=True)
    return row


def _seconds_to(level: float, curve: Curve) -> float:
    return min((seconds for seconds, auc in curve if auc >= level), default=NEVER)


def _median_and_range(values: list[float]) -> str:
    """The median, and the least and greatest value; seconds are "inf" where an AUC is never reached."""
    return f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


Curve = list[tuple[float, float]]
"""(CPU seconds, AUC), the last with all the work that the method may do."""


def _warm_up(X: Matrix, y: IntArray) -> None:
    """Compile all loops before the clock runs, on rows of both classes."""
    few = np.concatenate([np.flatnonzero(y == label)[:1500] for label in (0, 1)])
    for model in (ActiveRankSVM(n_pairs=3000), RankSVM(max_iter=2), _svc(X, 1.0, 1, 0)):
        _fit(model, X[few], y[few])


def _choose(method: str, X: Matrix, y: IntArray, X_validation: Matrix, y_validation: IntArray) -> float:
    """The C that ends with the highest AUC on the validation part."""
    ends = {C: CURVES[method](C, 0, X, y, X_validation, y_validation)[-1][1] for C in C_GRIDS[method]}
    return max(ends, key=ends.__getitem__)


def _active_curve(C: float, seed: int, X: Matrix, y: IntArray, X_test: Matrix, y_test: IntArray) -> Curve:
    """After each round of one run."""
    curve: Curve = []
    spent, start = 0.0, process_time()
    for found in ActiveRankSVM(n_pairs=30_000, C=C, random_state=seed).rounds(X, y):
        spent += process_time() - start
        curve.append((spent, roc_auc(y_test, np.asarray(X_test @ found.weights))))
        start = process_time()
    return curve


def _rank_curve(C: float, seed: int, X: Matrix, y: IntArray, X_test: Matrix, y_test: IntArray) -> Curve:
    models = [RankSVM(C, tol=tol, random_state=seed) for tol in (0.3, 0.1, 1e-2, 1e-3)]
    return [(_fit(model, X, y), roc_auc(y_test, model.decision_function(X_test))) for model in models]


def _svc_curve(C: float, seed: int, X: Matrix, y: IntArray, X_test: Matrix, y_test: IntArray) -> Curve:
    models = [_svc(X, C, n, seed) for n in (1, 2, 5, 20, 100)]
    return [(_fit(model, X, y), roc_auc(y_test, model.decision_function(X_test))) for model in models]


def _svc(X: Matrix, C: float, max_iter: int, seed: int) -> LinearSVC:
    return LinearSVC(C=C, class_weight="balanced", dual=is_sparse(X), max_iter=max_iter, random_state=seed)


def _fit(model: Any, X: Matrix, y: IntArray) -> float:  # noqa: ANN401
    """CPU seconds of a fit that may end early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cpu_seconds(lambda: model.fit(X, y), 1)


CURVES: dict[str, Callable[..., Curve]] = {
    "ActiveRankSVM": _active_curve,
    "RankSVM": _rank_curve,
    "LinearSVC": _svc_curve,
}
C_GRIDS = {
    "ActiveRankSVM": (10.0, 100.0, 1000.0),
    "RankSVM": (10.0, 100.0, 1000.0, 10_000.0),
    "LinearSVC": (1e-3, 1e-2, 1e-1, 1.0),
}


def draws() -> list[dict[str, Any]]:
    """Candidates a second once scores are known, for growing sets: a candidate costs the same, but for cache misses.

    The classes are three standard deviations apart, so that few pairs are wrong: candidates are many, not acceptances.
    """
    rows = []
    rng = np.random.default_rng(0)
    for n_rows in (10_000, 100_000, 1_000_000, 5_000_000):
        y = (rng.random(n_rows) < 0.1).astype(np.int64)
        X: FloatArray = (rng.normal(size=(n_rows, 1)) + 3.0 * y[:, None]).astype(np.float32)
        data = GradedSet(X, y.astype(float), np.ones(n_rows), None)
        pool = PairPool(X, data.pairs(), data.weight, 0)
        w = np.ones(1)
        pool._scores[:] = X[pool._pairs.rows, 0]
        for name in ("soft-close", "soft-correct"):
            rule = Rule(sampling_from(name).code, 1, 1.0, 0.0, True)
            outputs = [np.empty(100_000, kind) for kind in (np.int32, np.int32, float, float)]
            place = pool._rows, pool.compiled, rule, w, pool._scores, 0
            best = 0.0
            for turn in range(4):
                table = np.full(1 << 18, -1, np.int64)
                start = process_time()
                n_done, n_used, _ = accept_pairs(*place, turn * 10_000_000, 10_000_000, table, *outputs)
                best = max(best, n_used / (process_time() - start) / 1e6)
            row = {"rows": n_rows, "sampling": name, "million candidates a second": best}
            rows.append({**row, "accepted": n_done / n_used})
            print(rows[-1], flush=True)
    return rows


def growth(
    sizes: tuple[int, ...] = (100_000, 300_000, 1_000_000, 2_000_000, 5_000_000),
    pairs: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000, 1_000_000),
) -> list[dict[str, Any]]:
    """CPU seconds and megabytes beside the input against rows (10 columns, 10,000 pairs), and seconds against pairs."""
    rows: list[dict[str, Any]] = []
    for n_rows in sizes:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n_rows, 10), dtype=np.float32)
        y = (X[:, 0] + rng.normal(size=n_rows) > 1.5).astype(np.int8)
        for method, ranker in {
            "ActiveRankSVM": ActiveRankSVM(random_state=0),
            "RankSVM": RankSVM(random_state=0),
        }.items():
            ranker.fit(X[:2000], np.arange(2000) % 2)
            seconds = cpu_seconds(lambda r=ranker, X=X, y=y: r.fit(X, y), 1)  # type: ignore[misc]
            tracemalloc.start()
            ranker.fit(X, y)
            megabytes = tracemalloc.get_traced_memory()[1] / 2**20
            tracemalloc.stop()
            place = {"kind": "rows", "method": method, "rows": n_rows}
            rows.append({**place, "seconds": seconds, "megabytes": megabytes})
            print(rows[-1], flush=True)
    X, y = X[:500_000], y[:500_000]
    for n_pairs in pairs:
        ranker = ActiveRankSVM(n_pairs=n_pairs, random_state=0)
        seconds = cpu_seconds(lambda r=ranker, X=X, y=y: r.fit(X, y), 1)  # type: ignore[misc]
        rows.append({"kind": "pairs", "method": "ActiveRankSVM", "rows": n_pairs, "seconds": seconds, "megabytes": 0.0})
        print(rows[-1], flush=True)
    return rows
