"""Scores of mapped rows come ever closer to those of the exact kernel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from riffler.features.blocks import Scaling
from riffler.records import FloatArray
from riffler.scorers import Kernel, Rbf, RbfFourier, RbfNystroem

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4)) * [1, 5, 0.2, 1] + 3
AMOUNTS = rng.normal(size=150)
SCALING = Scaling(X.mean(axis=0), X.std(axis=0))


def scores_of(kernel: Kernel, seed: int = 0) -> FloatArray:
    scorer = kernel.start(X, SCALING, seed)
    scorer.add(X[:70], AMOUNTS[:70])
    scorer.add(X[70:], AMOUNTS[70:])
    scores = scorer.scores(X)
    assert scores.dtype == np.float64
    return scores


EXACT = scores_of(Rbf())


def test_fourier_scores_converge_to_the_exact_ones() -> None:
    def error(n_components: int) -> float:
        of_seeds = [np.abs(scores_of(RbfFourier(n_components=n_components), seed) - EXACT).mean() for seed in range(8)]
        return float(np.mean(of_seeds))

    errors = [error(n) for n in (50, 800, 12_800)]
    assert errors[0] > 2.5 * errors[1] > 6 * errors[2]  # the error falls as 1 / sqrt(n)
    assert errors[2] < 0.1 * EXACT.std()


@pytest.mark.parametrize("n_components", [150, 1000])
def test_nystroem_with_all_rows_is_exact(n_components: int) -> None:
    np.testing.assert_allclose(scores_of(RbfNystroem(n_components=n_components)), EXACT, atol=2e-3)


def test_nystroem_is_closer_than_fourier() -> None:
    errors = [np.abs(scores_of(kernel) - EXACT).mean() for kernel in (RbfNystroem(None, 60), RbfFourier(None, 60))]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("kernel", [RbfFourier(0.2, 50), RbfNystroem(0.2, 50)])
def test_the_seed_alone_decides(kernel: Kernel) -> None:
    np.testing.assert_array_equal(scores_of(kernel, seed=3), scores_of(kernel, seed=3))
    assert np.abs(scores_of(kernel, seed=3) - scores_of(kernel, seed=4)).max() > 1e-3


@pytest.mark.parametrize("kernel", [RbfFourier(0.2, 30), RbfNystroem(0.2, 30)])
def test_sparse_rows_score_as_dense_ones(kernel: Kernel) -> None:
    csr = sparse.csr_matrix(X)
    # sparse columns are never shifted; dense ones are told not to be by a shift of 0
    one, other = (
        kernel.start(X, Scaling(np.zeros(4), SCALING.scale), 0),
        kernel.start(csr, Scaling(None, SCALING.scale), 0),
    )
    one.add(X, AMOUNTS)
    other.add(csr, AMOUNTS)
    np.testing.assert_allclose(other.scores(csr), one.scores(X), atol=5e-3)
