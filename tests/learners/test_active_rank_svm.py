"""ActiveRankSVM: few pairs are nearly as good as all, weights and grades count, and every odd case is answered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from riffler.errors import InputError, LabelError, UnknownName
from riffler.learners.active_rank_svm import ActiveRankSVM
from riffler.learners.pair_pool import SAMPLINGS, DrawnPairs
from riffler.learners.pair_solver import LOSSES
from riffler.learners.rank_svm import RankSVM
from riffler.records import FloatArray
from tests.naive import pair_dual

X, y = make_classification(3000, 10, weights=[0.8], class_sep=0.5, random_state=1)


@pytest.mark.parametrize("sampling", ["soft-correct", "soft-close", "random"])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_a_thousandth_of_the_pairs_is_nearly_as_good_as_all(sampling: str, loss: str) -> None:
    best = RankSVM().fit(X, y).score(X, y)
    found = ActiveRankSVM(sampling, n_pairs=3000, loss=loss, random_state=0).fit(X, y)
    assert found.n_pairs_ == 3000
    assert found.score(X, y) > best - 0.005


@pytest.mark.parametrize("sampling", [name for name in SAMPLINGS if name.startswith("hard")])
def test_hard_rules_are_as_good_as_all_pairs_without_outliers(sampling: str) -> None:
    """With outliers hard-correct picks these, again and again: the soft rules exist for a reason."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(3000, 10))
    labels = (features[:, 0] + 0.3 * rng.normal(size=3000) > 1.0).astype(np.int64)
    ranker = ActiveRankSVM(sampling, n_pairs=1000, batch=100, weighting="equal", random_state=0)
    found = ranker.fit(features, labels)
    assert found.n_iter_ == 10
    assert found.score(features, labels) > RankSVM().fit(features, labels).score(features, labels) - 0.001
    lost = RankSVM().fit(X, y).score(X, y) - ranker.fit(X, y).score(X, y)
    assert lost > 0.02 if sampling == "hard-correct" else lost < 0.005


@pytest.mark.parametrize("loss", list(LOSSES))
def test_with_all_pairs_the_optimum_is_that_of_a_generic_solver(loss: str) -> None:
    rows = np.flatnonzero(np.arange(3000) % 100 == 0)
    features, grades = X[rows], np.arange(30) % 3
    weight = 1.0 + np.arange(30) % 2
    found = ActiveRankSVM(n_pairs=10_000, loss=loss, C=20.0, tol=1e-9, max_passes=10_000, random_state=0)
    found.fit(features, grades, sample_weight=weight)
    upper, lower = np.array([(i, j) for i in range(30) for j in range(30) if grades[i] > grades[j]]).T
    assert found.n_pairs_ == len(upper)
    cost = weight[upper] * weight[lower]
    cost *= 20.0 / cost.sum()
    Z = pair_dual.differences(features, upper, lower)
    best = pair_dual.objective(pair_dual.optimum(Z, cost, loss), Z, cost, loss)
    assert pair_dual.objective(found.coef_[0], Z, cost, loss) == pytest.approx(best, rel=1e-5)


def test_inverse_weights_aim_at_the_optimum_over_all_pairs() -> None:
    """Soft-correct pairs are the hard ones; counted alike they pull the weights away, counted inversely they do not."""
    target = RankSVM(tol=1e-8).fit(X, y).coef_[0]

    def distance(weighting: str) -> float:
        found = [
            ActiveRankSVM(n_pairs=5000, weighting=weighting, tol=1e-3, max_passes=200, random_state=seed)
            .fit(X, y)
            .coef_[0]
            for seed in range(4)
        ]
        return float(np.linalg.norm(np.mean(found, axis=0) - target) / np.linalg.norm(target))

    assert distance("inverse") < 0.05
    assert distance("equal") > 2 * distance("inverse")


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_inverse_weights_mean_all_pairs_where_most_are_right_by_far(loss: str) -> None:
    """Pairs without a loss are never accepted, but they are part of the mean: C is that of all pairs."""
    rng = np.random.default_rng(0)
    labels = (rng.random(1000) < 0.3).astype(int)
    features = rng.normal(size=(1000, 3))
    features[:, 0] += 3 * labels

    def length(sampling: str) -> float:
        found = [
            ActiveRankSVM(sampling, n_pairs=10_000, C=1.0, loss=loss, tol=1e-3, max_passes=500, random_state=seed)
            for seed in range(3)
        ]
        return float(np.mean([np.linalg.norm(one.fit(features, labels).coef_) for one in found]))

    assert length("soft-correct") == pytest.approx(length("random"), rel=0.02)
    if loss == "squared_hinge":
        exact = RankSVM(C=1.0, tol=1e-6).fit(features, labels)
        assert length("soft-correct") == pytest.approx(float(np.linalg.norm(exact.coef_)), rel=0.02)


