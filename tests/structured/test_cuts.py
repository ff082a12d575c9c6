"""Cuts in rows say what each cut says alone; a cache of them gives planes below the risk, without a question."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.records import FloatArray, IntArray
from riffler.structured.cuts import NO_CUTS, Cuts, ManyCuts, cuts_of, joined
from riffler.structured.one_by_one import OneByOne
from riffler.structured.one_slack import CutCache
from tests.structured.tasks import class_problem

PROBLEM = class_problem(n=12)
RNG = np.random.default_rng(0)
WEIGHTS = [RNG.normal(size=PROBLEM.n_weights) for _ in range(4)]


def test_rows_of_cuts_are_the_cuts() -> None:
    examples = np.array([3, 0, 7])
    rows = cuts_of(PROBLEM, examples, WEIGHTS[0])
    alone = [PROBLEM.cut(int(example), WEIGHTS[0]) for example in examples]
    np.testing.assert_allclose(rows.heights(WEIGHTS[1]), [cut.height(WEIGHTS[1]) for cut in alone])
    total = np.zeros(PROBLEM.n_weights)
    for cut, share in zip(alone, (0.5, 2.0, 0.0), strict=True):
        cut.add_to(total, share)
    plane = rows.sum(np.array([0.5, 2.0, 0.0]), PROBLEM.n_weights)
    np.testing.assert_allclose(plane.slopes, total)
    assert plane.offset == pytest.approx(0.5 * alone[0].offset + 2 * alone[1].offset)


def test_chosen_and_joined_rows_keep_their_entries() -> None:
    rows = cuts_of(PROBLEM, np.arange(12), WEIGHTS[0])
    places = np.array([5, 2, 2, 11])
    heights = rows.heights(WEIGHTS[2])
    np.testing.assert_allclose(rows.chosen(places).heights(WEIGHTS[2]), heights[places])
    both = joined(joined(NO_CUTS, rows.chosen(places)), rows)
    assert len(both) == 16
    np.testing.assert_allclose(both.heights(WEIGHTS[2]), np.concatenate([heights[places], heights]))
    assert len(rows.chosen(np.array([], dtype=np.int64))) == 0


def test_a_problem_that_gives_many_cuts_is_asked_once() -> None:
    class Many(OneByOne):
        n_asked = 0

        def cuts(self, examples: IntArray, weights: FloatArray) -> Cuts:
            self.n_asked += 1
            return NO_CUTS

    many = Many.__new__(Many)
    assert isinstance(many, ManyCuts)
    assert cuts_of(many, np.arange(5), WEIGHTS[0]) is NO_CUTS
    assert many.n_asked == 1


def test_a_remembered_plane_is_the_highest_of_the_last_cuts_of_each_example() -> None:
    cache = CutCache(PROBLEM, depth=2)
    for weights in WEIGHTS[:3]:
        asked = cache.ask(weights)
        assert asked.height(weights) == pytest.approx(PROBLEM.plane(weights).height(weights))
    remembered = cache.remembered(WEIGHTS[3]).height(WEIGHTS[3])
    last = [cuts_of(PROBLEM, np.arange(12), weights).heights(WEIGHTS[3]) for weights in WEIGHTS[1:3]]
    assert remembered == pytest.approx(np.maximum(np.max(last, axis=0), 0).mean())
    assert remembered <= PROBLEM.plane(WEIGHTS[3]).height(WEIGHTS[3])
