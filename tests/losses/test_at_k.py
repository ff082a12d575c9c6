"""The surrogates equal enumeration, bound the loss in their order, and have the shape the paper says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from riffler.errors import UnknownName
from riffler.losses import SURROGATES, Avg, Max, Ramp, Struct, surrogate_from
from riffler.losses.at_k import _CompiledSurrogate
from riffler.records import FloatArray, IntArray
from tests.naive import at_k as naive

NAMES = sorted(SURROGATES)


def compiled(name: str) -> _CompiledSurrogate:
    surrogate = surrogate_from(name)
    assert isinstance(surrogate, _CompiledSurrogate)
    return surrogate


@dataclass
class Batch:
    scores: FloatArray
    labels: IntArray
    k: int


@st.composite
def batches(draw: st.DrawFn, max_rows: int = 8, tied: bool = True) -> Batch:
    n = draw(st.integers(1, max_rows))
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    assume(labels.any())
    # a coarse grid makes ties common; a fine one makes them absent
    grid = st.integers(-6, 6).map(lambda v: v / 2) if tied else st.floats(-4, 4, width=32)
    scores = np.array(draw(st.lists(grid, min_size=n, max_size=n, unique=not tied)), dtype=float)
    return Batch(scores, labels, draw(st.integers(1, int(labels.sum()))))


@pytest.mark.parametrize("name", NAMES)
@given(batch=batches())
@settings(max_examples=150, deadline=None)
def test_value_equals_enumeration(name: str, batch: Batch) -> None:
    fast = compiled(name).value(batch.scores, batch.labels, batch.k)
    assert fast == pytest.approx(naive.surrogate(name, batch.scores, batch.labels, batch.k), abs=1e-9)


@given(batch=batches())
@settings(max_examples=300, deadline=None)
def test_upper_bounds_come_in_order(batch: Batch) -> None:
    arguments = batch.scores, batch.labels, batch.k
    loss, ramp, avg, largest = naive.loss(*arguments), *(s().value(*arguments) for s in (Ramp, Avg, Max))
    assert loss <= ramp + 1e-9
    assert ramp <= avg + 1e-9
    assert avg <= largest + 1e-9


def test_struct_is_no_upper_bound() -> None:
    scores, labels = np.array([6.0, 5.0, 4.0]), np.array([0, 1, 1])
    assert Struct().value(scores, labels, 1) == -2.0
    assert naive.loss(scores, labels, 1) == 1


@pytest.mark.parametrize("name", NAMES)
@given(batch=batches(tied=False), seed=st.integers(0, 99))
@settings(max_examples=80, deadline=None)
def test_slope_is_the_derivative(name: str, batch: Batch, seed: int) -> None:
    surrogate = compiled(name)
    direction = np.random.default_rng(seed).normal(size=len(batch.scores))
    step = 1e-6
    _, slope = surrogate.value_and_slope(batch.scores, batch.labels, batch.k)
    ahead, behind = (surrogate.value(batch.scores + sign * step * direction, batch.labels, batch.k) for sign in (1, -1))
    forward = (ahead - surrogate.value(batch.scores, batch.labels, batch.k)) / step
    backward = (surrogate.value(batch.scores, batch.labels, batch.k) - behind) / step
    assume(abs(forward - backward) < 1e-6)  # not at a kink
    assert float(slope @ direction) == pytest.approx(forward, abs=1e-4)


@pytest.mark.parametrize("name", ["avg", "max", "struct"])
@given(batch=batches(), seed=st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_convex_surrogates_lie_above_their_tangent_even_at_ties(name: str, batch: Batch, seed: int) -> None:
    surrogate = compiled(name)
    value, slope = surrogate.value_and_slope(batch.scores, batch.labels, batch.k)
    other = batch.scores + np.random.default_rng(seed).normal(size=len(batch.scores))
    assert surrogate.value(other, batch.labels, batch.k) >= value + slope @ (other - batch.scores) - 1e-9


def test_ramp_is_not_convex() -> None:
    labels, left, right = np.array([1, 1, 0]), np.array([3.0, -3.0, 0.0]), np.array([-3.0, 3.0, 0.0])
    middle = Ramp().value((left + right) / 2, labels, 1)
    assert middle > (Ramp().value(left, labels, 1) + Ramp().value(right, labels, 1)) / 2


@given(batch=batches(tied=False), gap=st.floats(1.0, 3.0))
@settings(max_examples=100, deadline=None)
def test_tight_under_their_margin(batch: Batch, gap: float) -> None:
    """Weak margin makes ramp zero, the mean margin makes avg zero, the strong margin makes max zero."""
    labels, k = batch.labels, batch.k
    best_negative = batch.scores[labels == 0].max(initial=-4.0)
    order = np.flatnonzero(labels)[np.argsort(-batch.scores[labels == 1])]
    weak, strong = batch.scores.copy(), batch.scores.copy()
    weak[order[:k]] = best_negative + gap
    strong[order] = best_negative + gap + np.arange(len(order))
    assert Ramp().value(weak, labels, k) == 0.0
    assert Max().value(strong, labels, k) == 0.0
    mean_of_missed = batch.scores.copy()
    mean_of_missed[order] = best_negative + gap + np.linspace(1, 0, len(order))
    assert Avg().value(mean_of_missed, labels, k) == 0.0


@pytest.mark.parametrize(
    ("k", "loss", "struct", "ramp", "avg", "largest"),
    [(1, 1, 1.0, 1.5, 2.3333, 3.0), (2, 1, 3.0, 3.0, 3.6667, 4.5), (3, 2, 4.5, 4.5, 4.5, 4.5)],
)
def test_published_vectors(k: int, loss: int, struct: float, ramp: float, avg: float, largest: float) -> None:
    scores, labels = np.array([2, 1.5, 1, 0.5, 0, -1]), np.array([0, 1, 0, 1, 1, 0])
    assert naive.loss(scores, labels, k) == loss
    values = [s().value(scores, labels, k) for s in (Struct, Ramp, Avg, Max)]
    assert values == pytest.approx([struct, ramp, avg, largest], abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
@given(batch=batches(), data=st.data())
@settings(max_examples=150, deadline=None)
def test_weight_is_row_repetition_in_any_order(name: str, batch: Batch, data: st.DataObject) -> None:
    n = len(batch.scores)
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    positive_weight = int(weight[batch.labels == 1].sum())
    assume(positive_weight > 0)
    k = data.draw(st.integers(1, positive_weight))
    rows = np.array(data.draw(st.permutations(np.repeat(np.arange(n), weight.astype(int)).tolist())), dtype=int)
    value, slope = compiled(name).value_and_slope(batch.scores, batch.labels, k, weight)
    repeated, repeated_slope = compiled(name).value_and_slope(batch.scores[rows], batch.labels[rows], k)
    assert value == pytest.approx(repeated, abs=1e-9)
    np.testing.assert_allclose(slope, np.bincount(rows, repeated_slope, minlength=n), atol=1e-9)


def test_unknown_surrogate_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"No surrogate called 'mex'. Known: avg, max, ramp, struct"):
        surrogate_from("mex")
    with pytest.raises(UnknownName):
        surrogate_from(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_large_fractional_weights_use_up_the_positives_and_no_more(name: str) -> None:
    """Rounding must not lead the walk past the last positive."""
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.uniform(0.05, 0.9, 1500), rng.uniform(-0.05, 0, 1500)])
    labels = np.repeat([1, 0], 1500)
    weight = rng.random(3000) * 1e3
    weight[1500:] *= 1.2
    positive_weight = float(weight[:1500].sum())
    _, slope = compiled(name).value_and_slope(scores, labels, positive_weight, weight)
    assert (slope[:1500] <= 0).all()
    assert (slope[1500:] >= 0).all()
    assert slope[:1500].sum() == pytest.approx(-positive_weight)
    assert slope[1500:].sum() == pytest.approx(positive_weight)