def test_random_pairs_count_alike_where_most_are_taken() -> None:
    """Candidates that were taken before are no sign of a small chance."""
    features, labels = X[:100], np.arange(100) % 2
    ranker = ActiveRankSVM("random", n_pairs=2400, C=1.0, tol=1e-6, max_passes=1000, random_state=0)
    exact = RankSVM(C=1.0, tol=1e-8).fit(features, labels).coef_
    np.testing.assert_allclose(ranker.fit(features, labels).coef_, exact, atol=0.01)


def test_what_pairs_and_points_count() -> None:
    rows = np.array([3, 4, 5], np.int32)
    drawn = DrawnPairs(rows, np.array([0, 1, -1], np.int32), 6, np.array([0.5, 0.01, 1.0]), np.array([0.0, -2.0, 40.0]))
    inverse = [0.5 / 0.5, 0.5 / 0.05, 7 * 0.5]
    np.testing.assert_allclose(ActiveRankSVM(weighting="equal", point_weight=7)._weights_of(drawn), [1, 1, 7])
    np.testing.assert_allclose(ActiveRankSVM(weighting="inverse", point_weight=7)._weights_of(drawn), inverse)
    closeness = 2 / (1 + np.exp([0.0, 2.0 / 0.5, 40.0 / 0.5]))
    robust = ActiveRankSVM(weighting="robust", softness=0.5, point_weight=7)._weights_of(drawn)
    np.testing.assert_allclose(robust, inverse * closeness)
    hard = replace(drawn, by_chance=False)  # ranked, not accepted by chance
    np.testing.assert_allclose(ActiveRankSVM("hard-close", point_weight=7)._weights_of(hard), [1, 1, 7])


