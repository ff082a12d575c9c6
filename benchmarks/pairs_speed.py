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
    """All rows; sets of few columns are made dense and standardised."""
    try:
        table = datasets.load(name, split="all", positive=positive, dtype=np.float64)
    except DataSetMissing:
        return None
    X, y = table.X, np.asarray(table.labels()).astype(np.int64)
    if is_sparse(X) and X.shape[1] <= DENSE_COLUMNS:
        X = X.toarray()
    return (X if is_sparse(X) else np.ascontiguousarray(StandardScaler().fit_transform(X))), y


def made_up(n_rows: int, n_columns: int = 50_000, a_row: int = 80, seed: int = 0) -> tuple[Matrix, IntArray]:
    """Sparse rows whose labels follow a linear score with noise; a tenth is positive."""
    rng = np.random.default_rng(seed)
    columns = (n_columns * rng.random(n_rows * a_row) ** 2).astype(np.int32)
    starts = np.arange(0, n_rows * a_row + 1, a_row)
    X = sparse.csr_matrix((rng.random(n_rows * a_row), columns, starts), shape=(n_rows, n_columns))
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
    for name, (X, y) in problems().items():
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


def speed() -> list[dict[str, Any]]:
    """CPU seconds until 99.9 % of the final AUC: ActiveRankSVM against RankSVM and LinearSVC, settings on validation.

    The final AUC is the best of the three at their ends. RankSVM and LinearSVC are run with ever more iterations, and
    each is charged only for the shortest run that gets there.
    """
    rows = []
    for name, (X, y) in problems().items():
        learn, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
        data = X[learn], y[learn], X[test], y[test]
        curves = {"ActiveRankSVM": _active_curve(*data), "RankSVM": _rank_curve(*data), "LinearSVC": _svc_curve(*data)}
        final = max(curve[-1][1] for curve in curves.values())
        times = {
            method: min((seconds for seconds, auc in curve if auc >= 0.999 * final), default=float("nan"))
            for method, curve in curves.items()
        }
        ratios = {f"{method} / ours": times[method] / times["ActiveRankSVM"] for method in ("RankSVM", "LinearSVC")}
        ends = {f"{method} AUC": curve[-1][1] for method, curve in curves.items()}
        rows.append({"data": name, **times, **ratios, **ends})
        print(rows[-1], flush=True)
    return rows


Curve = list[tuple[float, float]]


def _active_curve(X: Matrix, y: IntArray, X_test: Matrix, y_test: IntArray) -> Curve:
    """(CPU seconds, AUC) after each round, of the C that ends best."""
    best: Curve = []
    ActiveRankSVM(n_pairs=3000).fit(X[:2000], np.arange(2000) % 2)  # compile before the clock runs
    for C in (10.0, 100.0, 1000.0):
        curve: Curve = []
        spent, start = 0.0, process_time()
        for found in ActiveRankSVM(n_pairs=30_000, C=C, random_state=0).rounds(X, y):
            spent += process_time() - start
            curve.append((spent, roc_auc(y_test, np.asarray(X_test @ found.weights))))
            start = process_time()
        if not best or curve[-1][1] > best[-1][1]:
            best = curve
    return best


def _rank_curve(X: Matrix, y: IntArray, X_test: Matrix, y_test: IntArray) -> Curve:
    best: Curve = []
    for C in (10.0, 100.0, 1000.0, 10_000.0):
        curve = [_timed(RankSVM(C, tol=tol, random_state=0), X, y, X_test, y_test) for tol in (0.3, 0.1, 1e-2, 1e-3)]
        if not best or curve[-1][1] > best[-1][1]:
            best = curve
    return best


def _svc_curve(X: Matrix, y: IntArray, X_test: Matrix, y_test: IntArray) -> Curve:
    best: Curve = []
    for C in (1e-3, 1e-2, 1e-1, 1.0):
        curve = [
            _timed(
                LinearSVC(C=C, class_weight="balanced", dual=is_sparse(X), max_iter=n, random_state=0),
                X, y, X_test, y_test,
            )
            for n in (1, 2, 5, 20, 100)
        ]  # fmt: skip
        if not best or curve[-1][1] > best[-1][1]:
            best = curve
    return best


def _timed(model: Any, X: Matrix, y: IntArray, X_test: Matrix, y_test: IntArray) -> tuple[float, float]:  # noqa: ANN401
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds = cpu_seconds(lambda: model.fit(X, y), 1)
    return seconds, roc_auc(y_test, model.decision_function(X_test))


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
