"""From weights to probabilities: the loop of ``budgeted`` equals the exact sorted rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler import Exponential, InputError, Inverse, UnknownName
from riffler.records import FloatArray
from riffler.samplers import WeightedSampler, budgeted, sampler_from
from tests.naive.active_at_k import by_sorting

weights_of_rows = st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 1e9)), min_size=1, max_size=30).map(np.array)


@given(weights=weights_of_rows, share=st.floats(0, 1.5), floor=st.sampled_from([0.0, 0.01, 0.3, 1.0]))
def test_the_probabilities_are_those_of_the_sorted_rule(weights: FloatArray, share: float, floor: float) -> None:
    n_expected = share * weights.size
    probability = budgeted(weights, n_expected, floor)
    np.testing.assert_allclose(probability, by_sorting(weights, n_expected, floor), rtol=1e-6, atol=1e-9)
    assert probability.min() >= floor
    assert probability.max() <= 1.0
    can = min(n_expected, np.count_nonzero(weights) + floor * np.count_nonzero(weights == 0))
    if weights.any() and floor * weights.size <= n_expected:
        assert probability.sum() == pytest.approx(can, rel=1e-6)
    order = np.argsort(weights)
    assert (np.diff(probability[order]) >= -1e-12).all()  # more weight, more probability


def test_unscaled_weights_are_probabilities() -> None:
    assert budgeted(np.array([0.0, 0.5, 3.0]), None, floor=0.1).tolist() == [0.1, 0.5, 1.0]


def test_weights_that_underflow() -> None:
    np.testing.assert_allclose(budgeted(np.zeros(4), 2), 0.5)
    smallest = budgeted(np.array([1.0, 5e-324, 0.0]), 2)
    assert smallest[0] == 1.0
    assert np.isfinite(smallest).all()


@pytest.mark.parametrize("sampler", [lambda: Exponential(0.0), lambda: Inverse(-1.0)])
def test_settings_that_make_no_sense(sampler: type) -> None:
    with pytest.raises(InputError, match="must be above 0, got"):
        sampler()


def test_a_sampler_without_weights_cannot_be_made() -> None:
    class Weightless(WeightedSampler):
        pass

    with pytest.raises(TypeError, match="abstract method"):
        Weightless()  # type: ignore[abstract]


def test_names() -> None:
    assert sampler_from("exponential") == Exponential()
    assert sampler_from(Inverse(2.0)) == Inverse(2.0)
    with pytest.raises(UnknownName, match=r"No sampler called 'greedy'. Known: exponential, inverse, sequential"):
        sampler_from("greedy")
