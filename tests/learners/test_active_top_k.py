"""ActiveTopK finds more with fewer labels, notices change, keeps to its limits, and repeats itself exactly."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler import ActivePerceptronAtK, ActiveTopK, ArrayOracle, CallableOracle, InputError, UnknownName
from riffler.features import column_map
from riffler.features.column_map import ColumnMap
from riffler.learners import active_top_k, shopping
from riffler.learners.asking import Step
from riffler.learners.purchase import Contest
from riffler.ledger import Item
from riffler.oracles import Oracle
from riffler.records import FloatArray, IntArray, Matrix
from riffler.stopping.top_claim import claim_top

N, BATCH, K = 900, 150, 10


def stream(n: int = N, share: float = 0.15, seed: int = 0) -> tuple[FloatArray, IntArray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.int8)
    return rng.normal(size=(n, 4)) + 1.5 * y[:, None], y


def ring(n: int, seed: int) -> tuple[FloatArray, IntArray]:
    """Three in a hundred are relevant; they lie around the others, where no plane can cut them off."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.03).astype(np.int8)
    X, around = rng.normal(size=(n, 6)), rng.normal(size=(n, 2))
    around *= 3.0 / np.linalg.norm(around, axis=1, keepdims=True)
    X[y == 1, :2] = around[y == 1]
    X[:, 2] += y
    return X, y


def small(k: int = K, **params: Any) -> ActiveTopK:  # noqa: ANN401 - parameters of the ranker
    return ActiveTopK(k, **{"n_components": 30, "n_draws": 32, "random_state": 0, **params})


def walked(ranker: Any, X: Matrix, oracle: Oracle, batch: int = BATCH) -> list[Step]:  # noqa: ANN401 - an active ranker
    return [ranker.step(X[start : start + batch], oracle) for start in range(0, X.shape[0], batch)]


def precisions(steps: list[Step], y: IntArray, batch: int) -> FloatArray:
    return np.array([y[step.round * batch : (step.round + 1) * batch][step.predicted].mean() for step in steps])


def test_it_finds_more_than_the_perceptron_with_a_fifth_of_the_labels() -> None:
    for seed in (0, 1):
        X, y = ring(12_000, seed)
        ours, theirs = ArrayOracle(y), ArrayOracle(y)
        steps = walked(ActiveTopK(20, n_components=100, random_state=seed), X, ours, 2000)
        peers = walked(ActivePerceptronAtK(20, sampler="sequential", random_state=seed), X, theirs, 2000)
        assert ours.n_asked * 5 < theirs.n_asked
        assert precisions(steps, y, 2000)[1:].mean() > precisions(peers, y, 2000)[1:].mean() + 0.1


def test_with_labels_known_it_buys_little() -> None:
    X, y = stream(4000)
    known, fresh = small(), small()
    known.partial_fit(X[:3000], y[:3000])
    assert len(known.bought_) == 3000
    few, many = known.step(X[3000:], ArrayOracle(y[3000:])), fresh.step(X[3000:], ArrayOracle(y[3000:]))
    assert few.n_asked <= 12  # little more than what is drawn at random
    assert few.n_asked < many.n_asked / 3
    assert y[3000:][few.predicted].mean() >= 0.9


def drifted(alarm: float, seed: int) -> tuple[ActiveTopK, FloatArray]:
    """Walk through twelve batches after many known labels; from batch 5 on every label means the contrary."""
    n, rng = 300, np.random.default_rng(seed)
    y = (rng.random(13 * n + 1000) < 0.3).astype(np.int8)
    side = np.where(np.arange(y.size) < 1000 + 4 * n, 1, -1) * (2 * y - 1)
    X = rng.normal(size=(y.size, 3)) + 1.5 * side[:, None] * [1, 1, 0]
    ranker = small(20, alarm=alarm, audit=6.0, random_state=seed)
    ranker.partial_fit(X[:1000], y[:1000])
    oracle = ArrayOracle(y[1000:])
    found = []
    for start in range(1000, y.size, n):
        step = ranker.step(X[start : start + n], oracle)
        found.append(y[start : start + n][step.predicted].mean())
    return ranker, np.array(found)


