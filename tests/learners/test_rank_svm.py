"""RankSVM reaches the optimum of its objective, however it is got there, and orders rows inside queries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from riffler.learners.pair_ranker import GradedSet
from riffler.learners.rank_svm import RankSVM, even_part, part_of, some_of
from riffler.learners.weighted_svm import WeightedSVM
from riffler.records import FloatArray, IntArray
from tests.naive import pairwise as naive


def problem(seed: int, n: int = 60, n_grades: int = 2, n_groups: int = 1) -> tuple[FloatArray, IntArray, IntArray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.7)
    signal = X @ rng.normal(size=6) + 0.5 * rng.normal(size=n)
    grades = np.searchsorted(np.quantile(signal, np.arange(1, n_grades) / n_grades), signal)
    return X, grades, rng.integers(0, n_groups, n)


def generic_optimum(X: FloatArray, grades: IntArray, groups: IntArray, weight: FloatArray, C: float) -> float:
    pairs = naive.pairs_of(grades, groups)

    def objective(w: FloatArray) -> tuple[float, FloatArray]:
        value, slope, _ = naive.squared_hinge(X @ w, pairs, weight)
        return float(w @ w) / 2 + C * value, w + C * X.T @ slope

    found = minimize(
        objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10}
    )
    return float(found.fun)


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize(("n_grades", "n_groups"), [(2, 1), (5, 1), (2, 4), (4, 3)])
def test_the_objective_is_that_of_a_generic_solver(C: float, n_grades: int, n_groups: int) -> None:
    X, grades, groups = problem(1, n_grades=n_grades, n_groups=n_groups)
    weight = np.arange(len(grades)) % 3 + 0.5
    best = generic_optimum(X, grades, groups, weight, C)
    exact = RankSVM(C, tol=1e-9).fit(X, grades, sample_weight=weight, qid=groups)
    assert exact.loss_ == pytest.approx(best, rel=1e-6)
    quick = RankSVM(C).fit(X, grades, sample_weight=weight, qid=groups)
    assert best * (1 - 1e-6) <= quick.loss_ <= best * (1 + 1e-3)


def test_first_steps_on_a_part_end_at_the_same_place() -> None:
    X, grades, _ = problem(2, n=9000)
    staged, direct = RankSVM(100.0, tol=1e-8, random_state=0), RankSVM(100.0, tol=1e-8)
    staged.fit(X, grades)
    few_columns = np.hstack([X, np.zeros((9000, 200))])  # too many columns for a part to say enough
    direct.fit(few_columns, grades)
    assert staged.loss_ == pytest.approx(direct.loss_, rel=1e-6)
    np.testing.assert_allclose(staged.coef_, direct.coef_[:, :6], rtol=1e-3, atol=1e-4)
    assert staged.n_products_ < direct.n_products_


@pytest.mark.parametrize("n_groups", [1, 40])
def test_sparse_dense_and_single_precision_agree(n_groups: int) -> None:
    X, grades, groups = problem(3, n=400, n_grades=3, n_groups=n_groups)
    dense = RankSVM(tol=1e-6).fit(X, grades, qid=groups)
    csr = RankSVM(tol=1e-6).fit(sparse.csr_matrix(X), grades, qid=groups)
    single = RankSVM(tol=1e-6).fit(X.astype(np.float32), grades, qid=groups)
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-9)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, dense.coef_, rtol=1e-3, atol=1e-3)


def test_queries_are_not_compared_with_each_other() -> None:
    """A shift of all scores of a query says nothing; without qid it is all that is learned."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(20), 30)
    inside, between = rng.normal(size=600), rng.normal(size=20)[query]
    y = np.where(inside > np.median(inside), 1, 0) + (between > 0) * 2
    X = np.column_stack([inside, between])
    with_queries = RankSVM().fit(X, y, qid=query)
    assert abs(with_queries.coef_[0, 1]) < 0.01 * with_queries.coef_[0, 0]
    assert with_queries.score(X, y, qid=query) > 0.999
    without = RankSVM().fit(X, y)
    assert without.coef_[0, 1] > without.coef_[0, 0]


