"""No active ranker sees a label that its ledger did not record, and none is lost where asking fails."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from riffler import ArrayOracle, CallableOracle
from riffler.learners import ACTIVE_RANKERS
from riffler.learners.asking import Step
from riffler.ledger import Item
from tests.contracts.active_streams import N, batches, ranker, stream, walked

every_ranker = pytest.mark.parametrize("name", ACTIVE_RANKERS)


class Watched(np.ndarray[Any, Any]):
    """Labels that write down which of them were read, and refuse to be read in any other way than one by one."""

    read: list[int]

    def __getitem__(self, item: Any) -> Any:  # noqa: ANN401 - as NumPy has it
        if not isinstance(item, int):
            raise AssertionError(f"labels were read by {item!r}, not one by one")
        self.read.append(item)
        return self.view(np.ndarray)[item]

    def __iter__(self) -> Any:  # noqa: ANN401 - as NumPy has it
        raise AssertionError("all labels were read")

    def __array_ufunc__(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as NumPy has it
        raise AssertionError("labels were computed with")

    def __array_function__(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as NumPy has it
        raise AssertionError("labels were computed with")


class Broken(Exception):
    """The line to the oracle broke."""


@every_ranker
def test_the_labels_read_are_those_in_the_ledger(name: str) -> None:
    X, y = stream()
    labels = y.view(Watched)
    labels.read = []
    oracle = ArrayOracle(labels)
    steps = walked(ranker(name), X, oracle)
    items = [entry.item for entry in oracle.ledger]
    assert 0 < len(items) < N
    assert labels.read == items
    assert len(set(items)) == len(items) == oracle.n_asked == sum(step.n_asked for step in steps)


def test_the_watched_labels_do_watch() -> None:
    labels = np.zeros(3).view(Watched)
    labels.read = []
    for read in (lambda: labels[:2], lambda: list(labels), lambda: labels == 1, lambda: np.sum(labels)):
        with pytest.raises(AssertionError, match=r"labels were|all labels"):
            read()


def same_step(one: Step, two: Step) -> bool:
    return all(
        np.array_equal(getattr(one, field), getattr(two, field), equal_nan=field == "precision")
        for field in ("round", "predicted", "asked", "answers", "probability", "precision", "floor", "cut")
    )


@every_ranker
@pytest.mark.parametrize("every", [1, 2, 7, 30])
def test_a_step_that_fails_midway_changes_nothing_and_can_be_taken_again(name: str, every: int) -> None:
    """Every some questions the oracle fails, once for each; the end is that of an undisturbed walk."""
    X, y = stream()
    smooth, quiet = ranker(name), ArrayOracle(y)
    expected = walked(smooth, X, quiet)
    failed: set[Item] = set()

    def answer(item: Item) -> int:
        if len(failed) < 40 and oracle.n_asked // every >= len(failed) and item not in failed:
            failed.add(item)
            raise Broken
        return int(y[int(item)])

    oracle, shaken = CallableOracle(answer), ranker(name)
    for number, batch in enumerate(batches(X)):
        while True:
            before = pickle.dumps(shaken)
            try:
                step = shaken.step(batch, oracle)
                break
            except Broken:
                assert number == 0 or pickle.dumps(shaken) == before
        assert same_step(step, expected[number])
    assert len(failed) >= 3
    np.testing.assert_array_equal(shaken.decision_function(X), smooth.decision_function(X))
    assert oracle.n_asked == quiet.n_asked
    kept = [(entry.item, entry.round, entry.answer, entry.probability, entry.in_top) for entry in oracle.ledger]
    assert kept == [(entry.item, entry.round, entry.answer, entry.probability, entry.in_top) for entry in quiet.ledger]
    assert oracle.ledger.rounds == quiet.ledger.rounds


@every_ranker
def test_without_a_seed_too_the_same_batch_is_asked_the_same(name: str) -> None:
    X, y = stream()
    n_calls = 0

    def answer(item: Item) -> int:
        nonlocal n_calls
        n_calls += 1
        if n_calls in (4, 9):
            raise Broken
        return int(y[int(item)])

    oracle, learner = CallableOracle(answer), ranker(name, random_state=None)
    for _ in range(2):
        with pytest.raises(Broken):
            learner.step(X, oracle)
    step = learner.step(X, oracle)
    assert oracle.n_asked == step.n_asked
    assert n_calls == step.n_asked + 2


@every_ranker
@pytest.mark.parametrize("budget", [0, 1, 25, 60])
def test_the_budget_is_never_passed_and_every_batch_is_predicted(name: str, budget: int) -> None:
    X, y = stream()
    oracle = ArrayOracle(y, budget=budget)
    steps = walked(ranker(name), X, oracle)
    assert oracle.n_asked == sum(step.n_asked for step in steps) <= budget
    assert all(len(step.predicted) == 10 for step in steps)
    assert all(step.floor == 0.0 for step in steps if step.cut)
    if budget < 60:
        assert oracle.n_asked == budget
        assert steps[-1].cut


@every_ranker
def test_answers_that_are_known_already_cost_nothing(name: str) -> None:
    X, y = stream()
    oracle = ArrayOracle(y)
    first = walked(ranker(name), X, oracle)
    n_asked = oracle.n_asked
    oracle.n_offered = 0  # the same stream once more
    again = walked(ranker(name), X, oracle)
    assert oracle.n_asked == n_asked
    assert all(same_step(one, two) for one, two in zip(first, again, strict=True))
