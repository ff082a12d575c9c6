"""Every surrogate, and a user's own object, serves every learner that takes one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from riffler import GradientAtK, SGDAtK
from riffler.losses import SURROGATES, Surrogate
from tests.naive.sgd_at_k import NumpySurrogate

X, y = make_classification(300, 5, weights=[0.7], class_sep=0.7, random_state=1)
WEIGHT = (np.arange(len(y)) % 3 + 1.0)[::-1]


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_compiled_and_numpy_paths_of_sgd_agree(name: str, storage: str) -> None:
    own = NumpySurrogate(name)
    assert isinstance(own, Surrogate)
    features = X if storage == "dense" else sparse.csr_matrix(X)
    settings: dict[str, Any] = {
        "k": 0.25,
        "batch_size": 60,
        "n_epochs": 3,
        "alpha": 0.01,
        "radius": 0.8,
    }
    compiled = SGDAtK(surrogate=name, random_state=0, **settings).fit(features, y, sample_weight=WEIGHT)
    numpy = SGDAtK(surrogate=own, random_state=0, **settings).fit(features, y, sample_weight=WEIGHT)
    np.testing.assert_allclose(numpy.coef_, compiled.coef_, atol=1e-9)
    assert numpy.loss_ == pytest.approx(compiled.loss_)
    assert numpy.n_iter_ == compiled.n_iter_ == 15


@pytest.mark.parametrize("name", SURROGATES)
def test_gradient_descent_takes_both_as_well(name: str) -> None:
    compiled = GradientAtK(k=20, surrogate=name, max_iter=30).fit(X, y)
    numpy = GradientAtK(k=20, surrogate=NumpySurrogate(name), max_iter=30).fit(X, y)
    np.testing.assert_allclose(numpy.coef_, compiled.coef_, atol=1e-9)
    assert numpy.loss_ == pytest.approx(compiled.loss_)