def test_score_is_auc_for_two_grades() -> None:
    from sklearn.metrics import roc_auc_score

    X, grades, _ = problem(4, n=300)
    ranker = RankSVM().fit(X, grades)
    weight = np.linspace(1, 2, 300)
    scores = ranker.decision_function(X)
    assert ranker.score(X, grades) == pytest.approx(roc_auc_score(grades, scores))
    expected = roc_auc_score(grades, scores, sample_weight=weight)
    assert ranker.score(X, grades, sample_weight=weight) == pytest.approx(expected)


def test_a_part_has_rare_grades_whole_and_counts_them_as_they_are() -> None:
    X, grades = np.arange(1000.0)[:, None], np.repeat([0, 1, 2], [900, 90, 10])
    data = GradedSet(X, grades.astype(float), np.full(1000, 2.0), None)
    part = even_part(data, data.pairs(), 100, np.random.RandomState(0))
    assert [int((part.grades == grade).sum()) for grade in (0, 1, 2)] == [45, 45, 10]
    np.testing.assert_array_equal(part.grades, grades[part.X[:, 0].astype(int)])
    assert len(set(part.X[:, 0])) == 100
    assert part.pairs().total == pytest.approx(data.pairs().total)


def test_a_part_of_rows_whose_grades_all_differ_is_a_part() -> None:
    """Grades that are measurements: one row of each would be all rows, a fifth of one row none."""
    grades = np.random.default_rng(0).normal(size=1000)
    data = GradedSet(np.arange(1000.0)[:, None], grades, np.ones(1000), None)
    for chosen in (
        even_part(data, data.pairs(), 200, np.random.RandomState(0)).X[:, 0].astype(int),
        part_of(data.pairs(), 0.2, np.random.RandomState(0), few=0),
    ):
        assert len(set(chosen)) == len(chosen) == 200
        assert abs(np.median(grades[chosen])) < 0.1


def test_some_are_different_and_all_have_about_the_same_chance() -> None:
    rng = np.random.RandomState(0)
    counts = np.zeros(10)
    for _ in range(3000):
        drawn = some_of(np.arange(10), 4, rng)
        assert len(set(drawn)) == 4
        counts[drawn] += 1
    np.testing.assert_allclose(counts / 3000, 0.4, atol=0.11)
    np.testing.assert_array_equal(some_of(np.arange(5), 5, rng), np.arange(5))


@pytest.mark.parametrize("ranker", [RankSVM, WeightedSVM])
@pytest.mark.parametrize(("noise", "C"), [(0.01, 100.0), (0.001, 1e4)])
def test_columns_that_are_nearly_the_same_are_told_apart(
    ranker: type[RankSVM | WeightedSVM], noise: float, C: float
) -> None:
    """What matters is in differences of columns, where the slope is small: a turn that adds little is not the last."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1)) + noise * rng.normal(size=(2000, 10))
    direction = rng.normal(size=10)
    signal = X @ (direction - direction.mean())
    y = (signal / signal.std() + 0.5 * rng.normal(size=2000) > 0).astype(int)
    quick, exact = ranker(C).fit(X, y), ranker(C, tol=1e-9, max_iter=1000).fit(X, y)
    assert quick.loss_ <= exact.loss_ * (1 + 1e-3)
    assert quick.score(X, y) == pytest.approx(exact.score(X, y), abs=0.002)
    assert exact.score(X, y) > 0.85


@pytest.mark.parametrize("ranker", [RankSVM, WeightedSVM])
def test_columns_far_from_zero_are_as_good_as_others(ranker: type[RankSVM | WeightedSVM]) -> None:
    X, grades, _ = problem(5, n=500)
    near, far = ranker(10.0, tol=1e-5).fit(X, grades), ranker(10.0, tol=1e-5).fit(X + 1e8, grades)
    assert far.loss_ == pytest.approx(near.loss_, rel=1e-4)
    assert np.isfinite(getattr(far, "intercept_", 0.0))
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=0, atol=0.02 * np.abs(near.coef_).max())
