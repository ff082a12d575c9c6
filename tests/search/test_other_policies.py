"""MMR against all cosines, weights against their posterior, shares of a mix, and AutoTAR's batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.engine import LocalEngine
from riffler.errors import InputError
from riffler.records import FloatArray, IntArray
from riffler.search import (
    ClusterThompson,
    Greedy,
    MaximalMarginalRelevance,
    Mix,
    Random,
    SearchView,
    WeightThompson,
    autotar_batch,
    mmr,
)
from riffler.search.ranking import Scores
from riffler.search.weight_thompson import fit_logistic, information
from tests.naive.mmr import marginal_relevance
from tests.search.views import random_view


@given(seed=st.integers(0, 2**32 - 1), relevance=st.sampled_from([0.0, 0.3, 0.8, 1.0]), dense=st.booleans())
def test_mmr_equals_looking_at_all(seed: int, relevance: float, dense: bool) -> None:
    view = random_view(seed, dense=dense)
    rows = view.engine.rows(np.arange(view.engine.n_rows))
    assert view.ties is not None
    slow = marginal_relevance(
        rows if dense else rows.toarray().astype(float), view.scores, view.reviewed, view.relevant, view.ties,
        relevance, 10,
    )  # fmt: skip
    assert MaximalMarginalRelevance(relevance).propose(view, 10).tolist() == slow


def test_mmr_looks_at_few_where_the_bounds_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n_items, looked = 20_000, []
    none = np.empty(0, dtype=np.int64)
    view = SearchView(
        LocalEngine([rng.random((n_items, 4))]), Scores(rng.normal(-3, 2, n_items)), np.zeros(n_items, dtype=bool),
        none, none, none, 0, rng,
    )  # fmt: skip
    gather = mmr.unit_rows

    def counted(engine: LocalEngine, numbers: IntArray) -> FloatArray:
        looked.append(numbers.size)
        rows: FloatArray = gather(engine, numbers)
        return rows

    monkeypatch.setattr(mmr, "unit_rows", counted)
    assert MaximalMarginalRelevance(0.8).propose(view, 20).size == 20
    assert sum(looked) < n_items / 4


def test_the_posterior_is_that_of_the_labelled_rows() -> None:
    view = random_view(3, n_items=200, n_answered=80, dense=True)
    mean, spread = WeightThompson(C=2.0, presumed=0).posterior(view)
    known = view.answers >= 0
    rows = np.column_stack([view.engine.rows(view.items[known]), np.ones(int(known.sum()))])
    signs = np.where(view.answers[known] == 1, 1.0, -1.0)
    chance = 1 / (1 + np.exp(-rows @ mean))
    slope = rows.T @ (chance - (signs > 0)) + mean / 2.0
    np.testing.assert_allclose(slope, 0.0, atol=1e-3)
    hessian = (rows.T * (chance * (1 - chance))) @ rows + np.eye(9) / 2.0
    np.testing.assert_allclose(spread, np.diag(hessian) ** -0.5, rtol=1e-6)


def test_sparse_and_dense_rows_have_the_same_posterior() -> None:
    dense, thin = random_view(4, dense=True), random_view(4)
    for one, other in zip(WeightThompson().posterior(dense), WeightThompson().posterior(thin), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_a_fit_with_one_class_is_finite() -> None:
    weights = fit_logistic(np.eye(3), np.ones(3), C=1.0)
    assert np.isfinite(weights).all()
    assert (information(np.eye(3), weights) > 0).all()


def test_items_per_draw_share_their_weights() -> None:
    """With all items on one draw they stand in the order of one linear score."""
    view = random_view(5, n_items=40, dense=True)
    rows = WeightThompson(items_per_draw=100).propose(view, 100)
    mean, spread = WeightThompson().posterior(random_view(5, n_items=40, dense=True))
    rng = random_view(5, n_items=40).rng
    free = np.flatnonzero(~view.reviewed)
    assert view.ties is not None
    rng.choice(free[np.argsort(view.ties[free])], free.size, replace=False)  # those presumed irrelevant
    weights = mean + spread * rng.standard_normal(mean.size)
    scores = view.engine.rows(rows) @ weights[:-1]
    assert (np.diff(scores) <= 1e-12).all()


@pytest.mark.parametrize("batch", [1, 10, 100])
def test_shares_of_a_mix_are_kept_however_the_answers_come(batch: int) -> None:
    mix = Mix([(Greedy(), 6.0), (Random(), 3.0), (ClusterThompson(), 1.0)])
    turns = np.concatenate([mix._turns(start, batch) for start in range(0, 1000, batch)])
    np.testing.assert_array_equal(turns, mix._turns(0, 1000))
    for end in range(20, 1001, 20):
        np.testing.assert_allclose(
            np.bincount(turns[:end], minlength=3), [0.6 * end, 0.3 * end, 0.1 * end], atol=4, err_msg=str(end)
        )


def test_a_mix_of_one_is_that_one_and_doubles_are_skipped() -> None:
    view = random_view(6)
    greedy = Greedy().propose(view, 20)
    np.testing.assert_array_equal(Mix([(Greedy(), 1.0)]).propose(view, 20), greedy)
    np.testing.assert_array_equal(Mix([(Greedy(), 0.5), (Greedy(), 0.5)]).propose(view, 20), greedy)


def test_a_policy_that_has_nothing_more_leaves_its_turn_to_the_others() -> None:
    class Shy:
        def propose(self, view: SearchView, n: int) -> IntArray:
            return Greedy().propose(view, 1)

    view = random_view(7)
    rows = Mix([(Shy(), 0.9), (Greedy(), 0.1)]).propose(view, 10)
    assert sorted(rows.tolist()) == sorted(Greedy().propose(view, 10).tolist())


def test_autotar_batches_add_up() -> None:
    sizes, total = [], 0
    while total < 10_000:
        sizes.append(autotar_batch(total))
        total += sizes[-1]
    assert sizes[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]
    assert len(sizes) == 54
    assert autotar_batch(total - 5) == 5


def test_bad_parameters_are_named() -> None:
    with pytest.raises(InputError, match=r"relevance must be between 0 and 1, got 1\.5"):
        MaximalMarginalRelevance(1.5)
    with pytest.raises(InputError, match="A mix needs at least one policy"):
        Mix([])
    with pytest.raises(InputError, match=r"share of a policy must be above 0, got 0 for Greedy\(\)"):
        Mix([(Greedy(), 0)])
    with pytest.raises(InputError, match="items_per_draw must be at least 1, got 0"):
        WeightThompson(items_per_draw=0)
    with pytest.raises(InputError, match="C must be above 0, got -1"):
        WeightThompson(C=-1)
    with pytest.raises(InputError, match="presumed must be at least 0, got -1"):
        WeightThompson(presumed=-1)
    with pytest.raises(InputError, match="n_answered must be at least 0, got -1"):
        autotar_batch(-1)
