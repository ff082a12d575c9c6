"""Multiclass: oracles equal enumeration, the problem equals the four methods, Crammer and Singer's SVM is reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import LinearSVC

from riffler.errors import InputError, LabelError
from riffler.structured.multiclass import Multiclass
from riffler.structured.one_by_one import OneByOne
from riffler.structured.structural_svm import StructuralSVM

COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [3.0, 1.0, 0.0]])


@pytest.mark.parametrize("costs", [None, COSTS])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_the_compiled_problem_equals_the_four_methods(costs: Any, rescaling: str, as_rows: Any) -> None:  # noqa: ANN401
    X, y = load_iris(return_X_y=True)
    rows = as_rows(X[::5])
    task = Multiclass(costs=costs).for_data(rows, y[::5])
    compiled, plain = task.problem(rows, y[::5], rescaling), OneByOne(task, list(X[::5]), y[::5].tolist(), rescaling)
    assert compiled.n_weights == plain.n_weights == 12
    for weights in np.random.default_rng(0).normal(size=(5, 12)):
        fast, slow = compiled.plane(weights), plain.plane(weights)
        np.testing.assert_allclose(fast.slopes, slow.slopes, atol=1e-12)
        assert fast.offset == pytest.approx(slow.offset)


def test_oracles_equal_enumeration() -> None:
    task = Multiclass(classes=("a", "b", "c"), costs=COSTS, n_columns=4)
    rng = np.random.default_rng(1)
    for x, weights in zip(rng.normal(size=(30, 4)), rng.normal(size=(30, 12)), strict=True):
        value = {name: float(task.joint_feature(x, name) @ weights) for name in "abc"}
        assert task.argmax(x, weights) == max(value, key=value.__getitem__)
        for y in "abc":
            margin = {name: task.loss(y, name) + value[name] for name in "abc"}
            slack = {name: task.loss(y, name) * (1 - value[y] + value[name]) for name in "abc"}
            assert margin[task.loss_augmented_argmax(x, y, weights)] == pytest.approx(max(margin.values()))  # type: ignore[index]
            assert slack[task.slack_augmented_argmax(x, y, weights)] == pytest.approx(max(slack.values()))  # type: ignore[index]


def test_it_is_the_svm_of_crammer_and_singer() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16.0, y[:300]
    C = 50.0
    ours = StructuralSVM(Multiclass(), C=C, tol=1e-4, random_state=0).fit(X, y)
    theirs = LinearSVC(
        multi_class="crammer_singer", C=C / len(X), fit_intercept=False, tol=1e-6, max_iter=100_000, random_state=0
    ).fit(X, y)
    weights = theirs.coef_
    scores = X @ weights.T
    wrong = 1.0 - (np.arange(10) == y[:, np.newaxis])
    hinge = (scores + wrong).max(axis=1) - scores[np.arange(len(X)), y]
    value = float((weights**2).sum()) / 2 + C * float(hinge.mean())
    assert ours.primal_ == pytest.approx(value, rel=2e-4)
    assert ours.dual_ <= value * (1 + 1e-6)


def test_costs_change_what_is_said_in_doubt() -> None:
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=400), np.ones(400)])
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    said = {
        dear: np.mean(StructuralSVM(Multiclass(costs=[[0, 1], [dear, 0]]), C=100, random_state=0).fit(X, y).predict(X))
        for dear in (1, 10)
    }
    assert said[10] > said[1] + 0.1  # to miss a 1 costs ten times as much, so it is said more often


def test_one_class_is_always_said() -> None:
    task = Multiclass().for_data(np.eye(2), ["only", "only"])
    assert task.argmax_of_all(np.eye(2), np.zeros(2)) == ["only", "only"]


def test_bad_input_is_named() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(LabelError, match="the class 2, which is not among the 2 known ones"):
        StructuralSVM(Multiclass(classes=(0, 1))).fit(X, y)
    with pytest.raises(InputError, match=r"a matrix with a row for each example, got shape \(150,\)"):
        StructuralSVM(Multiclass()).fit(X[:, 0], y)
    with pytest.raises(InputError, match="value that is not finite"):
        StructuralSVM(Multiclass()).fit(np.where(X[3, 0] == X, np.inf, X), y)


def test_nothing_is_labelled_with_nothing_and_half_precision_is_taken() -> None:
    X, y = load_iris(return_X_y=True)
    model = StructuralSVM(Multiclass(), random_state=0).fit(X.astype(np.float16), y)
    assert model.predict([]) == []
    assert model.predict(np.empty((0, 4))) == []
    assert len(model.predict(X[:3].astype(np.float16))) == 3


def test_classes_of_arrays_come_back_as_plain_values() -> None:
    model = StructuralSVM(Multiclass(), random_state=0).fit(np.eye(2), np.array(["no", "yes"]))
    assert [type(one) for one in model.predict(np.eye(2))] == [str, str]
    with pytest.raises(LabelError, match="The label 'a' is given twice"):
        StructuralSVM(Multiclass(classes=("a", "a"))).fit(np.eye(2), ["a", "a"])
    with pytest.raises(LabelError, match=r"one a row, got an array of shape \(2, 1\)"):
        StructuralSVM(Multiclass()).fit(np.eye(2), np.array([["no"], ["yes"]]))
