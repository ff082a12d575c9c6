"""Labels from an array: read only when asked for, paid for once, never beyond the budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from riffler import AnswerError, ArrayOracle, BudgetExhausted, InputError, LabelError
from riffler.ledger import UNKNOWN


def test_an_item_is_asked_once_and_paid_once() -> None:
    oracle = ArrayOracle([0, 1, 1, 0], budget=3)
    assert oracle.ask([1, 0, 1]).tolist() == [1, 0, 1]
    assert oracle.ask([0, 1], round=1).tolist() == [0, 1]
    assert oracle.n_asked == 2
    assert oracle.remaining == 1
    assert [(entry.item, entry.round, entry.origin, entry.cost) for entry in oracle.ledger] == [
        (1, 0, "asked", 1.0),
        (0, 0, "asked", 1.0),
        (0, 1, "known", 0.0),
        (1, 1, "known", 0.0),
    ]


def test_the_ledger_has_plain_items_whatever_array_they_came_from(tmp_path: Any) -> None:  # noqa: ANN401 - a path
    oracle = ArrayOracle([0, 1, 1])
    oracle.ask(np.array([2, 0]))  # type: ignore[arg-type]
    assert [type(entry.item) for entry in oracle.ledger] == [int, int]
    oracle.ledger.save(tmp_path / "ledger.jsonl")


def test_beyond_the_budget_nothing_is_asked() -> None:
    oracle = ArrayOracle(np.zeros(10), budget=3)
    with pytest.raises(BudgetExhausted, match="4 labels were asked for, and the 3 left of the budget of 3 pay for 3"):
        oracle.ask([0, 1, 2, 3])
    assert oracle.n_asked == 0
    assert oracle.n_affordable([0, 1, 2, 3]) == 3
    oracle.ask([0, 1, 2])
    assert oracle.remaining == 0
    assert oracle.n_affordable([2, 1, 3, 0]) == 2  # known answers cost nothing, but the third is new
    assert oracle.ask([0, 2]).tolist() == [0, 0]


def test_each_item_has_its_price() -> None:
    oracle = ArrayOracle(np.zeros(5), cost=lambda item: float(item), budget=6)
    assert oracle.n_affordable([1, 2, 3, 4]) == 3
    assert oracle.n_affordable([1, 1, 1, 2, 3, 3, 4]) == 6  # one named twice is paid once
    oracle.ask([1, 2, 3])
    assert oracle.ledger.cost == 6
    assert oracle.n_affordable([0, 4]) == 1  # item 0 is free


def test_ten_labels_of_a_tenth_cost_one() -> None:
    oracle = ArrayOracle(np.zeros(20), cost=0.1, budget=1)
    for item in range(10):
        assert oracle.n_affordable([item]) == 1
        oracle.ask([item])
    assert oracle.n_affordable([10]) == 0


def test_unknown_answers() -> None:
    oracle = ArrayOracle([np.nan, -1.0, 1.0])
    assert oracle.ask([0, 1, 2]).tolist() == [UNKNOWN, UNKNOWN, 1]
    assert oracle.ask([0]).tolist() == [UNKNOWN]  # a refusal is an answer: it is not asked again
    assert oracle.n_asked == 3


@pytest.mark.parametrize("words", [["no", "yes"], [False, True], [0.0, 1.0], np.array(["n", "Y "])])
def test_labels_in_words(words: Any) -> None:  # noqa: ANN401 - labels of any kind
    assert ArrayOracle(words).ask([0, 1]).tolist() == [0, 1]


def test_an_answer_that_is_none_names_its_item_and_keeps_what_came() -> None:
    oracle = ArrayOracle([1, 0, 7, 1])
    with pytest.raises(AnswerError, match=r"The answer about item 2 is 7: expected 1 or yes"):
        oracle.ask([0, 1, 2, 3])
    assert [entry.item for entry in oracle.ledger] == [0, 1]
    assert oracle.n_asked == 2


@pytest.mark.parametrize("item", [4, -1, "a", 1.5])
def test_an_item_that_is_not_there(item: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(InputError, match="y has 4 labels, numbered from 0"):
        ArrayOracle([0, 1, 0, 1]).ask([item])


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"budget": -1}, "budget must be at least 0 or None, got -1"),
        ({"budget": float("nan")}, "budget must be at least 0"),
        ({"cost": -0.5}, r"cost must be a finite number of at least 0.*got -0\.5"),
        ({"cost": float("inf")}, "cost must be a finite number"),
    ],
)
def test_settings_that_make_no_sense(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ArrayOracle([0, 1], **params)


def test_a_table_is_no_list_of_labels() -> None:
    with pytest.raises(LabelError, match=r"one label per item; got shape \(2, 2\)"):
        ArrayOracle(np.eye(2))


def test_a_price_that_makes_no_sense_asks_nothing() -> None:
    oracle = ArrayOracle([0, 1], cost=lambda item: -1.0)
    with pytest.raises(InputError, match=r"The cost of item 1 must be a finite number of at least 0, got -1\.0"):
        oracle.ask([1])
    assert oracle.n_asked == 0


def test_labels_of_plus_and_minus_one_are_wondered_at_once() -> None:
    oracle = ArrayOracle(np.tile([1, -1], 100))
    with pytest.warns(UserWarning, match=r"pass ArrayOracle\(\(y > 0\)") as caught:
        oracle.ask(list(range(200)))
    assert len(caught) == 1
    with_zeros = ArrayOracle(np.tile([1, -1, 0], 100))
    assert (with_zeros.ask(list(range(300))) == -1).sum() == 100  # no warning: -1 is "don't know" here