def test_when_labels_change_their_meaning_it_forgets_and_recovers() -> None:
    for seed in (0, 1):
        ranker, found = drifted(1e4, seed)
        assert found[:4].min() >= 0.9
        assert found[4] <= 0.1
        assert len(ranker.forgotten_) == 1
        assert 5 <= ranker.forgotten_[0] <= 9  # round 0 had known labels; the change came with round 5
        assert ranker.bought_.rounds.min() >= 4
        assert found[-3:].min() >= 0.8
        stubborn, kept = drifted(np.inf, seed)
        assert stubborn.forgotten_ == []
        assert kept[4:].mean() < found[4:].mean() - 0.2


def test_while_nothing_changes_nothing_is_forgotten() -> None:
    for seed in range(3):
        X, y = stream(6000, 0.1, seed)
        ranker = small(30, audit=10.0, explore=10.0)
        walked(ranker, X, ArrayOracle(y), 300)
        assert ranker.forgotten_ == []


@pytest.mark.parametrize("pool", ["whole", "part"])
def test_the_claim_holds(pool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if pool == "part":
        monkeypatch.setattr(shopping, "POOL_ROWS", 120)
    for seed in range(5):
        X, y = stream(3000, 0.1, seed)
        oracle = ArrayOracle(y)
        steps = walked(small(20, floor=0.02, random_state=seed), X, oracle, 500)
        predicted = np.concatenate([step.round * 500 + step.predicted for step in steps])
        claim = claim_top(oracle.ledger)
        assert claim.precision_low <= y[predicted].mean() <= claim.precision_high
        assert claim.missed_low <= y.sum() - y[predicted].sum() <= claim.missed_high
        assert claim.n_rounds == 6


SIZES: dict[str, dict[str, int]] = {
    "whole batches": {},
    "batches above the pool": {"POOL_ROWS": 60},
    "maps learned from a sample": {"SAMPLE_ROWS": 80},
    "maps learned from some batches": {"ENOUGH_ROWS": 400},
}


@pytest.mark.parametrize("sizes", SIZES)
def test_the_order_of_rows_is_nothing(sizes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SIZES[sizes].items():
        for module in (shopping, column_map, active_top_k):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    X, y = stream()

    def answer(item: Item) -> int:
        return int(y[int(str(item)[4:])])

    plain, mixed, rng = small(floor=0.02), small(floor=0.02), np.random.default_rng(5)
    oracles = CallableOracle(answer), CallableOracle(answer)
    for start in range(0, N, BATCH):
        rows = np.arange(start, start + BATCH)
        moved = rng.permutation(rows)
        one = plain.step(X[rows], oracles[0], items=[f"item{row}" for row in rows])
        two = mixed.step(X[moved], oracles[1], items=[f"item{row}" for row in moved])
        assert rows[one.predicted].tolist() == moved[two.predicted].tolist()
        assert set(rows[one.asked].tolist()) == set(moved[two.asked].tolist())
    np.testing.assert_allclose(mixed.decision_function(X), plain.decision_function(X), atol=1e-4)


def test_a_seed_repeats_everything_and_another_one_does_not() -> None:
    X, y = stream()
    one, two, other = (walked(small(random_state=seed), X, ArrayOracle(y)) for seed in (3, 3, 4))
    for this, that in zip(one, two, strict=True):
        np.testing.assert_array_equal(this.asked, that.asked)
        np.testing.assert_array_equal(this.predicted, that.predicted)
    assert any(not np.array_equal(this.asked, that.asked) for this, that in zip(one, other, strict=True))


def test_pickled_between_batches_it_goes_on_identically() -> None:
    X, y = stream()
    straight, broken, oracle = small(), small(), ArrayOracle(y)
    expected = walked(straight, X, ArrayOracle(y))
    for number, start in enumerate(range(0, N, BATCH)):
        broken = pickle.loads(pickle.dumps(broken))
        step = broken.step(X[start : start + BATCH], oracle)
        np.testing.assert_array_equal(step.asked, expected[number].asked)
    np.testing.assert_array_equal(broken.decision_function(X), straight.decision_function(X))


@pytest.mark.parametrize("limit", [0, 1, 15, 33])
def test_the_limit_is_kept_in_every_batch(limit: int) -> None:
    X, y = stream()
    oracle = ArrayOracle(y)
    walked(small(limit=limit, worth=1e-9, tolerance=0.0), X, oracle)
    for round in range(N // BATCH):
        chosen = [entry for entry in oracle.ledger if entry.round == round and entry.origin != "sample"]
        assert len(chosen) <= limit
    n_first = sum(entry.round == 0 and entry.origin != "sample" for entry in oracle.ledger)
    assert n_first >= min(limit, 20)  # the cover takes what it may


@pytest.mark.parametrize("budget", [0, 5, 60])
def test_the_budget_is_kept(budget: int) -> None:
    X, y = stream()
    oracle = ArrayOracle(y, budget=budget)
    steps = walked(small(floor=0.05), X, oracle)
    assert oracle.n_asked == budget
    assert steps[-1].cut
    assert steps[-1].floor == 0.0
    assert all(len(step.predicted) == K for step in steps)


@pytest.mark.parametrize("label", [0, -1], ids=["nothing is relevant", "nobody knows"])
def test_where_nothing_can_be_learned_a_tenth_is_asked_and_it_goes_on(label: int) -> None:
    X, y = stream()
    answers = y.copy()
    answers[: 2 * BATCH] = label
    X[: 2 * BATCH] -= 1.5 * y[: 2 * BATCH, None]  # and no row looks relevant
    oracle, ranker = ArrayOracle(answers), small(explore=0.0, audit=0.0)
    empty = walked(ranker, X[: 2 * BATCH], oracle)
    assert [step.n_asked for step in empty] == [max(shopping.COVER_CHUNK, BATCH // 10)] * 2
    assert ranker.posterior_ is None
    assert np.isnan(ranker.regret_)
    assert np.ptp(ranker.decision_function(X)) == 0.0
    later = [ranker.step(X[start : start + BATCH], oracle) for start in range(2 * BATCH, N, BATCH)]
    assert later[-1].n_asked < BATCH // 2
    assert np.mean([y[step.round * BATCH : (step.round + 1) * BATCH][step.predicted] for step in later[1:]]) >= 0.6


def test_answers_that_are_not_known_are_left_out() -> None:
    X, y = stream()
    answers = y.copy()
    answers[np.random.default_rng(9).random(N) < 0.3] = -1
    oracle, ranker = ArrayOracle(answers), small()
    walked(ranker, X, oracle)
    assert len(ranker.bought_) == sum(entry.answer != -1 for entry in oracle.ledger) < oracle.n_asked
    assert ranker.score(X, y) >= 0.8


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_after_tiny_batches_the_scale_is_learned_anew(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active_top_k, "ENOUGH_ROWS", 200)
    X, y = stream()
    X[:30] *= 1e-3  # the first rows tell nothing about the scale of the others
    rows: Matrix = X if storage == "dense" else sparse.csr_matrix(X)
    ranker, oracle = small(5, kernel="rbf"), ArrayOracle(y)
    for stop in range(30, 360, 30):
        ranker.step(rows[stop - 30 : stop], oracle)
        seen = min(stop, 210)  # the batch that brings it above 200 is the last to count
        expected = ColumnMap(30, None, ranker._seed).fit(rows[:seen]).transform(rows)
        np.testing.assert_allclose(ranker._map.transform(rows), expected, atol=1e-5)
    assert ranker.score(X, y) >= 0.8


def test_the_storage_of_batches_may_change() -> None:
    X, y = stream()
    for first, second in ((X, sparse.csr_matrix(X)), (sparse.csr_matrix(X), X)):
        ranker, oracle = small(), ArrayOracle(y)
        ranker.step(first[:BATCH], oracle)
        ranker.step(second[BATCH : 2 * BATCH], oracle)
        np.testing.assert_allclose(ranker.decision_function(first), ranker.decision_function(second), atol=1e-5)
        assert ranker.score(X, y) >= 0.7


@pytest.mark.parametrize(("n_columns", "n_features"), [(200, 230), (201, 201)])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_the_kernel_is_for_few_columns(n_columns: int, n_features: int, storage: str) -> None:
    X: Matrix = np.random.default_rng(0).normal(size=(40, n_columns))
    X = sparse.csr_matrix(X) if storage == "csr" else X
    ranker = small()
    ranker.step(X, ArrayOracle(np.arange(40) % 2))
    assert ranker._map.n_features == n_features


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_wide_rows_in_tiny_batches(storage: str) -> None:
    """The summary of the columns has at first hardly any directions, and more with every batch."""
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.3).astype(np.int8)
    X: Matrix = (rng.random((600, 1100)) < 0.02).astype(float)
    X[:, :60] = rng.random((600, 60)) < 0.05 + 0.25 * y[:, None]
    X = sparse.csr_matrix(X) if storage == "csr" else X
    ranker, oracle = small(), ArrayOracle(y)
    ranker.step(X[:12], oracle)
    assert ranker._map.n_features == 11
    walked(ranker, X[12:], oracle, 49)
    assert ranker._map.n_features == column_map.DIRECTIONS
    assert ranker.score(X, y) >= 0.9
    assert oracle.n_asked < 400


def test_fit_starts_anew_and_partial_fit_goes_on() -> None:
    X, y = stream()
    once, again, parts = small().fit(X, y), small().fit(X[:BATCH], y[:BATCH]).fit(X, y), small()
    np.testing.assert_array_equal(again.decision_function(X), once.decision_function(X))
    assert (once.n_rounds_, len(again.bought_)) == (1, N)
    for start in range(0, N, BATCH):
        parts.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
    assert (parts.n_rounds_, len(parts.bought_)) == (N // BATCH, N)
    assert np.corrcoef(parts.decision_function(X), once.decision_function(X))[0, 1] > 0.99


class FirstFree:
    """A purchase rule of one's own."""

    def pick(self, contest: Contest, n: int, rng: np.random.Generator) -> IntArray:
        return np.flatnonzero(contest.free)[:n]


SETTINGS: list[dict[str, Any]] = [
    {"cover": "random"}, {"cover": "spread"}, {"purchase": "contested"}, {"purchase": "highest"},
    {"purchase": "uncertain"}, {"purchase": FirstFree()}, {"explore": 0.0}, {"audit": 0.0},
    {"explore": 0.0, "audit": 0.0}, {"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "rbf", "gamma": 0.1},
    {"weighting": "inverse"}, {"alarm": np.inf}, {"alarm": 1.5},
    {"tolerance": 0.0, "worth": 0.0}, {"n_draws": 1, "n_components": 1},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=[", ".join(map(str, each)) for each in SETTINGS])
def test_every_part_can_be_changed_or_left_out(settings: dict[str, Any]) -> None:
    X, y = stream()
    oracle, ranker = ArrayOracle(y), small(**settings)
    steps = walked(ranker, X, oracle)
    assert 0 < oracle.n_asked < N
    assert len(ranker.bought_) <= oracle.n_asked
    assert np.isfinite(ranker.decision_function(X)).all()
    if ranker.alarm > 2:  # a nervous one forgets everything over and over
        assert precisions(steps, y, BATCH)[2:].mean() >= 0.5
        assert ranker.forgotten_ == []
    else:
        assert ranker.forgotten_ != []


@pytest.mark.parametrize(
    ("params", "kind", "said"),
    [
        ({"k": 0}, InputError, "k must be a whole number of at least 1, got 0"),
        ({"kernel": "poly"}, UnknownName, r"No kernel of ActiveTopK called 'poly'. Known: auto, linear, rbf"),
        ({"cover": "none"}, UnknownName, r"No cover called 'none'. Known: random, spread"),
        ({"weighting": "half"}, UnknownName, r"No weighting called 'half'. Known: equal, inverse"),
        ({"purchase": "greedy"}, UnknownName, "No purchase rule called 'greedy'"),
        ({"worth": -1}, InputError, "worth must be at least 0, got -1"),
        ({"tolerance": float("nan")}, InputError, "tolerance must be at least 0, got nan"),
        ({"explore": -0.5}, InputError, r"explore must be at least 0, got -0.5"),
        ({"audit": -2}, InputError, "audit must be at least 0, got -2"),
        ({"n_components": 0}, InputError, "n_components must be a whole number of at least 1, got 0"),
        ({"n_draws": 2.5}, InputError, r"n_draws must be a whole number of at least 1, got 2\.5"),
        ({"gamma": -1.0}, InputError, r"gamma must be a positive number.*got -1\.0"),
        ({"floor": 1.5}, InputError, r"floor must be a probability from 0 to 1, got 1.5"),
        ({"limit": -1}, InputError, "limit must be None or a whole number of at least 0, got -1"),
        ({"alarm": 1.0}, InputError, r"alarm must be above 1, got 1.0"),
    ],
)
def test_settings_that_make_no_sense(params: dict[str, Any], kind: type[Exception], said: str) -> None:
    X, y = stream()
    with pytest.raises(kind, match=said):
        ActiveTopK(**params).step(X, ArrayOracle(y))
    with pytest.raises(kind, match=said):
        ActiveTopK(**params).partial_fit(X, y)
