"""Hands that draw from one list take every stretch, and what two of them took counts once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.engine import LocalEngine, local
from riffler.engine.candidates import Candidates
from riffler.engine.drawing import DrawingList, drawing_order
from riffler.records import IntArray
from tests.engine.partitions import cut, matrix

NONE: IntArray = np.empty(0, dtype=np.int64)


@pytest.fixture
def drawing() -> Iterator[DrawingList]:
    one = DrawingList(20)
    yield one
    one.close()


@given(n=st.integers(0, 50), n_hands=st.integers(1, 7))
def test_every_hand_would_take_all_and_begins_with_a_part_of_its_own(n: int, n_hands: int) -> None:
    orders = [list(drawing_order(n, number, n_hands)) for number in range(n_hands)]
    assert all(sorted(order) == list(range(n)) for order in orders)
    if n >= n_hands:
        assert len({order[0] for order in orders}) == n_hands


@given(draws=st.lists(st.integers(0, 2), min_size=60, max_size=60))
def test_each_stretch_is_drawn_once_however_fast_the_hands_are(draws: list[int]) -> None:
    drawing = DrawingList(20)
    for _ in range(2):  # what was taken in one step is there again in the next
        hands = [hand(20) for hand in drawing.hands(3)]
        drawn = [stretch for hand in [*draws, 0, 1, 2] for stretch in [next(hands[hand], None)] if stretch is not None]
        drawn += [stretch for hand in hands for stretch in hand]
        assert sorted(drawn) == list(range(20))
    drawing.close()


def test_a_hand_of_a_step_that_is_over_hides_nothing_from_the_next(drawing: DrawingList) -> None:
    (late,) = drawing.hands(1)
    left = late(20)
    next(left)
    one, other = (hand(20) for hand in drawing.hands(2))
    taken = [next(one) for _ in range(5)]
    assert set(taken) & set(left), "it goes on with what is taken now"
    assert set(taken) | set(one) | set(other) == set(range(20))


def test_a_list_leaves_nothing_behind(drawing: DrawingList) -> None:
    assert drawing._path.exists()
    drawing.close()
    assert not drawing._path.parent.exists()


@pytest.mark.parametrize("overlap", [False, True])
def test_the_best_of_all_hands_are_those_of_one(overlap: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "STRETCH", 7)
    X, rng = matrix("csr", 150), np.random.default_rng(1)
    w, ties = rng.integers(-1, 2, 7).astype(float), rng.permutation(150)  # many equal scores
    engine = LocalEngine(cut(X, [30, 30, 101]), threads=2)
    n = int(local.stretch_ends(engine.starts)[-1])
    drawing = DrawingList(n)
    turns = [range, range] if overlap else drawing.hands(2)
    found = Candidates.together([engine.candidates(w, 40, NONE, 0.5, ties, turn) for turn in turns]).best(40)
    wanted = engine.best(w, 40, intercept=0.5, ties=ties)
    np.testing.assert_array_equal(found.rows, wanted.rows)
    np.testing.assert_array_equal(found.scores, wanted.scores)
    drawing.close()
