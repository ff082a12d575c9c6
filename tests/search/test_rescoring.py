"""Two-stage scoring: candidates of the last full scoring are ranked by what is known now."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.errors import InputError
from riffler.search.loop import ActiveSearch
from riffler.search.ranking import Scores
from riffler.search.rescoring import CandidateScores, Rescoring, Stage
from tests.search.on_disk import answers_of, labelled_documents, walk

NONE = np.empty(0, dtype=np.int64)


def test_the_best_of_then_are_ranked_by_the_scores_of_now() -> None:
    then, now = Scores(np.array([5.0, 4.0, 3.0, 2.0, 9.0])), Scores(np.array([1.0, 3.0, 9.0, 9.0, 9.0]))
    two_stage = CandidateScores(now, Stage(then, np.array([4]), candidates=3))
    nothing = np.zeros(5, dtype=bool)
    assert two_stage.best(2, nothing, None).tolist() == [2, 1]
    assert two_stage.best(2, np.array([False, True, False, False, False]), None).tolist() == [2, 0]
    assert two_stage.all() is now.values
    assert two_stage.of(np.array([3])).tolist() == [9.0]


def test_where_candidates_run_out_all_are_looked_at() -> None:
    then, now = Scores(np.array([5.0, 4.0, 3.0, 2.0])), Scores(np.array([1.0, 3.0, 2.0, 9.0]))
    two_stage = CandidateScores(now, Stage(then, NONE, candidates=2))
    assert two_stage.best(3, np.zeros(4, dtype=bool), None).tolist() == [3, 1, 2]
    assert two_stage.best(2, np.array([True, False, False, False]), None).tolist() == [3, 1]


def test_equal_scores_are_told_apart_by_ties() -> None:
    two_stage = CandidateScores(Scores(np.zeros(4)), Stage(Scores(np.zeros(4)), NONE, candidates=3))
    ties = np.array([2, 3, 0, 1])
    assert two_stage.best(3, np.zeros(4, dtype=bool), ties).tolist() == [2, 3, 0]


def test_every_turn_with_all_candidates_is_exact() -> None:
    frame = labelled_documents(300)
    from riffler import collection_from_frame

    collection, answers = collection_from_frame(frame), answers_of(frame)
    exact = walk(ActiveSearch(collection, stopping="control"), answers, n=5)
    for rescoring in (Rescoring(every=1, candidates=1), Rescoring(every=4, candidates=300)):
        assert walk(ActiveSearch(collection, stopping="control", rescoring=rescoring), answers, n=5) == exact
    few = walk(ActiveSearch(collection, stopping="control", rescoring=Rescoring(4, 20)), answers, n=5)
    assert few != exact


@pytest.mark.parametrize("numbers", [(0, 10), (3, 0)])
def test_numbers_below_one_are_refused(numbers: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        Rescoring(*numbers)