def test_spread_candidates_come_nearer_to_all_pairs() -> None:
    """On labels that are mostly noise, every row that comes up too often or not at all is felt."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(2000, 20))
    labels = (features[:, 0] + 4 * rng.normal(size=2000) > 0).astype(int)
    target = RankSVM(C=10.0, tol=1e-8).fit(features, labels).coef_[0]

    def distance(candidates: str) -> float:
        rankers = [ActiveRankSVM(candidates=candidates, n_pairs=2000, C=10.0, random_state=seed) for seed in range(4)]
        return float(np.mean([np.linalg.norm(one.fit(features, labels).coef_[0] - target) for one in rankers]))

    assert distance("spread") < 0.8 * distance("independent")


def test_points_and_pairs_are_mixed_as_asked() -> None:
    found = [ActiveRankSVM(points=points, n_pairs=2000, random_state=0).fit(X, y) for points in (0.0, 0.5, 1.0)]
    assert len({one.coef_.tobytes() for one in found}) == 3
    assert min(one.score(X, y) for one in found) > RankSVM().fit(X, y).score(X, y) - 0.02
    light = ActiveRankSVM(points=0.5, point_weight=1e-9, n_pairs=2000, random_state=0).fit(X, y)
    assert light.score(X, y) > RankSVM().fit(X, y).score(X, y) - 0.01


def test_sparse_rows_give_what_dense_rows_give() -> None:
    thin = X * (np.abs(X) > 0.5)
    dense = ActiveRankSVM(n_pairs=1000, random_state=0).fit(thin, y)
    csr = ActiveRankSVM(n_pairs=1000, random_state=0).fit(sparse.csr_matrix(thin), y)
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    again = ActiveRankSVM(n_pairs=1000, random_state=0).fit(thin, y)
    np.testing.assert_array_equal(again.coef_, dense.coef_)


def test_rows_of_weight_are_drawn_more_often() -> None:
    """Two kinds of rows want opposite weights: the heavier kind wins."""
    rng = np.random.default_rng(0)
    kind, labels = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    features = (np.where(kind == 1, 1.0, -1.0) * (2 * labels - 1))[:, None] + 0.1 * rng.normal(size=(2000, 1))
    heavy = ActiveRankSVM(n_pairs=500, random_state=0).fit(
        features, labels, sample_weight=np.where(kind == 1, 9.0, 1.0)
    )
    light = ActiveRankSVM(n_pairs=500, random_state=0).fit(
        features, labels, sample_weight=np.where(kind == 1, 1.0, 9.0)
    )
    assert heavy.coef_[0, 0] > 0 > light.coef_[0, 0]


@pytest.mark.parametrize("sampling", ["soft-correct", "random"])
def test_a_heavy_row_counts_as_many(sampling: str) -> None:
    """Its pairs are few; they must not run out."""
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(1000, 2)), np.arange(1000) < 500
    features[:500, 0] += 1
    features[0] = [0.0, 3.0]
    weight = np.where(np.arange(1000) == 0, 500.0, 1.0)
    exact = RankSVM(C=10.0, tol=1e-6).fit(features, labels, sample_weight=weight).coef_[0]
    rankers = [ActiveRankSVM(sampling, n_pairs=5000, C=10.0, random_state=seed) for seed in range(3)]
    found = [one.fit(features, labels, sample_weight=weight).coef_[0] for one in rankers]
    np.testing.assert_allclose(np.mean(found, axis=0), exact, atol=0.02)


def test_queries_and_grades() -> None:
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(50), 40)
    inside, between = rng.normal(size=2000), rng.normal(size=50)[query]
    grades = np.digitize(inside, [-1, 0, 1]) + 4 * (between > 0)
    features = np.column_stack([inside, between])
    found = ActiveRankSVM(n_pairs=2000, random_state=0).fit(features, grades, qid=query)
    assert abs(found.coef_[0, 1]) < 0.05 * found.coef_[0, 0]
    assert found.score(features, grades, qid=query) > 0.99


def test_a_stream_of_batches_is_learned() -> None:
    ranker = ActiveRankSVM(n_pairs=500, random_state=0)
    for start in range(0, 3000, 500):
        ranker.partial_fit(X[start : start + 500], y[start : start + 500])
    before = ranker.coef_.copy()
    ranker.partial_fit(X[:5], np.zeros(5, int))  # no pairs in it
    np.testing.assert_array_equal(ranker.coef_, before)
    assert ranker.score(X, y) > RankSVM().fit(X, y).score(X, y) - 0.01


def test_rounds_tell_the_curve() -> None:
    ranker = ActiveRankSVM(n_pairs=1000, batch=0.5, random_state=0)
    curve = [(found.n_pairs, found.n_candidates) for found in ranker.rounds(X, y)]
    assert [n for n, _ in curve] == [200, 300, 450, 675, 1000]
    assert [c for _, c in curve] == sorted(c for _, c in curve)
    assert ranker.n_iter_ == 5
    np.testing.assert_array_equal(ranker.coef_, ActiveRankSVM(n_pairs=1000, random_state=0).fit(X, y).coef_)


def test_rounds_may_be_left_early() -> None:
    ranker = ActiveRankSVM(n_pairs=1000, random_state=0)
    first = next(iter(ranker.rounds(X, y)))
    assert ranker.n_pairs_ == first.n_pairs == 200
    assert ranker.score(X, y) > 0.7


@pytest.mark.parametrize(("batch", "n_rounds"), [(np.float32(0.5), 5), (np.int64(250), 4), (0.5, 5)])
def test_a_batch_is_a_share_or_a_number(batch: float, n_rounds: int) -> None:
    assert ActiveRankSVM(n_pairs=1000, batch=batch, random_state=0).fit(X, y).n_iter_ == n_rounds


@pytest.mark.parametrize("n_pairs", [100, 5000])
def test_the_unit_of_weights_says_nothing_in_a_stream(n_pairs: int) -> None:
    """Of some batches all pairs are taken, of others some."""

    def learned(unit: float) -> FloatArray:
        ranker = ActiveRankSVM(n_pairs=n_pairs, C=1.0, random_state=0)
        for part in (slice(0, 500), slice(500, 530)):
            weight = unit * (1.0 + np.arange(part.stop - part.start) % 2)
            ranker.partial_fit(X[part], y[part], sample_weight=weight)
        return ranker.coef_

    np.testing.assert_allclose(learned(1024.0), learned(1.0), rtol=1e-9)


def test_points_do_not_outnumber_pairs_that_are_all_taken() -> None:
    found = ActiveRankSVM(n_pairs=10_000, points=0.1, random_state=0).fit(X[:7], np.arange(7) < 5)
    assert found.n_pairs_ <= 12


def test_progress_is_told_after_each_round() -> None:
    told: list[tuple[float, str]] = []
    ranker = ActiveRankSVM(n_pairs=1000, random_state=0, progress=lambda share, doing: told.append((share, doing)))
    ranker.fit(X, y)
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert told[-1] == (1.0, "1,000 pairs")
    assert len(told) == ranker.n_iter_


def test_auto_takes_pairs_until_held_out_rows_are_ordered_no_better() -> None:
    auto = ActiveRankSVM(n_pairs="auto", random_state=0).fit(X, y)
    assert auto.score(X, y) > RankSVM().fit(X, y).score(X, y) - 0.005
    rng = np.random.default_rng(0)
    features, noise = rng.normal(size=(4000, 100)), rng.normal(size=4000)
    numbers = []
    for n_columns in (2, 100):  # the more columns, the more there is to learn
        labels = features[:, :n_columns].sum(axis=1) / np.sqrt(n_columns) + noise > 1.0
        found = ActiveRankSVM(n_pairs="auto", random_state=0).fit(features[:, :n_columns], labels)
        numbers.append(found.n_pairs_)
    assert numbers[0] <= 500 < 1500 <= numbers[1] <= 20_000
    few = ActiveRankSVM(n_pairs="auto", random_state=0).fit(X[:20], np.arange(20) == 3)  # none to hold out
    assert few.n_pairs_ == 19


def test_auto_holds_one_of_two_queries_out() -> None:
    query = np.where(np.arange(400) < 200, np.arange(400) % 2, np.arange(400))  # the others have one row each
    auto = ActiveRankSVM(n_pairs="auto", random_state=0).fit(X[:400], y[:400], qid=query)
    assert auto.n_pairs_ > 100
    large = ActiveRankSVM(n_pairs="auto", random_state=0).fit(X, y, qid=np.arange(3000) % 2)
    assert large.n_pairs_ != 10_000  # there was a trial


def test_more_pairs_than_exist_are_all_taken() -> None:
    found = ActiveRankSVM(n_pairs=10_000, random_state=0).fit(X[:20], np.arange(20) < 4)
    assert found.n_pairs_ == 64


def test_where_every_pair_is_right_by_far_it_stops_early() -> None:
    labels = np.arange(2000) % 2
    found = ActiveRankSVM(n_pairs=5000, C=1e6, random_state=0).fit(10.0 * labels[:, None], labels)
    assert found.n_pairs_ < 5000
    assert found.score(10.0 * labels[:, None], labels) == 1.0


def test_one_positive_in_a_million_rows() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1_000_000, 2)).astype(np.float32)
    labels = np.zeros(1_000_000, np.int8)
    labels[77], features[77] = 1, [6.0, 0.0]
    found = ActiveRankSVM(n_pairs=2000, random_state=0).fit(features, labels)
    assert found.score(features, labels) > 0.9999


@pytest.mark.parametrize("column", [0.0, 3.0])
def test_constant_features_and_duplicated_rows_change_nothing_that_matters(column: float) -> None:
    wide = np.hstack([X, np.full((3000, 1), column)])
    found = ActiveRankSVM(n_pairs=2000, random_state=0).fit(wide, y)
    assert found.coef_[0, -1] == pytest.approx(0.0, abs=1e-9)
    twice = ActiveRankSVM(n_pairs=2000, random_state=0).fit(np.vstack([X, X]), np.append(y, y))
    assert twice.score(X, y) > found.score(wide, y) - 0.01
    same = ActiveRankSVM(n_pairs=50, random_state=0).fit(np.ones((40, 2)), np.arange(40) % 2)
    assert not same.coef_.any()


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"sampling": "soft"}, UnknownName, "No sampling called 'soft'. Known: hard-close"),
        ({"loss": "ramp"}, UnknownName, "No loss called 'ramp'. Known: hinge, logistic, squared_hinge"),
        ({"weighting": "other"}, UnknownName, "Known: equal, inverse"),
        ({"n_pairs": 0}, InputError, "n_pairs must be a positive integer or 'auto', got 0"),
        ({"points": 1.5}, InputError, r"points must be in \[0, 1\], got 1.5"),
        ({"C": 0.0}, InputError, "C must be above 0, got 0.0"),
        ({"batch": 0}, InputError, "batch must be above 0, got 0"),
    ],
)
def test_settings_out_of_range_are_named(settings: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        ActiveRankSVM(**settings).fit(X, y)  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("n_rows", [30, 3000])
def test_too_few_passes_are_told(loss: str, n_rows: int) -> None:
    ranker = ActiveRankSVM(n_pairs=1000, loss=loss, tol=1e-6, max_passes=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_passes=2"):
        ranker.fit(X[:n_rows], y[:n_rows])
    with pytest.warns(ConvergenceWarning, match="max_passes=2"):
        ranker.partial_fit(X[:n_rows], y[:n_rows])


def test_points_need_two_grades() -> None:
    with pytest.raises(LabelError, match=r"points=0\.5 needs two grades"):
        ActiveRankSVM(points=0.5).fit(X, np.arange(3000) % 3)
