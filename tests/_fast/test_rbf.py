"""The compiled sum of kernels is exact to float32's rounding, and safe where an exponential under- or overflows."""

from __future__ import annotations

import numpy as np
import pytest

from riffler._fast.rbf import add_rbf_sums
from riffler.records import FloatArray


def sums(powers: FloatArray, coefs: FloatArray) -> FloatArray:
    out = np.zeros(powers.shape[0])
    nothing = np.zeros(max(powers.shape), dtype=np.float32)
    add_rbf_sums(
        powers.astype(np.float32), nothing[: len(powers)], nothing[: len(coefs)], coefs.astype(np.float32), out
    )
    return out


def test_each_entry_is_a_power_of_two() -> None:
    powers = np.linspace(-125.9, 0, 20_001, dtype=np.float32)
    np.testing.assert_allclose(sums(powers[:, None], np.ones(1)), np.exp2(powers.astype(np.float64)), rtol=3e-7)


@pytest.mark.parametrize("n_support", [0, 1, 7, 256, 257, 1000])
def test_sums_are_those_of_numpy(n_support: int) -> None:
    rng = np.random.default_rng(n_support)
    products = rng.normal(size=(5, n_support)).astype(np.float32)
    own, theirs = (rng.uniform(3, 9, size=n).astype(np.float32) for n in (5, n_support))
    coefs = rng.normal(size=n_support).astype(np.float32)
    out = np.ones(5)
    add_rbf_sums(products, own, theirs, coefs, out)
    powers = products.astype(np.float64) - theirs - own[:, None]
    np.testing.assert_allclose(out, 1.0 + np.exp2(powers) @ coefs, atol=1e-6)


def test_far_rows_count_nothing_and_no_row_counts_more_than_itself() -> None:
    far = np.array([[-127.0], [-1e6], [-np.inf], [np.nan]])
    np.testing.assert_allclose(sums(far, np.ones(1)), 0.0, atol=1e-37)
    np.testing.assert_allclose(sums(np.array([[1e-6], [20.0]]), np.ones(1)), 1.0, rtol=1e-6)
