"""A batch on its way: names, keys, tops and what a round leaves in the ledger."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler import ArrayOracle, InputError
from riffler.learners.asking import OpenBatch, draw_keys, named_items, top_rows


def open_batch(oracle: ArrayOracle) -> OpenBatch:
    scores = np.array([0.5, 3.0, 2.0, 1.0])
    return OpenBatch(np.zeros((4, 1)), range(4), oracle, 6, scores, np.array([1, 2]), np.zeros(4))


def test_what_a_round_leaves() -> None:
    oracle = ArrayOracle([0, 1, -1, 1])
    batch = open_batch(oracle)
    assert batch.ask(np.array([1, 2]), 1.0, "top").tolist() == [1, -1]
    assert batch.ask(np.array([3]), np.array([0.25]), "sample").tolist() == [1]
    assert batch.not_asked().tolist() == [0]
    step = batch.close(0.25)
    assert (step.asked.tolist(), step.answers.tolist(), step.probability.tolist()) == (
        [1, 2, 3],
        [1, -1, 1],
        [1, 1, 0.25],
    )
    assert (step.precision, step.floor, step.cut, step.n_asked) == (1.0, 0.25, False, 3)
    assert [(entry.origin, entry.in_top, entry.round) for entry in oracle.ledger] == [
        ("top", True, 6), ("top", True, 6), ("sample", False, 6)
    ]  # fmt: skip
    assert oracle.n_offered == 4
    [done] = oracle.ledger.rounds
    assert (done.number, done.n_rows, done.n_top, done.floor) == (6, 4, 2, 0.25)


def test_where_the_budget_ends_the_first_rows_are_answered_and_no_floor_is_claimed() -> None:
    oracle = ArrayOracle([0, 1, 0, 1], budget=1)
    batch = open_batch(oracle)
    assert batch.ask(np.array([2, 1]), 1.0, "top").tolist() == [0]
    assert batch.ask(np.array([0]), 0.5, "sample").size == 0
    step = batch.close(0.5)
    assert step.asked.tolist() == [2]
    assert step.cut
    assert step.floor == 0.0


def test_nothing_asked_is_no_precision() -> None:
    step = open_batch(ArrayOracle([0, 1, 0, 1])).close(0.0)
    assert np.isnan(step.precision)
    assert (step.asked.dtype.kind, step.answers.dtype.kind, step.n_asked) == ("i", "i", 0)


def test_names() -> None:
    oracle = ArrayOracle([0, 1])
    oracle.n_offered = 10
    assert list(named_items(None, 3, oracle)) == [10, 11, 12]
    named = named_items(np.array([5, 7]), 2, oracle)  # type: ignore[arg-type]
    assert [type(name) for name in named] == [int, int]
    with pytest.raises(InputError, match="got 2 names for 3 rows"):
        named_items(["a", "b"], 3, oracle)
    with pytest.raises(InputError, match="names a row twice"):
        named_items(["a", "b", "a"], 3, oracle)


def test_keys_of_numbers_are_the_numbers_and_of_texts_their_hash() -> None:
    assert draw_keys(range(3, 6)).tolist() == draw_keys([3, 4, 5]).tolist() == [3, 4, 5]
    keys = draw_keys(["a", "b", 7])
    assert len(set(keys.tolist())) == 3
    assert draw_keys(["b"]).tolist() == keys[1:2].tolist()
    assert draw_keys([2**64, 2**64 + 1]).tolist() == draw_keys([str(2**64), str(2**64 + 1)]).tolist()


@given(scores=st.lists(st.integers(-3, 3), min_size=1, max_size=30), data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_the_top_is_the_head_of_a_full_sort(scores: list[int], data: st.DataObject, seed: int) -> None:
    n_top = data.draw(st.integers(1, len(scores)))
    draws = np.random.default_rng(seed).random(len(scores))
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], draws[i]))[:n_top]
    assert top_rows(np.array(scores, dtype=float), n_top, draws).tolist() == expected
