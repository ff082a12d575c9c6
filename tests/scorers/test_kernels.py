"""One promise after another, run over every kernel of the name table."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from riffler import ActivePerceptronAtK, ArrayOracle, InputError, UnknownName, precision_at_k
from riffler.features.blocks import Scaling
from riffler.scorers import (
    KERNELS,
    Kernel,
    Linear,
    Rbf,
    RbfFourier,
    RbfNystroem,
    RbfProjectron,
    RbfRemoval,
    kernel_from,
)

rng = np.random.default_rng(0)
RING = rng.normal(size=(4000, 2))
INSIDE = (np.linalg.norm(RING, axis=1) < 0.7).astype(int)
X = rng.normal(size=(60, 3))
SCALING = Scaling(X.mean(axis=0), X.std(axis=0))
every_kernel = pytest.mark.parametrize("name", KERNELS)


def precision_after_two_steps(kernel: str | Kernel, rows: Any) -> float:  # noqa: ANN401 - dense or sparse
    oracle, ranker = ArrayOracle(INSIDE), ActivePerceptronAtK(k=80, kernel=kernel, sampler="uniform", random_state=0)
    for start in (0, 500):
        ranker.step(rows[start : start + 500], oracle)
    assert oracle.n_asked < 400
    assert ranker.n_updates_ >= 1  # the second top may be right already
    return precision_at_k(INSIDE[2000:], ranker.decision_function(rows[2000:]), 150)


@every_kernel
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_two_steps_learn_a_ring_unless_linear(name: str, make: Any) -> None:  # noqa: ANN401 - dense or sparse
    precision = precision_after_two_steps(name, make(RING))
    assert precision < 0.5 if name == "linear" else precision > 0.9


@every_kernel
def test_scores_start_at_zero_and_add_up(name: str) -> None:
    scorer = kernel_from(name).start(X, SCALING, 0)
    np.testing.assert_array_equal(scorer.scores(X), np.zeros(60))
    scorer.add(X[:5], np.ones(5))
    first = scorer.scores(X)
    scorer.add(X[:5], np.ones(5))
    np.testing.assert_allclose(scorer.scores(X), 2 * first, atol=1e-4)
    scorer.add(X[:5], np.full(5, -2.0))
    np.testing.assert_allclose(scorer.scores(X), 0.0, atol=1e-4)


@every_kernel
def test_copies_score_alike_and_go_their_own_way(name: str) -> None:
    scorer = kernel_from(name).start(X, SCALING, 0)
    scorer.add(X[:9], np.ones(9))
    before = scorer.scores(X)
    for copied in (deepcopy(scorer), pickle.loads(pickle.dumps(scorer))):
        copied.add(X[9:19], np.ones(10))
        assert np.abs(copied.scores(X) - before).max() > 0.1
        np.testing.assert_array_equal(scorer.scores(X), before)


@every_kernel
def test_rows_given_to_it_may_change_afterwards(name: str) -> None:
    rows = X.astype(np.float32)
    scorer = kernel_from(name).start(rows, Scaling(np.zeros(3), np.ones(3)), 0)
    scorer.add(rows, np.arange(60.0))
    before = scorer.scores(X)
    rows[:] = 0
    np.testing.assert_array_equal(scorer.scores(X), before)


@pytest.mark.parametrize("kernel", [make() for make in KERNELS.values()], ids=KERNELS)
def test_estimators_with_a_kernel_can_be_cloned(kernel: Kernel) -> None:
    ranker = ActivePerceptronAtK(kernel=kernel)
    assert clone(ranker).get_params()["kernel"] == kernel
    assert clone(ActivePerceptronAtK(kernel="rbf")).kernel == "rbf"
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_unknown_kernel_lists_the_known_ones() -> None:
    assert kernel_from("linear") == Linear()
    with pytest.raises(UnknownName, match=r"No kernel called 'poly'. Known: linear, rbf, rbf-fourier, rbf-nystroem"):
        kernel_from("poly")


@pytest.mark.parametrize("make", [Rbf, RbfFourier, RbfNystroem, RbfProjectron, RbfRemoval])
@pytest.mark.parametrize("gamma", [0.0, -1.0, float("nan"), float("inf")])
def test_a_width_must_be_positive(make: Any, gamma: float) -> None:  # noqa: ANN401 - any of the classes
    with pytest.raises(InputError, match="gamma must be a positive number, or None"):
        make(gamma=gamma)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (RbfFourier, "n_components"),
        (RbfNystroem, "n_components"),
        (RbfProjectron, "max_size"),
        (RbfRemoval, "max_size"),
    ],
)
@pytest.mark.parametrize("count", [0, -3, 2.5, True])
def test_sizes_must_be_whole_numbers(make: Any, name: str, count: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(InputError, match=f"{name} must be a whole number of at least 1, got {count}"):
        make(**{name: count})


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, float("nan")])
def test_a_tolerance_lies_below_the_length_of_a_row(tolerance: float) -> None:
    with pytest.raises(InputError, match="tolerance must be from 0 to below 1"):
        RbfProjectron(tolerance=tolerance)
