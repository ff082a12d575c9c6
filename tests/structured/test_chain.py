"""Chains: every oracle equals enumeration, the compiled problem equals the four methods, bad input is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from riffler.errors import FeatureMismatch, InputError, LabelError, UnknownName
from riffler.structured.block_descent import KeptCuts
from riffler.structured.chain import Chain
from riffler.structured.frank_wolfe import SparseBlocks
from riffler.structured.label_rules import Allowed
from riffler.structured.one_by_one import OneByOne
from riffler.structured.structural_svm import StructuralSVM
from tests.structured.chains import LENGTHS, all_outputs, made_up, score, violation

COSTS = np.array([[0.0, 2.0, 0.5], [1.0, 0.0, 1.5], [3.0, 0.25, 0.0]])
NEVER_TWICE = Allowed((0, 1, 2), np.array([True, True, False]), ~np.eye(3, dtype=bool), np.array([True, False, True]))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("costs", [None, COSTS])
def test_oracles_equal_enumeration(sparse: bool, costs: Any) -> None:  # noqa: ANN401
    X, Y = made_up(0, sparse=sparse)
    task = Chain(costs=costs).for_data(X, Y)
    rng = np.random.default_rng(1)
    for rescaling in ("margin", "slack") if costs is None else ("margin",):
        for weights in rng.normal(size=(5, 5 * 3 + 9)):
            for x, y in zip(X, Y, strict=True):
                outputs = all_outputs(task, len(y))
                best = max(score(task, x, other, weights) for other in outputs)
                assert score(task, x, task.argmax(x, weights), weights) == pytest.approx(best)
                worst = max(violation(task, x, y, other, weights, rescaling) for other in outputs)
                found = (
                    task.loss_augmented_argmax(x, y, weights)
                    if rescaling == "margin"
                    else task.slack_augmented_argmax(x, y, weights)
                )
                assert violation(task, x, y, found, weights, rescaling) == pytest.approx(worst, abs=1e-12)


def test_rules_of_what_may_follow_are_kept() -> None:
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(length, 4)) for length in LENGTHS]
    task = Chain(allowed=NEVER_TWICE, labels=(0, 1, 2), n_columns=4)
    for weights in rng.normal(size=(10, 4 * 3 + 9)):
        for x in X:
            found = task.argmax(x, weights)
            outputs = all_outputs(task, len(x))
            assert found in outputs
            assert score(task, x, found, weights) == pytest.approx(
                max(score(task, x, other, weights) for other in outputs)
            )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_the_compiled_problem_equals_the_four_methods(sparse: bool, rescaling: str) -> None:
    X, Y = made_up(3, sparse=sparse)
    task = Chain().for_data(X, Y)
    compiled, plain = task.problem(X, Y, rescaling), OneByOne(task, X, Y, rescaling)
    assert (compiled.n_examples, compiled.n_weights) == (plain.n_examples, plain.n_weights)
    for weights in np.random.default_rng(4).normal(size=(5, plain.n_weights)):
        fast, slow = compiled.plane(weights), plain.plane(weights)
        np.testing.assert_allclose(fast.slopes, slow.slopes, atol=1e-12)
        assert fast.offset == pytest.approx(slow.offset)
        for example in range(len(X)):
            one, other = compiled.cut(example, weights), plain.cut(example, weights)
            np.testing.assert_array_equal(one.indices, other.indices)
            np.testing.assert_allclose(one.values, other.values)
            assert one.offset == other.offset


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_compiled_steps_equal_those_over_cuts(sparse: bool, rescaling: str) -> None:
    X, Y = made_up(5, sparse=sparse)
    task = Chain().for_data(X, Y)
    blocks = task.problem(X, Y, rescaling).blocks(5.0)
    plain = SparseBlocks(OneByOne(task, X, Y, rescaling), 5.0)
    rng = np.random.default_rng(6)
    for _ in range(8):
        order = rng.permutation(len(X))
        assert blocks.go_over(order) == pytest.approx(plain.go_over(order))
        np.testing.assert_allclose(blocks.weights, plain.weights, atol=1e-12)
        np.testing.assert_allclose(blocks.average()[0], plain.average()[0], atol=1e-12)
        assert blocks.offset == pytest.approx(plain.offset)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_compiled_working_sets_equal_those_of_cuts(sparse: bool, rescaling: str) -> None:
    X, Y = made_up(5, sparse=sparse)
    task = Chain().for_data(X, Y)
    sets = task.problem(X, Y, rescaling).working_sets(5.0)
    plain = KeptCuts(OneByOne(task, X, Y, rescaling), 5.0)
    everyone = np.arange(len(X))
    np.testing.assert_allclose(sets.go_over(everyone), plain.go_over(everyone), atol=1e-9)
    np.testing.assert_allclose(sets.weights, plain.weights, atol=1e-9)
    # Moves make violations equal, and rounding decides between equals: from here on ways part, to the same optimum.
    for _ in range(200):
        sets.go_over(everyone)
        plain.go_over(everyone)
    dual, plain_dual = (one.offset - float(one.weights @ one.weights) / 2 for one in (sets, plain))
    assert dual == pytest.approx(plain_dual, rel=1e-4)


def test_working_sets_find_more_room_when_they_need_it() -> None:
    rng = np.random.default_rng(7)
    X = [rng.normal(size=(6, 3)) for _ in range(4)]
    Y = [rng.integers(4, size=6).tolist() for _ in range(4)]
    sets = Chain().for_data(X, Y).problem(X, Y, "margin").working_sets(1000.0)
    before, duals = sets.n_bytes, []
    for _ in range(60):
        sets.go_over(rng.permutation(4))
        duals.append(sets.offset - float(sets.weights @ sets.weights) / 2)
    assert sets.n_bytes > before
    assert (np.diff(duals) >= -1e-9).all()


def test_a_chain_learns_what_single_rows_do_not_tell() -> None:
    rng = np.random.default_rng(8)
    Y = [np.cumsum(rng.random(12) < 0.1).astype(int) % 3 for _ in range(60)]  # labels stay for a while
    X = [np.eye(3)[np.where(rng.random(12) < 0.35, rng.integers(3, size=12), y)] for y in Y]
    chain = StructuralSVM(Chain(), C=20, random_state=0).fit(X[:40], Y[:40])
    alone = float(np.mean([(x.argmax(axis=1) == y).mean() for x, y in zip(X[40:], Y[40:], strict=True)]))
    assert chain.score(X[40:], Y[40:]) > alone + 0.05


def test_sequences_of_length_zero_and_one_are_labelled() -> None:
    X, Y = made_up(9, sparse=False)
    model = StructuralSVM(Chain(), random_state=0).fit(X, Y)
    assert [len(one) for one in model.predict(X)] == list(LENGTHS)
    assert model.predict([np.empty((0, 5)), csr_matrix((1, 5))])[0] == []
    assert model.predict([]) == []
    assert model.predict([np.empty((0, 5))]) == [[]]


def test_labels_are_given_back_as_they_came() -> None:
    X = [np.eye(2), np.eye(2)[::-1]]
    model = StructuralSVM(Chain(), C=10, random_state=0).fit(X, [["B-NP", "O"], ["O", "B-NP"]])
    assert model.predict(X) == [["B-NP", "O"], ["O", "B-NP"]]


def test_a_label_unknown_in_training_counts_as_wrong() -> None:
    X = [np.eye(2)]
    model = StructuralSVM(Chain(), random_state=0).fit(X, [["a", "b"]])
    assert model.score(X, [["a", "new"]]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("X", "Y", "error", "message"),
    [
        ([np.eye(2)], [["a"]], InputError, "Sequence 0 has 2 rows and 1 labels"),
        ([np.eye(2), np.ones((1, 3))], [["a", "b"], ["a"]], InputError, r"Sequences have \[2, 3\] columns"),
        ([np.eye(2), np.array([[1.0, np.nan]])], [["a", "b"], ["a"]], InputError, "Sequence 1 has a value that is not"),
        ([np.ones(3)], [["a"]], InputError, r"Sequence 0 has shape \(3,\)"),
        ([np.empty((0, 2))], [[]], LabelError, "no label in Y"),
        ([], [], InputError, "no examples"),
        ([np.eye(2)], [["a", "b"], ["a"]], InputError, "X has 1 inputs, Y has 2 outputs"),
    ],
)
def test_bad_sequences_are_named(X: Any, Y: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        StructuralSVM(Chain()).fit(X, Y)


def test_a_truth_that_may_not_be_said_is_named() -> None:
    with pytest.raises(LabelError, match="Sequence 1 has a label at position 2 that may not stand there"):
        StructuralSVM(Chain(allowed=NEVER_TWICE)).fit([np.ones((2, 1)), np.ones((3, 1))], [[1, 2], [0, 2, 2]])
    with pytest.raises(LabelError, match="Sequence 0 has a label at position 1 that may not stand there"):
        StructuralSVM(Chain(allowed=NEVER_TWICE)).fit([np.ones((2, 1))], [[0, 1]])


def test_settings_of_a_chain_are_checked() -> None:
    X, Y = made_up(10, sparse=False)
    with pytest.raises(LabelError, match="the label 2, which is not among the 2 known ones"):
        StructuralSVM(Chain(labels=(0, 1))).fit(X, Y)
    with pytest.raises(InputError, match=r"costs has shape \(2, 2\), there are 3 labels"):
        StructuralSVM(Chain(costs=np.zeros((2, 2)))).fit(X, Y)
    with pytest.raises(InputError, match="0 on the diagonal"):
        StructuralSVM(Chain(costs=np.ones((3, 3)))).fit(X, Y)
    with pytest.raises(InputError, match="Slack rescaling of chains needs costs of 1"):
        StructuralSVM(Chain(costs=COSTS), rescaling="slack").fit(X, Y)
    with pytest.raises(UnknownName, match="do not know the label 2"):
        StructuralSVM(Chain(allowed=Allowed((0, 1), np.ones(2, bool), np.ones((2, 2), bool)))).fit(X, Y)
    with pytest.raises(FeatureMismatch, match="7 columns, those learned from 5"):
        StructuralSVM(Chain(), random_state=0).fit(X, Y).predict([np.ones((2, 7))])
