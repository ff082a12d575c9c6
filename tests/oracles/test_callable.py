"""Labels from a function: called once an item, failing without loss, voting where it is noisy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest

from riffler import AnswerError, CallableOracle, InputError
from riffler.ledger import UNKNOWN, Item


def test_a_function_that_fails_midway_keeps_the_answers_that_came() -> None:
    asked: list[Item] = []

    def answer(item: Item) -> int:
        if item == 3 and asked.count(3) == 0:
            asked.append(item)
            raise ConnectionError("the line broke")
        asked.append(item)
        return int(item) % 2

    oracle = CallableOracle(answer)
    with pytest.raises(ConnectionError):
        oracle.ask([1, 2, 3, 4])
    assert [entry.item for entry in oracle.ledger] == [1, 2]
    assert oracle.ask([1, 2, 3, 4]).tolist() == [1, 0, 1, 0]
    assert asked == [1, 2, 3, 3, 4]
    assert len(oracle.ledger) == oracle.n_asked == 4


@pytest.mark.parametrize("strange", [2, -2, 0.5, "maybe", [1], object()])
def test_an_answer_that_is_none(strange: object) -> None:
    oracle = CallableOracle(lambda item: strange)
    with pytest.raises(AnswerError, match="The answer about item 'a' is"):
        oracle.ask(["a"])
    assert oracle.n_asked == 0


def test_the_majority_of_votes_counts_and_each_vote_costs() -> None:
    votes: dict[str, Iterator[int | None]] = {"a": cycle([1, 0, 1]), "b": cycle([0, None, 0]), "c": cycle([1, None, 0])}
    oracle = CallableOracle(lambda item: next(votes[str(item)]), votes=3, cost=2.0, budget=12)
    assert oracle.n_affordable(["a", "b", "c"]) == 2
    assert oracle.ask(["a", "b"]).tolist() == [1, 0]
    assert oracle.n_asked == 6
    assert oracle.remaining == 0
    free = CallableOracle(lambda item: next(votes[str(item)]), votes=3)
    assert free.ask(["c"]).tolist() == [UNKNOWN]


def test_votes_that_were_cast_before_a_failure_are_not_asked_for_again() -> None:
    n_calls = 0

    def fails_once(item: Item) -> int:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 5:
            raise ConnectionError("gone")
        return 1

    oracle = CallableOracle(fails_once, votes=3, budget=6)
    with pytest.raises(ConnectionError, match="gone"):
        oracle.ask(["a", "b"])
    assert oracle.ask(["a", "b"]).tolist() == [1, 1]
    assert n_calls == oracle.n_asked + 1 == 7


@pytest.mark.parametrize(("f", "votes", "said"), [(3, 1, "f must be a function"), (abs, 0, "votes must be a whole")])
def test_settings_that_make_no_sense(f: Any, votes: int, said: str) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(InputError, match=said):
        CallableOracle(f, votes=votes)
