"""The purchases of one batch: what is looked at, when buying stops, and that nobody is left out unpaid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler import ActiveTopK, ArrayOracle
from riffler.features.column_map import ColumnMap
from riffler.learners import shopping
from riffler.learners.asking import OpenBatch, top_rows
from riffler.learners.bought import Bought
from riffler.learners.cover import spread_cover
from riffler.learners.drift import DriftWatch
from riffler.learners.laplace import LaplaceLogistic
from riffler.learners.purchase import Thompson
from riffler.learners.shopping import Shopping, Terms
from riffler.records import FloatArray, IntArray, Matrix

K = 10


def rows(n: int = 300, share: float = 0.15, seed: int = 0) -> tuple[FloatArray, IntArray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.int8)
    return rng.normal(size=(n, 3)) + 2 * y[:, None], y


def shop(X: Matrix, y: IntArray, *, round: int = 0, known: Bought | None = None, **terms: Any) -> Shopping:  # noqa: ANN401 - terms
    """Give the purchases of a batch before they are made."""
    found = ColumnMap(20, None, seed=0).fit(X)
    model, rng = LaplaceLogistic(found.groups), np.random.default_rng(1)
    posterior = None if known is None else model.fit(found.transform(known.X), known.labels)
    scores = np.zeros(X.shape[0]) if posterior is None else posterior.scores(found.transform(X))
    draws = rng.random((2, X.shape[0]))
    batch = OpenBatch(X, range(X.shape[0]), ArrayOracle(y), round, scores, top_rows(scores, K, draws[0]), draws[1])
    wanted = {
        "k": K, "worth": 0.01, "tolerance": 0.02, "cover": spread_cover, "purchase": Thompson(), "limit": None,
        "n_draws": 32, "explore": 2.0, "audit": 2.0, "floor": 0.0,
        "weighting": "equal", **terms,
    }  # fmt: skip
    bought = Bought.nothing(X) if known is None else known
    return Shopping(batch, Terms(**wanted), found, model, posterior, bought, DriftWatch.new(0), rng)


def origins(done: Shopping) -> list[str]:
    return [entry.origin for entry in done.batch.oracle.ledger]


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_cover_then_gain_then_sample(storage: str) -> None:
    X, y = rows()
    done = shop(X if storage == "dense" else sparse.csr_matrix(X), y)
    done.run()
    asked = done.batch.asked
    assert len(set(asked.tolist())) == asked.size
    np.testing.assert_array_equal(done.batch.answers, y[asked])
    assert len(done.bought) == asked.size
    np.testing.assert_array_equal(done.bought.labels, y[asked])
    kept = done.bought.X.toarray() if storage == "csr" else done.bought.X
    np.testing.assert_array_equal(kept, X[asked])
    seen = origins(done)
    assert seen == sorted(seen, key=["cover", "gain", "sample"].index)
    assert set(seen) == {"cover", "gain", "sample"}
    np.testing.assert_allclose(done._known, done.feature_map.transform(done.bought.X), atol=1e-5)


def test_once_both_are_known_nothing_is_covered() -> None:
    X, y = rows()
    other, labels = rows(40, 0.5, seed=1)
    done = shop(X, y, round=1, known=Bought.nothing(X).more(other, labels, 0, np.ones(40)))
    done.run()
    assert "cover" not in origins(done)
    assert np.isfinite(done.regret)


@pytest.mark.parametrize(
    "terms", [{"tolerance": 1.0}, {"worth": 1e9}, {"limit": 0}], ids=["sure enough", "too dear", "no more allowed"]
)
def test_when_nothing_is_bought_only_the_sample_is_asked(terms: dict[str, Any]) -> None:
    X, y = rows()
    other, labels = rows(40, 0.5, seed=1)
    done = shop(X, y, round=1, known=Bought.nothing(X).more(other, labels, 0, np.ones(40)), **terms)
    done.run()
    assert set(origins(done)) <= {"sample"}


def test_a_smaller_worth_buys_more() -> None:
    X, y = rows(800)
    spent = []
    for worth in (0.3, 0.03, 0.003):
        done = shop(X, y, worth=worth, tolerance=0.0)
        done.run()
        spent.append(done.batch.asked.size)
    assert spent == sorted(spent)
    assert spent[0] < spent[-1]


@pytest.mark.parametrize("n", [7, 50, 250, 333])
@pytest.mark.parametrize("label", [0, 1, -1])
def test_without_both_classes_at_most_a_tenth_is_covered(n: int, label: int) -> None:
    X, _ = rows(n)
    done = shop(X, np.full(n, label))
    done.run()
    n_covered = origins(done).count("cover")
    assert n_covered == min(n, max(shopping.COVER_CHUNK, n // 10))
    assert done.posterior is None
    assert np.isnan(done.regret)


def test_every_unbought_row_can_be_sampled_and_the_floor_says_how_surely() -> None:
    X, y = rows()
    for floor in (0.0, 0.05, 1.0):
        done = shop(X, y, floor=floor)
        least = done.run()
        assert least >= floor
        assert (least > 0) == (floor > 0)  # without a floor nothing is promised
        assert done.batch.probability.min() >= least
    assert done.batch.asked.size == len(y)


def test_nothing_is_explored_or_audited_unless_wanted() -> None:
    X, y = rows()
    done = shop(X, y, explore=0.0, audit=0.0)
    assert done.run() == 0.0
    assert "sample" not in origins(done)


def test_samples_are_as_many_as_wanted_on_average() -> None:
    X, y = rows()
    other, labels = rows(40, 0.5, seed=1)
    known = Bought.nothing(X).more(other, labels, 0, np.ones(40))
    in_top, below = [], []
    for seed in range(100):
        done = shop(X, y, round=1, known=known, limit=0, explore=6.0, audit=3.0)
        done.batch.draws = np.random.default_rng(seed).random(len(y))
        done.run()
        top = done.batch.in_top[done.batch.asked]
        in_top.append(np.count_nonzero(top))
        below.append(np.count_nonzero(~top))
    assert np.mean(in_top) == pytest.approx(3.0, abs=0.6)
    assert np.mean(below) == pytest.approx(6.0, abs=0.9)


def test_first_batches_are_not_watched_later_ones_are() -> None:
    X, y = rows()
    other, labels = rows(40, 0.5, seed=1)
    known = Bought.nothing(X).more(other, labels, 0, np.ones(40))
    for round, watched in ((0, False), (1, True)):
        done = shop(X, 1 - y, round=round, known=known)
        done.run()
        assert (done.watch.stake > 1) == watched


@pytest.mark.parametrize("trained", [False, True])
def test_of_a_large_batch_the_best_and_some_others_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, trained: bool
) -> None:
    monkeypatch.setattr(shopping, "POOL_ROWS", 80)
    X, y = rows(400)
    other, labels = rows(60, 0.5, seed=1)
    known = Bought.nothing(X).more(other, labels, 0, np.ones(60)) if trained else None
    done = shop(X, y, round=1, known=known)
    pool = done._pool
    assert len(set(pool.tolist())) == pool.size == 80
    best = set(np.argsort(-done.batch.scores)[:60].tolist())
    assert best <= set(pool.tolist()) or not trained
    done.run()
    assert set(done.batch.asked[: origins(done).count("gain")].tolist()) <= set(pool.tolist())


@pytest.mark.parametrize(("kind", "purchase"), [("large batch", "thompson"), ("equal rows", "uncertain")])
def test_counts_weighted_by_chance_are_right_on_average(
    monkeypatch: pytest.MonkeyPatch, kind: str, purchase: str
) -> None:
    """Whoever is not bought keeps the full chance to be sampled, whatever decided that it was not bought."""
    if kind == "large batch":
        monkeypatch.setattr(shopping, "POOL_ROWS", 60)
    off = []
    for seed in range(40):
        X, y = rows(400, 0.15, seed)
        if kind == "equal rows":
            X = (X > 1.0).astype(float)
        ranker = ActiveTopK(
            K, purchase=purchase, floor=0.15, explore=0.0, audit=0.0, n_components=5, n_draws=16, limit=60,
            random_state=seed,
        )  # fmt: skip
        steps = [ranker.step(X[part], ArrayOracle(y[part])) for part in (slice(0, 200), slice(200, 400))]
        for step, labels in zip(steps, (y[:200], y[200:]), strict=True):
            off.append(float((labels[step.asked] / step.probability).sum() - labels.sum()))
    assert abs(np.mean(off)) < 3.5 * np.std(off) / np.sqrt(len(off))
