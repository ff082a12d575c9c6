"""Logistic regression by sums over blocks is scikit-learn's, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from riffler.engine import LocalEngine
from riffler.evaluation.comparison import baseline
from riffler.evaluation.logistic_on_engine import fit_logistic, log_loss_and_slopes
from riffler.records import FloatArray
from tests.engine.partitions import cut


@pytest.mark.parametrize("cuts", [[], [3, 100, 101]])
def test_it_is_the_regression_of_scikit_learn_on_the_rows_that_count(cuts: list[int]) -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.3))
    labels = (X @ rng.normal(size=20) + rng.normal(size=300) > 0.5).astype(np.int8)
    labels[rng.permutation(300)[:60]] = -1
    model = fit_logistic(LocalEngine(cut(X, cuts)), labels)
    whole = baseline().fit(X[labels != -1], labels[labels != -1])
    assert_allclose(model.coef_, whole.coef_, atol=2e-3)
    assert_allclose(model.intercept_, whole.intercept_, atol=2e-3)
    assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-3)


def test_slopes_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(1)
    X, labels, at = rng.normal(size=(9, 3)), np.array([1, 0, -1] * 3, dtype=np.int8), rng.normal(size=4)

    def sums(point: FloatArray) -> FloatArray:
        return log_loss_and_slopes(X, labels, point[:3], float(point[3]))

    for place in range(4):
        step = 1e-6 * np.eye(4)[place]
        assert_allclose((sums(at + step)[-1] - sums(at - step)[-1]) / 2e-6, sums(at)[place], rtol=1e-6)
