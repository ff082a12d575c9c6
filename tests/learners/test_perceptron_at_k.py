"""The perceptron keeps its mistake bounds, counts its mistakes, and learns from a stream batch by batch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from riffler import PerceptronAtK, mistake_bound
from riffler._fast import draws
from riffler.errors import UnknownName
from riffler.records import FloatArray, IntArray
from tests.naive.perceptron_at_k import NaivePerceptron

Batch = tuple[FloatArray, IntArray]
K, N_POSITIVE = 3, 10


def margin_stream(seed: int, n_batches: int = 60) -> tuple[list[Batch], FloatArray, float]:
    """Batches of unit rows, a unit w, and the precision-at-k margin that w has on all of them.

    Along w, one positive of each batch lies below the negatives: the classes overlap, the margin at k does not need
    them apart.
    """
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.array([1, 0], dtype=np.int8), [N_POSITIVE, 30])
    batches: list[Batch] = []
    margins = []
    for _ in range(n_batches):
        along = np.concatenate([[-0.6], rng.uniform(0.4, 0.7, N_POSITIVE - 1), rng.uniform(-0.5, 0.0, 30)])
        across = rng.normal(size=(len(labels), 5))
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        X = np.column_stack([along, np.sqrt(1 - along**2)[:, None] * across])
        lowest = np.sort(along[labels == 1])[: N_POSITIVE - K + 1]
        margins.append(lowest.mean() - along[labels == 0].max())
        mixed = rng.permutation(len(labels))
        batches.append((X[mixed], labels[mixed]))
    return batches, np.eye(6)[0], float(min(margins))


def run(batches: list[Batch], **params: object) -> tuple[PerceptronAtK, list[float]]:
    """Feed the batches; return the perceptron and the mistakes made in each."""
    ranker = PerceptronAtK(K, average=False, random_state=0, **params)  # type: ignore[arg-type]
    so_far = [0.0]
    for X, labels in batches:
        ranker.partial_fit(X, labels)
        so_far.append(ranker.mistakes_)
    return ranker, np.diff(so_far).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_updates_stay_below_4k_over_the_squared_margin(seed: int) -> None:
    batches, _, gamma = margin_stream(seed)
    assert gamma > 0.2
    ranker, mistakes = run(batches)
    assert 0 < ranker.n_updates_ <= 4 * K / gamma**2
    assert ranker.mistakes_ == sum(mistakes)
    assert ranker.mistakes_ <= 4 * K / gamma**2
    assert ranker.n_updates_ == np.count_nonzero(mistakes)
    assert ranker.n_iter_ == len(batches)


@pytest.mark.parametrize("surrogate", ["avg", "max"])
@pytest.mark.parametrize("missed", ["top", "bottom", "random"])
def test_mistakes_stay_below_the_bound_of_every_comparator(surrogate: str, missed: str) -> None:
    batches, best, gamma = margin_stream(7)
    rng = np.random.default_rng(0)
    noisy: list[Batch] = [(X, np.where(rng.random(len(y)) < 0.05, 1 - y, y).astype(np.int8)) for X, y in batches]
    rows, labels = np.vstack([X for X, _ in batches]), np.concatenate([y for _, y in batches])
    classifier = LogisticRegression(C=100).fit(rows, labels).coef_[0]
    comparators = [best / gamma, 3 * best, classifier, np.zeros(6), *rng.normal(size=(5, 6))]
    for stream in (batches, noisy):
        ranker, _ = run(stream, surrogate=surrogate, missed=missed)
        bounds = [mistake_bound(w, stream, K, surrogate=surrogate) for w in comparators]
        assert 0 < ranker.mistakes_ <= min(bounds)


def test_the_bound_by_hand() -> None:
    X, labels = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 1.0]]), np.array([1, 1, 0])
    w = np.array([1.0, 0.0])  # scores 3, 1 and 0: no loss at k = 1 and none at k = 2
    assert mistake_bound(w, [(X, labels)], 1) == pytest.approx(1 * 25 * 4)
    assert mistake_bound(w, [(sparse.csr_matrix(X), labels)], 2, surrogate="max") == pytest.approx(1 * 25 * 8)
    assert mistake_bound(-w, [(X, labels)], 1, surrogate="max") == pytest.approx((10 + 2) ** 2)  # 1 + 0 - (-3) = 4
    assert mistake_bound(w, [(X, labels), (X[2:], labels[2:])], 1.0) == pytest.approx(25 * 8)  # no positives: no part
    with pytest.raises(UnknownName, match="Known: avg, max"):
        mistake_bound(w, [(X, labels)], 1, surrogate="ramp")


def test_mistakes_are_the_negatives_in_the_top_k() -> None:
    batches, _, _ = margin_stream(3)
    ranker = PerceptronAtK(K, average=False, random_state=0).partial_fit(*batches[0])
    for X, labels in batches[1:]:
        top = np.argsort(-(X @ ranker.coef_[0]))[:K]
        before = ranker.mistakes_
        ranker.partial_fit(X, labels)
        assert ranker.mistakes_ - before == (labels[top] == 0).sum()


@pytest.mark.parametrize("surrogate", ["avg", "max"])
def test_a_separable_stream_stops_making_mistakes(surrogate: str) -> None:
    batches, _, _ = margin_stream(0)
    if surrogate == "max":  # needs the classes apart
        batches = [(np.delete(X, X[:, 0] == -0.6, axis=0), np.delete(y, X[:, 0] == -0.6)) for X, y in batches]
    _, mistakes = run(batches * 3, surrogate=surrogate)
    assert sum(mistakes[: len(batches)]) > 0
    assert sum(mistakes[-len(batches) :]) == 0


@pytest.mark.parametrize("k", [K, 0.3])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_stream_equals_the_plain_loop(k: int | float, storage: str) -> None:
    batches, _, _ = margin_stream(1, n_batches=12)
    ranker = PerceptronAtK(k, random_state=5)
    slow = NaivePerceptron("avg", "top", lambda step, row: draws.uniform(ranker._tie_seed, step, row), np.zeros(6))
    for X, labels in batches:
        ranker.partial_fit(X if storage == "dense" else sparse.csr_matrix(X), labels)
        slow.see(X, labels, np.ones(len(labels)), np.arange(len(labels)), k)
        np.testing.assert_allclose(ranker.coef_[0], slow.average, atol=1e-12)
        assert ranker.mistakes_ == slow.mistakes


def test_fit_counts_mistakes_over_all_epochs() -> None:
    batches, _, _ = margin_stream(2)
    X, y = np.vstack([X for X, _ in batches]), np.concatenate([y for _, y in batches])
    one, three = (PerceptronAtK(0.3, n_epochs=n, batch_size=200, random_state=0).fit(X, y) for n in (1, 3))
    assert one.n_iter_ == 12
    assert three.n_iter_ == 36
    assert three.mistakes_ >= one.mistakes_ > 0
