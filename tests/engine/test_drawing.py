"""Hands that draw from one list take every stretch, and what two of them took counts once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.engine import LocalEngine, local
from riffler.engine.candidates import Candidates
from riffler.engine.drawing import DrawingList, drawing_order
from riffler.errors import EngineError
from riffler.records import IntArray
from tests.engine.partitions import cut, matrix

NONE: IntArray = np.empty(0, dtype=np.int64)


HALVES = [[range(5), range(10, 15)], [range(5, 10), range(15, 20)]]


@pytest.fixture
def drawing() -> Iterator[DrawingList]:
    one = DrawingList(20)
    yield one
    one.close()


@given(cuts=st.lists(st.integers(0, 50), max_size=9), n_hands=st.integers(1, 5))
def test_every_hand_would_take_all_and_begins_with_a_part_of_its_own(cuts: list[int], n_hands: int) -> None:
    ranges = [range(start, stop) for start, stop in pairwise([0, *sorted(cuts), 50])]
    parts = [ranges[number::n_hands] for number in range(n_hands)]
    orders = [list(chain.from_iterable(drawing_order(parts, number))) for number in range(n_hands)]
    for part, order in zip(parts, orders, strict=True):
        own = list(chain.from_iterable(part))
        assert order[: len(own)] == own
        assert sorted(order) == list(range(50))


@given(draws=st.lists(st.integers(0, 1), min_size=20, max_size=20))
def test_each_stretch_is_drawn_once_however_fast_the_hands_are(draws: list[int]) -> None:
    drawing = DrawingList(20)
    for _ in range(2):  # what was taken in one step is there again in the next
        hands = [hand(20) for hand in drawing.hands(HALVES)]
        drawn = [stretch for hand in draws for stretch in [next(hands[hand], None)] if stretch is not None]
        drawn += [stretch for hand in hands for stretch in hand]
        assert sorted(drawn) == list(range(20))
    drawing.close()


def test_a_hand_of_a_step_that_is_over_hides_nothing_from_the_next(drawing: DrawingList) -> None:
    (late,) = drawing.hands([[range(20)]])
    left = late(20)
    next(left)
    one, other = (hand(20) for hand in drawing.hands(HALVES))
    taken = [next(one) for _ in range(5)]
    assert set(taken) & set(left), "it goes on with what is taken now"
    assert set(taken) | set(one) | set(other) == set(range(20))


def test_arrays_are_written_once_for_all_and_forgotten(drawing: DrawingList) -> None:
    ties = np.random.default_rng(0).permutation(9)
    found = drawing.shared("ties 1", ties)
    np.testing.assert_array_equal(found.open(), ties)
    assert drawing.shared("ties 1", ties) == found
    mapped = found.open()
    drawing.forget("ties 1")
    np.testing.assert_array_equal(mapped, ties)
    assert drawing.shared("none", np.empty(0, dtype=np.int32)).open().shape == (0,)


def test_a_folder_that_was_tidied_up_is_made_anew(drawing: DrawingList) -> None:
    drawing.hands(HALVES)
    shutil.rmtree(drawing._scratch.folder)
    (hand,) = drawing.hands([[range(20)]])
    assert sorted(hand(20)) == list(range(20))
    drawing.close()
    assert not drawing._scratch.folder.exists()
    drawing.close()


def test_a_folder_that_cannot_be_written_to_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(EngineError, match=r"cannot be written to .*set TMPDIR"):
        DrawingList(20)


@given(data=st.data())
def test_the_best_of_all_hands_are_those_of_one(data: st.DataObject) -> None:
    X, rng = matrix("csr", 150), np.random.default_rng(1)
    w, ties = rng.integers(-1, 2, 7).astype(float), rng.permutation(150)  # many equal scores
    engine = LocalEngine(cut(X, [30, 30, 101]), threads=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "STRETCH", 7)
        numbers = range(int(local.stretch_ends(engine.starts)[-1]))
        some = data.draw(st.sets(st.sampled_from(numbers)))
        rest = set(numbers) - some | data.draw(st.sets(st.sampled_from(numbers)))  # some are taken twice
        turns: list[local.Turns] = [lambda n: sorted(some), lambda n: sorted(rest, reverse=True)]
        found = Candidates.together([engine.candidates(w, 40, NONE, 0.5, ties, turn) for turn in turns]).best(40)
    wanted = engine.best(w, 40, intercept=0.5, ties=ties)
    np.testing.assert_array_equal(found.rows, wanted.rows)
    np.testing.assert_array_equal(found.scores, wanted.scores)
