"""A whole set as one example: the batched problem is the task's four methods, and it is solved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler.errors import FeatureMismatch, InputError, LabelError, UnknownName
from riffler.structured.cutting_plane import minimise_by_planes
from riffler.structured.multivariate import Multivariate
from riffler.structured.one_by_one import OneByOne

rng = np.random.default_rng(0)
SETS = [rng.normal(size=(n, 4)) for n in (12, 7, 20)]
LABELS = [(x[:, 0] + 0.3 * rng.normal(size=len(x)) > np.quantile(x[:, 0], 0.6)).astype(int) for x in SETS]


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("name", ["precision", "recall", "f1", "prbep", "error"])
def test_the_batched_problem_is_that_of_the_four_methods(name: str, rescaling: str) -> None:
    task = Multivariate(name, k=2).for_data(SETS, LABELS)
    batched, one_by_one = task.problem(SETS, LABELS, rescaling), OneByOne(task, SETS, LABELS, rescaling)
    for scale in (0.0, 0.3, 3.0):
        weights = scale * rng.normal(size=4)
        ours, theirs = batched.plane(weights), one_by_one.plane(weights)
        assert ours.height(weights) == pytest.approx(theirs.height(weights), abs=1e-12)
        np.testing.assert_allclose(ours.slopes, theirs.slopes, atol=1e-12)
        assert batched.cut(1, weights).height(weights) == pytest.approx(one_by_one.cut(1, weights).height(weights))


@pytest.mark.parametrize("name", ["precision", "recall", "f1", "prbep", "error"])
def test_no_other_labelling_violates_more(name: str) -> None:
    task = Multivariate(name, k=2).for_data(SETS[:2], LABELS[:2])
    weights = rng.normal(size=4)
    for x, y in zip(SETS[:2], LABELS[:2], strict=True):
        worst = task.loss_augmented_argmax(x, y, weights)
        best = task.loss(y, worst) + weights @ task.joint_feature(x, worst)
        for _ in range(200):
            other = rng.permutation(worst) if task.share is not None else rng.random(len(y)) < 0.4
            assert task.loss(y, other) + weights @ task.joint_feature(x, other) <= best + 1e-12


def test_selected_are_the_best_scored() -> None:
    x = np.arange(6.0)[:, None] - 2.5
    weights = np.array([1.0])
    assert Multivariate("f1").for_data([x], [[0, 0, 0, 1, 1, 1]]).argmax(x, weights).tolist() == 3 * [0] + 3 * [1]
    assert Multivariate("precision", k=2).for_data([x], [[0, 0, 0, 1, 1, 1]]).argmax(x, weights).sum() == 2
    assert Multivariate("prbep").for_data([x], [[0, 0, 0, 0, 0, 1]]).argmax(x, weights).sum() == 1


@pytest.mark.parametrize("form", [sparse.csr_array, lambda x: x.astype(np.float32)], ids=["sparse", "single"])
def test_storage_makes_no_difference(form: Any) -> None:  # noqa: ANN401 - a function
    task = Multivariate("f1").for_data(SETS, LABELS)
    weights = rng.normal(size=4)
    ours = task.problem([form(x) for x in SETS], LABELS, "margin").plane(weights)
    np.testing.assert_allclose(ours.slopes, task.problem(SETS, LABELS, "margin").plane(weights).slopes, atol=1e-6)


def test_errors_of_a_set_are_a_linear_svm() -> None:
    from sklearn.svm import LinearSVC

    X, y = np.vstack(SETS), np.concatenate(LABELS)
    found = minimise_by_planes(
        Multivariate("error").for_data([X], [y]).problem([X], [y], "margin").plane, 4, 5.0, tol=1e-5
    )
    peer = LinearSVC(loss="hinge", C=5.0 / len(y), fit_intercept=False, tol=1e-8, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(found.weights, peer.coef_[0], atol=2e-2)


def test_sets_that_cannot_be_used() -> None:
    with pytest.raises(InputError, match="Set 1 has 7 rows and 6 labels"):
        Multivariate("f1").problem(SETS[:2], [LABELS[0], LABELS[1][:6]], "margin")
    with pytest.raises(InputError, match="Set 1 has 3 columns, set 0 has 4"):
        Multivariate("f1").problem([SETS[0], SETS[1][:, :3]], LABELS[:2], "margin")
    with pytest.raises(InputError, match="Set 0 holds NaN"):
        Multivariate("f1").problem([SETS[0] * np.nan], LABELS[:1], "margin")
    with pytest.raises(InputError, match="is no measure of labellings"):
        Multivariate("auc").loss([1, 0], [1, 0])


def test_settings_are_refused_where_the_task_is_made() -> None:
    with pytest.raises(UnknownName, match=r"No measure called 'map'\. Known: auc, error, f1"):
        Multivariate("map")
    with pytest.raises(InputError, match="k must be"):
        Multivariate("precision", k=0)
    with pytest.raises(InputError, match="is no measure of labellings"):
        Multivariate("auc")


@pytest.mark.parametrize("name", ["f1", "precision"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_named(name: str, value: float) -> None:
    task = Multivariate(name, k=2).for_data(SETS, LABELS)
    sets = [SETS[0], sparse.csr_array(np.where(np.arange(4) == 2, value, SETS[1]))]
    with pytest.raises(InputError, match="Set 1 holds NaN or infinity"):
        task.argmax_of_all(sets, np.zeros(4))
    with pytest.raises(InputError, match="x holds NaN or infinity"):
        task.argmax(sets[1], np.zeros(4))


def test_other_columns_than_were_learned_from_are_named() -> None:
    with pytest.raises(FeatureMismatch, match="Set 1 has 3 columns, there are 4 weights"):
        Multivariate().argmax_of_all([SETS[0], sparse.csr_array(SETS[1][:, :3])], np.zeros(4))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_single_matrix_is_told_from_a_list(form: Any) -> None:  # noqa: ANN401 - a function
    asks: list[Any] = [Multivariate().for_data, lambda X, Y: Multivariate().problem(X, Y, "margin")]
    for ask in asks:
        with pytest.raises(InputError, match=r"X is a single matrix.*one matrix per set and a list with its labels"):
            ask(form(SETS[0]), LABELS[0])
    with pytest.raises(InputError, match="X is a single matrix"):
        Multivariate().argmax_of_all(form(SETS[0]), np.zeros(4))
    with pytest.raises(InputError, match="The labels of set 0 are a single value"):
        Multivariate().for_data([SETS[0]], [1])


def test_labellings_are_of_the_same_rows() -> None:
    with pytest.raises(LabelError, match="The truth labels 3 rows, the output 2"):
        Multivariate().loss([0, 1, 1], [0, 1])
