"""A small run on made-up words and queries: page, charts and numbers are whole, and it goes on from its folder."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.reproduction import reproduce, structured_letters, structured_ranking, structured_solvers
from riffler.reproduction.structured import StructuredAgain
from riffler.reproduction.structured_claims import by_query, verdicts
from riffler.reproduction.structured_data import LETTERS, chunked, letters, made_up_words, with_ends
from riffler.reproduction.structured_errata import errata, sorting
from riffler.reproduction.structured_ranking import OURS, PAIRS, TREES, Graded, made_up_folds
from riffler.reproduction.structured_solvers import AS_PUBLISHED, SOLVERS, chosen_c, solved
from riffler.structured.convergence import Turn

FILES = (structured_solvers.FILE, structured_letters.FILE, structured_ranking.FILE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def done(folder: Path) -> StructuredAgain:
    found = reproduce("structured", "quick", folder=folder)
    assert isinstance(found, StructuredAgain)
    return found


def test_the_page_shows_every_chart_and_verdict(done: StructuredAgain) -> None:
    page, charts = done.page(), done.charts()
    assert set(re.findall(r"!\[[^]]+\]\(structured-([^)]+)\.svg\)", page)) == set(charts)
    for chart in charts.values():
        chart.to_dict()
    assert all(f"**{one.verdict}** | {one.evidence}" in page for one in [*done.verdicts, *done.errata])
    assert len(done.summary()) == 8


def test_the_numbers_are_plain_json_and_are_kept(done: StructuredAgain, folder: Path) -> None:
    found = json.loads(json.dumps(done.as_json(), allow_nan=False))
    assert {one["solver"] for one in found["solved"]} == set(SOLVERS)
    kept = [(folder / name).read_bytes() for name in FILES]
    again = reproduce("structured", "quick", folder=folder)
    assert [(folder / name).read_bytes() for name in FILES] == kept
    assert isinstance(again, StructuredAgain)
    assert (again.solved, again.read, again.ranked) == (done.solved, done.read, done.ranked)


def test_solvers_reach_the_same_objective(done: StructuredAgain) -> None:
    by_name = {verdict.name: verdict for verdict in done.verdicts}
    assert by_name["same objective"].verdict == "agrees"
    finest = [one.last for one in done.solved if one.tol == done.plan.tols[-1] and one.fold == 1]
    assert len(finest) == len(SOLVERS)
    assert max(turn.dual for turn in finest) <= min(turn.primal for turn in finest)
    for one in done.solved:
        duals = [turn.dual for turn in one.turns]
        assert duals == sorted(duals)


def test_a_bound_above_an_objective_is_noticed(done: StructuredAgain) -> None:
    first = done.solved[0]
    wrong = replace(first, turns=(Turn(1, 0.1, 2 * first.last.primal, 1.5 * first.last.primal),))
    found = verdicts(replace(done, solved=[wrong, *done.solved[1:]]))
    assert found[0].verdict == "in part"


def test_a_call_more_or_less_turns_the_verdict(done: StructuredAgain) -> None:
    def judged(calls: int) -> str:
        runs = [
            replace(one, turns=(replace(one.last, oracle_calls=calls if one.solver == "frank-wolfe" else 1000),))
            for one in done.solved
        ]
        return next(one.verdict for one in verdicts(replace(done, solved=runs)) if one.name == "fewer calls")

    assert (judged(999), judged(1001)) == ("agrees", "disagrees")


def test_without_lightgbm_the_others_stand(done: StructuredAgain, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "lightgbm" else found(name))
    assert [method.name for method in structured_ranking.methods()][-1] == PAIRS
    without = replace(done, ranked=[one for one in done.ranked if one.method != TREES])
    assert "LightGBM is not installed" in without.page()
    assert "; LightGBM is not installed" in next(one.evidence for one in without.verdicts if one.name == "test NDCG")


def test_the_slides_are_judged() -> None:
    assert sorting().verdict == "agrees"
    assert {one.name: one.verdict for one in errata()} == {
        "E11": "in part",
        "E12": "disagrees",
        "E13": "agrees",
        "E14": "disagrees",
    }


def test_folds_of_words_do_not_overlap() -> None:
    problems = made_up_words(n_words=30)
    for problem in problems:
        assert len(problem.train.Y) + len(problem.test.Y) == 30
        assert sum(map(len, problem.train.Y)) == problem.train.X.rows.shape[0]
    rows = np.concatenate([problem.train.X.rows for problem in problems])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_ends_of_words_are_columns() -> None:
    problem = made_up_words(n_words=6)[0]
    wider = with_ends(problem).train.X
    for word in wider:
        assert word[:, -3].tolist() == [1.0] + [0.0] * (len(word) - 1)
        assert word[:, -2].tolist() == [0.0] * (len(word) - 1) + [1.0]
    assert wider.rows[:, -1].min() == 1.0


def test_the_public_sets_are_read(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIFFLER_DATA", str(data_folder))
    words = letters()
    assert len(words) == 10
    assert {len(one.train.Y) + len(one.test.Y) for one in words} == {6877}
    assert words[0].train.X.rows.shape == (4617, 128)
    entities = chunked("wnut17")
    assert entities is not None
    assert len(entities.task.labels or ()) == 13
    assert (len(entities.train.Y), len(entities.test.Y)) == (3394, 1287)
    monkeypatch.setenv("RIFFLER_DATA", "nowhere")
    assert (letters(), chunked("wnut17"), structured_ranking.folds("letor-ohsumed")) == ([], None, [])


def test_c_is_chosen_without_the_test_part(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = made_up_words(n_words=60)[0]
    asked: list[int] = []

    def quality(self: object, said: list[Any], truth: list[Any]) -> float:
        asked.append(len(truth))
        return float(len(asked))

    monkeypatch.setattr(type(problem), "quality", quality)
    assert chosen_c(problem, grid=(1.0, 10.0)) == 10.0
    assert asked == [5, 5]  # a quarter of 20 words


@pytest.mark.parametrize("solver", [AS_PUBLISHED, "frank-wolfe"])
def test_steps_leave_out_what_measures_the_gap(solver: str) -> None:
    found = solved(made_up_words(n_words=30)[0], solver, C=10.0, tol=0.1)
    measures = 0 if solver == AS_PUBLISHED else 2 * found.n_examples * len(found.turns)
    assert found.reached
    assert found.n_steps == found.last.oracle_calls - measures > 0
    assert found.n_steps % found.n_examples == 0


def test_queries_of_one_grade_have_no_order() -> None:
    part = Graded(np.arange(12.0).reshape(6, 2), np.array([0.0, 1, 2, 2, 1, 0]), np.array([1, 1, 2, 2, 3, 3]))
    X, y = part.with_an_order()
    assert [one.tolist() for one in y] == [[0.0, 1.0], [1.0, 0.0]]
    assert X[1].tolist() == [[8.0, 9.0], [10.0, 11.0]]


def test_ndcg_of_all_queries_of_all_folds_is_put_together(done: StructuredAgain) -> None:
    runs = [one for one in done.ranked if one.method == OURS]
    fold = made_up_folds()[0]
    scores: Any = structured_ranking.methods()[0].fit(fold.learn, fold.choose, **runs[0].chosen)(fold.test.X)
    np.testing.assert_allclose(runs[0].ndcg[4], fold.test.ndcg(scores, 5))
    together = by_query(done.ranked, done.graded[0], OURS, 5)
    assert together.tolist() == [value for one in runs for value in one.ndcg[4]]
    assert LETTERS not in done.labelled
