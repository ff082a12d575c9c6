"""Kernel features come ever closer to the kernel, and stay within their memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from riffler.errors import UnknownName
from riffler.features.blocks import Scaling, identity_scaling
from riffler.features.kernel import KernelMap, OfWarped
from riffler.features.warp import StandardWarp
from riffler.records import FloatArray

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)) * [1, 5, 0.2, 1] + 3
SCALING = Scaling(X.mean(axis=0), X.std(axis=0))
EXACT = rbf_kernel((X - X.mean(axis=0)) / X.std(axis=0), gamma=0.2)


def kernel_of(method: str, n_components: int) -> FloatArray:
    Z = KernelMap(method, n_components, 0.2, StandardWarp(SCALING)).fit(X, np.random.RandomState(1)).transform(X)
    assert Z.dtype == np.float32
    product: FloatArray = Z @ Z.T
    return product


def test_fourier_features_converge_to_the_kernel() -> None:
    errors = [np.abs(kernel_of("fourier", n) - EXACT).mean() for n in (50, 800, 12_800)]
    assert errors[0] > 2.5 * errors[1] > 6 * errors[2]  # the error falls as 1 / sqrt(n)
    assert errors[2] < 0.01


def test_nystroem_with_all_rows_is_the_kernel() -> None:
    np.testing.assert_allclose(kernel_of("nystroem", 80), EXACT, atol=1e-4)
    np.testing.assert_allclose(kernel_of("nystroem", 500), EXACT, atol=1e-4)  # more than the rows: all of them
    assert np.abs(kernel_of("nystroem", 40) - EXACT).mean() < np.abs(kernel_of("fourier", 40) - EXACT).mean()


@pytest.mark.parametrize("method", ["fourier", "nystroem"])
def test_sparse_rows_have_the_features_of_dense_ones(method: str) -> None:
    one, other = (KernelMap(method, 20, 0.2, StandardWarp(Scaling(None, X.std(axis=0)))) for _ in range(2))
    csr = sparse.csr_matrix(X)
    dense_features = one.fit(X, np.random.RandomState(0)).transform(X)
    sparse_features = other.fit(csr, np.random.RandomState(0)).transform(csr)
    np.testing.assert_allclose(sparse_features, dense_features, atol=2e-4)


def test_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"No kernel feature method called 'laplace'. Known: fourier, nystroem"):
        KernelMap("laplace", 10, 1.0, StandardWarp(identity_scaling(3)))


def test_rows_warped_before_have_the_same_features() -> None:
    kernel_map = KernelMap("fourier", 20, 0.2, StandardWarp(SCALING)).fit(X, np.random.RandomState(0))
    np.testing.assert_array_equal(OfWarped(kernel_map).transform(kernel_map.warp(X)), kernel_map.transform(X))
