"""Keyed random numbers: uniform, repeatable, and the same whatever the company."""

from __future__ import annotations

import numpy as np
from scipy import stats

from riffler._fast import draws
from riffler.records import FloatArray


def drawn(seed: int, step: int, n_items: int) -> FloatArray:
    out = np.empty(n_items)
    draws.uniforms(seed, step, np.arange(n_items), out)
    return out


def test_a_number_depends_on_its_key_alone() -> None:
    whole = drawn(3, 5, 1000)
    some = np.array([999, 0, 17], dtype=np.int64)
    out = np.empty(3)
    draws.uniforms(3, 5, some, out)
    np.testing.assert_array_equal(out, whole[some])
    assert draws.uniform(3, 5, 17) == whole[17]
    assert 0 <= whole.min() < whole.max() < 1


def test_they_are_uniform_and_do_not_hang_together() -> None:
    first, other_step, other_seed = drawn(0, 0, 20_000), drawn(0, 1, 20_000), drawn(1, 0, 20_000)
    for sample in (first, other_step, other_seed):
        assert stats.kstest(sample, "uniform").pvalue > 0.001
    for one, two in ((first, other_step), (first, other_seed), (first[1:], first[:-1])):
        assert abs(np.corrcoef(one, two)[0, 1]) < 4 / np.sqrt(20_000)


def test_negative_keys_are_keys() -> None:
    out = np.empty(3)
    draws.uniforms(0, -2, np.array([-1, -2, 2**62]), out)
    assert len(set(out)) == 3
    assert ((out >= 0) & (out < 1)).all()
