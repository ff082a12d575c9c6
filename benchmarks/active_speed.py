"""Speed of a batch through the active rankers, as a ratio to ``X @ w`` (or one matrix product) in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from riffler import ActivePerceptronAtK, ActiveTopK, ArrayOracle
from riffler.records import IntArray, Matrix

REPEATS = 15


def main() -> None:
    with threadpool_limits(limits=1):
        for title, X in _shapes():
            _perceptron(title, X)
        _kernel()
        _refit()


def _shapes() -> list[tuple[str, Matrix]]:
    """At least 2 * 10^7 values each."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(200_000, 100))
    narrow = rng.normal(size=(600_000, 36))
    thin = rng.normal(size=(2_500_000, 8))
    n_texts, n_terms = 250_000, 80
    columns = np.sort(rng.integers(50_000, size=(n_texts, n_terms)), axis=1).astype(np.int32)
    bounds = np.arange(0, n_texts * n_terms + 1, n_terms, dtype=np.int32)
    values = rng.random(n_texts * n_terms, dtype=np.float32)
    text = sparse.csr_matrix((values, columns.ravel(), bounds), shape=(n_texts, 50_000))
    return [
        ("200,000 x 100 float64", wide),
        ("200,000 x 100 float32", wide.astype(np.float32)),
        ("600,000 x 36 float64", narrow),
        ("600,000 x 36 float32", narrow.astype(np.float32)),
        ("2,500,000 x 8 float64", thin),
        ("250,000 x 50,000 CSR, 80 a row, float32", text),
    ]


def _labels(X: Matrix) -> IntArray:
    score = np.asarray(X @ np.random.default_rng(1).normal(size=X.shape[1])).ravel()
    labels: IntArray = (score > np.quantile(score, 0.97)).astype(np.int64)
    return labels


def _perceptron(title: str, X: Matrix) -> None:
    """A batch (score, select, update) against X @ w, the two in turn."""
    labels = _labels(X)
    ranker = ActivePerceptronAtK(300, random_state=0)
    ranker.step(X, ArrayOracle(labels))  # compiles, and gives it something to rank by
    w = np.random.default_rng(2).normal(size=X.shape[1]).astype(X.dtype)
    pairs = _in_turn(lambda: X @ w, lambda: ranker.step(X, ArrayOracle(labels)))
    print(f"ActivePerceptronAtK.step / X @ w, {title}: {_ratio(pairs)}", flush=True)


def _kernel() -> None:
    """Scores of the exact kernel with 2,000 support vectors against the one matrix product behind them."""
    from riffler.features.blocks import identity_scaling
    from riffler.scorers import Rbf

    rng = np.random.default_rng(0)
    for n_columns in (8, 54, 300):
        X = rng.normal(size=(20_000, n_columns)).astype(np.float32)
        scorer = Rbf().start(X, identity_scaling(n_columns), 0)
        scorer.add(X[:2000], rng.normal(size=2000))
        support = np.ascontiguousarray(X[:2000].T)
        pairs = _in_turn(lambda X=X, support=support: X @ support, lambda X=X, scorer=scorer: scorer.scores(X))  # type: ignore[misc]
        print(f"Rbf scores, 2,000 support vectors / X @ Z', {n_columns} columns: {_ratio(pairs)}", flush=True)


def _refit() -> None:
    """Time of ActiveTopK's refit against the labels bought, for two sizes of the batch: only the labels matter."""
    rng = np.random.default_rng(0)
    for n_rows in (20_000, 200_000):
        X = rng.normal(size=(n_rows, 20)).astype(np.float32)
        labels = _labels(X)
        for n_labels in (200, 1000, 5000):
            ranker = ActiveTopK(50, random_state=0).fit(X[:n_labels], labels[:n_labels])
            times = [_timed(ranker._refit) for _ in range(5)]
            scoring = [_timed(lambda X=X, ranker=ranker: ranker.decision_function(X)) for _ in range(3)]  # type: ignore[misc]
            print(
                f"ActiveTopK, batch of {n_rows:,} rows, {n_labels:,} labels: refit {np.median(times):.3f} s, "
                f"scoring the batch {np.median(scoring):.3f} s",
                flush=True,
            )


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _in_turn(peer: Callable[[], object], ours: Callable[[], object]) -> list[tuple[float, float]]:
    return [(_timed(peer), _timed(ours)) for _ in range(REPEATS)]


def _ratio(pairs: list[tuple[float, float]]) -> str:
    peer, ours = np.median([one[0] for one in pairs]), np.median([one[1] for one in pairs])
    return f"{ours / peer:.2f} ({1000 * ours:.1f} ms / {1000 * peer:.1f} ms, medians of {REPEATS})"
