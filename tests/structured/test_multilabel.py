"""Multilabel is exact, its compiled problem is that of its four methods, and without edges it is one SVM a label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from riffler.errors import FeatureMismatch, InputError, LabelError, UnknownName
from riffler.records import FloatArray, IntArray
from riffler.structured.block_descent import BlockDescent, KeptCuts
from riffler.structured.cutting_plane import minimise_by_planes
from riffler.structured.frank_wolfe import FrankWolfe, SparseBlocks
from riffler.structured.multilabel import Multilabel
from riffler.structured.one_by_one import OneByOne
from riffler.structured.structural_svm import StructuralSVM
from riffler.structured.task import BatchedTask, FittedTask, SlackTask
from tests.naive.label_tree import all_labellings


def examples(seed: int = 0, n: int = 30, n_labels: int = 4) -> tuple[FloatArray, IntArray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.7)
    hidden = rng.normal(size=(n, 1))
    return X, (X @ rng.normal(size=(5, n_labels)) + hidden > 0.3).astype(int)


def test_it_is_a_task_that_learns_its_sizes_and_looks_at_all_examples() -> None:
    task = Multilabel()
    assert all(isinstance(task, kind) for kind in (BatchedTask, FittedTask, SlackTask))


@pytest.mark.parametrize("edges", ["tree", "none", [(3, 1), (0, 3)]])
def test_answers_are_the_best_of_all_labellings(edges: Any) -> None:  # noqa: ANN401 - what the task takes
    X, Y = examples()
    task = Multilabel(edges, costs=[1, 2, 3, 4]).for_data(X, Y)
    rng = np.random.default_rng(1)
    for x, y in zip(X, Y, strict=True):
        weights = rng.normal(size=task.space_.n_weights)
        outputs = all_labellings(4)
        scores = np.array([(task.joint_feature(x, other) @ weights)[0] for other in outputs])
        losses = np.array([task.loss(y, other) for other in outputs])
        best = task.joint_feature(x, task.argmax(x, weights)) @ weights
        assert best == pytest.approx(scores.max())
        violating = task.loss_augmented_argmax(x, y, weights)
        reached = task.loss(y, violating) + (task.joint_feature(x, violating) @ weights)[0]
        assert reached == pytest.approx((losses + scores).max())


def test_slack_answers_are_the_best_of_all_labellings() -> None:
    X, Y = examples(1)
    task = Multilabel().for_data(X, Y)
    rng = np.random.default_rng(1)
    for x, y in zip(X, Y, strict=True):
        weights = rng.normal(size=task.space_.n_weights)
        truth = (task.joint_feature(x, y) @ weights)[0]

        def violation(other: IntArray, x: Any = x, y: Any = y, weights: Any = weights, truth: Any = truth) -> float:  # noqa: ANN401
            return float(task.loss(y, other) * (1 - truth + (task.joint_feature(x, other) @ weights)[0]))

        found = violation(task.slack_augmented_argmax(x, y, weights))
        assert found == pytest.approx(max(violation(other) for other in all_labellings(4)))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_the_compiled_problem_is_that_of_the_four_methods(rescaling: str, storage: Any) -> None:  # noqa: ANN401
    X, Y = examples(2)
    task = Multilabel([(2, 0), (1, 3)]).for_data(X, Y)
    fast = task.problem(storage(X), Y, rescaling)
    slow = OneByOne(task, [storage(X)[[i]] for i in range(30)], list(Y), rescaling)
    assert (fast.n_examples, fast.n_weights) == (slow.n_examples, slow.n_weights)
    weights = np.random.default_rng(3).normal(size=fast.n_weights)
    for example in range(30):
        one, other = fast.cut(example, weights), slow.cut(example, weights)
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_allclose(one.values, other.values, atol=1e-12)
        assert one.offset == pytest.approx(other.offset)
    np.testing.assert_allclose(fast.plane(weights).slopes, slow.plane(weights).slopes, atol=1e-12)
    assert fast.plane(weights).offset == pytest.approx(slow.plane(weights).offset)
    together = task.argmax_of_all(storage(X), weights)
    np.testing.assert_array_equal(together, [task.argmax(x, weights) for x in storage(X)])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_steps_in_short_form_are_those_on_whole_vectors(rescaling: str, storage: Any) -> None:  # noqa: ANN401
    X, Y = examples(4)
    problem = Multilabel().for_data(X, Y).problem(storage(X), Y, rescaling)
    short, whole = problem.blocks(20.0), SparseBlocks(problem, 20.0)
    rng = np.random.default_rng(5)
    for _ in range(4):
        order = rng.permutation(30)
        assert short.go_over(order) == pytest.approx(whole.go_over(order))
        np.testing.assert_allclose(short.weights, whole.weights, atol=1e-10)
        assert short.offset == pytest.approx(whole.offset)
        np.testing.assert_allclose(short.average()[0], whole.average()[0], atol=1e-10)
        assert short.average()[1] == pytest.approx(whole.average()[1])
    assert 0 < short.n_bytes == 8 * 30 * (2 * (4 + 4 * 3) + 1)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_first_visits_in_short_form_are_those_on_whole_vectors(rescaling: str, storage: Any) -> None:  # noqa: ANN401
    X, Y = examples(4)
    problem = Multilabel().for_data(X, Y).problem(storage(X), Y, rescaling)
    short, whole = problem.working_sets(50.0), KeptCuts(problem, 50.0)
    order = np.random.default_rng(5).permutation(30)
    # only the first: moves leave heights equal, and then rounding decides which labelling the next one takes from
    np.testing.assert_allclose(short.go_over(order), whole.go_over(order), atol=1e-10)
    np.testing.assert_allclose(short.weights, whole.weights, atol=1e-10)
    assert short.offset == pytest.approx(whole.offset)
    assert short.n_bytes == 30 * (8 * 4 + 8 * 8 + 8)


def test_visits_raise_the_dual_and_find_more_room_when_they_need_it() -> None:
    X, Y = examples(9, n=40, n_labels=6)
    Y = np.random.default_rng(9).permutation(Y)  # nothing to be learned: many labellings violate
    problem = Multilabel().for_data(X, Y).problem(X, Y, "margin")
    sets, rng = problem.working_sets(50.0), np.random.default_rng(0)
    bytes_at_first, duals = sets.n_bytes, [0.0]
    for _ in range(80):
        gaps = sets.go_over(rng.permutation(40))
        duals.append(sets.offset - float(sets.weights @ sets.weights) / 2)
        assert (gaps > -1e-9).all()
    assert (np.diff(duals) > 0).all()
    assert sets.n_bytes > bytes_at_first
    primal = sets.weights @ sets.weights / 2 + 50 * problem.plane(sets.weights).height(sets.weights)
    assert duals[-1] <= primal < 1.15 * duals[-1]


def test_the_average_of_no_steps_is_the_start() -> None:
    X, Y = examples()
    weights, offset = Multilabel().for_data(X, Y).problem(X, Y, "margin").blocks(1.0).average()
    assert not weights.any()
    assert offset == 0


@pytest.mark.parametrize("solver", [FrankWolfe(), BlockDescent()])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_solvers_reach_the_objective_of_the_planes(rescaling: str, solver: FrankWolfe | BlockDescent) -> None:
    X, Y = examples(6, n=60)
    problem = Multilabel().for_data(X, Y).problem(X, Y, rescaling)
    found = solver.solve(problem, 10.0, tol=1e-3, rng=np.random.default_rng(0))
    planes = minimise_by_planes(problem.plane, problem.n_weights, 10.0, tol=1e-3)
    assert found.converged
    assert found.turns[-1].primal == pytest.approx(planes.value, rel=2e-3)
    assert found.turns[-1].dual <= planes.value
    assert planes.bound <= found.turns[-1].primal


def test_without_edges_it_is_one_linear_svm_for_each_label() -> None:
    X, Y = examples(7, n=80)
    task, C = Multilabel("none").for_data(X, Y), 8.0
    found = FrankWolfe().solve(task.problem(X, Y, "margin"), C, tol=1e-6, rng=np.random.default_rng(0))
    label_weights, _ = task.space_.parts(4 * found.weights)  # a label that is wrong costs 1 / 4 here, 1 there
    for label in range(4):
        svm = LinearSVC(C=4 * C / 80, loss="hinge", tol=1e-8, max_iter=1_000_000, random_state=0).fit(X, Y[:, label])
        np.testing.assert_allclose(label_weights[label], [*svm.coef_[0], svm.intercept_[0]], atol=2e-2)


def test_edges_say_what_a_row_alone_does_not() -> None:
    """The label in the middle is on where both others are off: no line finds it, its neighbours do."""
    rng = np.random.default_rng(8)
    X = rng.uniform(-3, 3, size=(300, 1))
    Y = np.column_stack([X < -1, np.abs(X) <= 1, X > 1]).astype(int)
    right = {}
    for name, pairs in {"chain": [(0, 1), (1, 2)], "none": []}.items():
        task = Multilabel(pairs).for_data(X, Y)
        found = FrankWolfe().solve(task.problem(X, Y, "margin"), 100.0, tol=0.05, rng=rng)
        right[name] = np.mean(task.argmax_of_all(X, found.weights) == Y)
    assert right["chain"] > 0.97
    assert right["none"] < 0.93


def test_bad_input_is_named() -> None:
    X, Y = examples()
    task = Multilabel().for_data(X, Y)
    weights = np.zeros(task.space_.n_weights)
    with pytest.raises(InputError, match=r"knows no columns and labels yet\. Use what its for_data"):
        Multilabel().argmax(X[0], weights)
    with pytest.raises(FeatureMismatch, match="X has 4 columns, this task was made for 5"):
        task.argmax_of_all(X[:, :4], weights)
    with pytest.raises(LabelError, match="Outputs have 3 labels, this task was made for 4"):
        task.problem(X, Y[:, :3], "margin")
    with pytest.raises(LabelError, match=r"Y holds .*2.* in row 3, label 1: a label is 1 \(on\) or 0"):
        Multilabel().for_data(X, np.where(np.arange(120).reshape(30, 4) == 13, 2, Y))
    with pytest.raises(LabelError, match=r"got shape \(30,\)"):
        Multilabel().for_data(X, Y[:, 0])
    with pytest.raises(InputError, match=r"X must be rows of finite numbers.*NaN"):
        Multilabel().for_data(np.where(X[2, 2] == X, np.nan, X), Y)
    with pytest.raises(InputError, match=r"X must be rows of finite numbers.*NaN"):
        task.argmax_of_all(np.where(X[2, 2] == X, np.nan, X), weights)
    with pytest.raises(InputError, match=r"X must be rows of finite numbers.*infinity"):
        task.argmax(np.where(np.arange(5) == 2, np.inf, X[0]), weights)
    with pytest.raises(UnknownName, match="No kind of edges called 'star'"):
        Multilabel("star").for_data(X, Y)
    with pytest.raises(UnknownName, match="No rescaling called 'both'"):
        task.problem(X, Y, "both")


@pytest.mark.parametrize("costs", [[1, 2, 3], [1, 2, 3, -1], [0, 0, 0, 0], [1, 2, 3, np.nan]])
def test_impossible_costs_are_refused(costs: list[float]) -> None:
    X, Y = examples()
    with pytest.raises(InputError, match="costs must be 4 numbers of 0 or more, not all 0"):
        Multilabel(costs=costs).for_data(X, Y)


def test_slack_rescaling_with_different_costs_is_refused() -> None:
    X, Y = examples()
    task = Multilabel(costs=[1, 2, 3, 4]).for_data(X, Y)
    with pytest.raises(InputError, match='With rescaling="slack" all labels must cost the same'):
        task.problem(X, Y, "slack")


def test_its_settings_are_seen() -> None:
    assert repr(Multilabel()) == "Multilabel('tree')"
    assert repr(Multilabel([(0, 1)], costs=[1, 2])) == "Multilabel([(0, 1)], costs=[1, 2])"
    assert "Multilabel('none')" in repr(StructuralSVM(Multilabel("none")))


@pytest.mark.parametrize("nothing", [[], np.empty((0, 5)), sparse.csr_matrix((0, 5))])
def test_no_rows_have_no_labels(nothing: Any) -> None:  # noqa: ANN401 - a matrix of any kind
    task = Multilabel().for_data(*examples())
    assert task.argmax_of_all(nothing, np.zeros(task.space_.n_weights)) == []
