"""Two-stage scoring: candidates of the last full scoring are ranked by what is known now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.engine import Best, LocalEngine, rows_on_disk
from riffler.errors import InputError
from riffler.features.clusters import soft_clusters
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search import SearchView, policy_from
from riffler.search.loop import ActiveSearch
from riffler.search.ranking import Scores
from riffler.search.rescoring import CandidateScores, Rescoring, Stage
from tests.search.on_disk import answers_of, labelled_documents, made_collection, walk
from tests.search.views import random_view

NONE = np.empty(0, dtype=np.int64)


def by_score(view: SearchView, only: BoolArray | None = None) -> IntArray:
    """All items of a view, or some, in falling order of their scores."""
    assert view.ties is not None
    order = np.lexsort((view.ties, -view.scores))
    return order if only is None else order[only[order]]


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


def test_those_nearest_to_the_border_then_are_compared_by_the_scores_of_now() -> None:
    then, now = Scores(np.array([5.0, -1.0, 0.5, 2.0, -9.0])), Scores(np.array([0.0, 3.0, -2.0, 1.0, 0.1]))
    two_stage = CandidateScores(now, Stage(then, NONE, candidates=3))
    nothing = np.zeros(5, dtype=bool)
    assert two_stage.nearest(2, nothing, None).tolist() == [3, 2]
    assert two_stage.nearest(4, nothing, None).tolist() == [0, 4, 3, 2]  # too few: all are looked at


def test_a_pool_has_the_candidates_that_are_left_or_everything() -> None:
    view = random_view(n_items=60, n_answered=12)
    whole = view.pool(5)
    assert whole.items is None
    assert whole.scores is view.scores
    stage = Stage(view.ranking, view.items[:6], candidates=20)
    later = replace(view, ranking=CandidateScores(view.ranking, stage))
    then = [row for row in by_score(view) if row not in view.items[:6]][:20]
    left = sorted(row for row in then if not view.reviewed[row])
    pool = later.pool(len(left))
    assert pool.items is not None
    assert pool.items.tolist() == left
    assert pool.scores.tolist() == view.scores[left].tolist()
    assert pool.ties is not None
    assert view.ties is not None
    assert pool.ties.tolist() == view.ties[left].tolist()
    assert later.pool(len(left) + 1).items is None


@pytest.mark.parametrize("policy", ["mmr", "thompson"])
def test_policies_that_compare_choose_among_candidates_as_if_there_were_no_others(policy: str) -> None:
    view = random_view(n_items=60, n_answered=12)
    later = replace(view, ranking=CandidateScores(view.ranking, Stage(view.ranking, view.items, candidates=20)))
    candidates = np.sort(by_score(view, only=~view.reviewed)[:20])
    barred = replace(view, reviewed=~np.isin(np.arange(60), candidates), rng=np.random.default_rng([0, 5]))
    found = policy_from(policy).propose(later, 8)
    if policy == "thompson":  # what is presumed irrelevant comes from all that are not reviewed
        assert set(found.tolist()) <= set(candidates.tolist())
    else:
        assert found.tolist() == policy_from(policy).propose(barred, 8).tolist()


@pytest.mark.parametrize("policy", ["default", "uncertainty", "mmr", "thompson"])
def test_every_turn_with_all_candidates_is_exact(policy: str) -> None:
    frame = labelled_documents(300)
    from riffler import collection_from_frame

    collection, answers = collection_from_frame(frame), answers_of(frame)
    features = ActiveSearch(collection).features
    assert features is not None
    clusters = soft_clusters(features.rows, "kmeans", 5) if policy == "thompson" else None

    def asked(rescoring: Rescoring) -> list[list[str]]:
        search = ActiveSearch(
            collection, policy=policy, features=features, stopping="control", clusters=clusters, rescoring=rescoring
        )
        return walk(search, answers, n=5)

    exact = asked(Rescoring())
    for rescoring in (Rescoring(every=1, candidates=1), Rescoring(every=4, candidates=300)):
        assert asked(rescoring) == exact
    assert asked(Rescoring(4, 20)) != exact


class CountingEngine(LocalEngine):
    """Counts how often it goes over all rows."""

    n_passes = 0

    def scores(self, weights: FloatArray, intercept: float = 0.0) -> FloatArray:
        self.n_passes += 1
        return super().scores(weights, intercept)

    def best(self, *asked: Any, **named: Any) -> Best:  # noqa: ANN401 - as the engine's own
        self.n_passes += 1
        return super().best(*asked, **named)


@pytest.mark.parametrize("policy", ["default", "greedy", "mix", "uncertainty", "mmr", "thompson"])
def test_between_two_full_scorings_nothing_goes_over_all_rows(policy: str, tmp_path: Path) -> None:
    frame = labelled_documents(600, n_relevant=60)
    collection, answers = made_collection(frame, tmp_path / "made", n_items=150, n_clusters=5), answers_of(frame)
    known = [name for name, answer in answers.items() if answer][:3]
    for rescoring, n_passes in ((Rescoring(every=20, candidates=200), 1), (Rescoring(), 10)):
        engine = CountingEngine(rows_on_disk(collection))
        search = ActiveSearch(collection, policy=policy, relevant=known, engine=engine, rescoring=rescoring)
        walk(search, answers, n_batches=10, n=5)
        assert engine.n_passes == n_passes


@pytest.mark.parametrize("policy", ["default", "greedy", "uncertainty"])
def test_who_looks_ahead_pays_no_second_pass(policy: str, tmp_path: Path) -> None:
    frame = labelled_documents(600, n_relevant=60)
    collection, answers = made_collection(frame, tmp_path / "made", n_items=150), answers_of(frame)
    known = [name for name, answer in answers.items() if answer][:3]
    engine = CountingEngine(rows_on_disk(collection))
    search = ActiveSearch(collection, policy=policy, relevant=known, engine=engine)
    for turn in range(1, 4):
        asked, ahead = search.suggest(10), search.look_ahead(60)
        assert ahead[:10] == asked
        assert engine.n_passes == turn
        search.answer(asked, [answers[name] for name in asked])


@pytest.mark.parametrize("numbers", [(0, 10), (3, 0)])
def test_numbers_below_one_are_refused(numbers: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        Rescoring(*numbers)
