"""The paper's protocol: its classifier, its seeds, its budget; and what is kept of finished runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from riffler.engine import LocalEngine
from riffler.reproduction.active_search_data import clusters_of, made_up
from riffler.reproduction.active_search_runs import (
    Found,
    found_as_json,
    found_from_json,
    paper_classifier,
    run_once,
    wanted,
)
from riffler.reproduction.active_search_ways import GREEDY, THOMPSON, smaller
from riffler.reproduction.kept_runs import KeptRuns
from riffler.search.classifier import WarmClassifier
from riffler.search.weight_thompson import fit_logistic


def test_the_classifier_is_plain_logistic_regression() -> None:
    problem = made_up(["A"], n_items=300)["A"]
    numbers, presumed = np.arange(200), np.arange(200, 260)
    labels, settings = problem.labels[numbers], paper_classifier(presumed.size)
    engine = LocalEngine([problem.features])
    classifier = WarmClassifier(engine, loss=settings.loss, costs=settings.costs, tolerance=1e-6)
    for _ in range(30):  # each fit makes few passes
        scores = classifier.fit(numbers, labels, presumed)
    signs = np.r_[np.where(labels > 0, 1.0, -1.0), -np.ones(presumed.size)]
    exact = fit_logistic(problem.features[:260].astype(np.float64), signs, C=1.0)
    np.testing.assert_allclose(scores, problem.features @ exact[:-1] + exact[-1], atol=2e-3)


def test_a_run_repeats_and_ends_at_the_budget_or_when_everything_is_found() -> None:
    problem = made_up(["A"])["A"]
    (greedy,) = smaller((GREEDY,))
    run = run_once(problem, greedy, None, seed=1)
    again = run_once(problem, greedy, None, seed=1)
    assert replace(again, seconds=0.0) == replace(run, seconds=0.0)
    assert len(run.places) == run.n_relevant or run.n_read == int(0.4 * run.n_items)
    short = run_once(problem, replace(greedy, limit=0.05), None, seed=1)
    assert short.n_read == 75
    assert short.share_at(0.99) == float("inf")
    assert short.places == tuple(place for place in run.places if place <= 75)


def test_clusters_are_kept_in_the_folder_and_change_the_search(tmp_path: Path) -> None:
    problem = made_up(["A"])["A"]
    (thompson,) = smaller((THOMPSON,))
    made = clusters_of(problem.features, 10, "abc", tmp_path)
    taken = clusters_of(problem.features, 10, "abc", tmp_path)
    np.testing.assert_array_equal(made.memberships.toarray(), taken.memberships.toarray())
    with_arms = run_once(problem, thompson, taken, seed=0)
    assert with_arms.places != run_once(problem, thompson, None, seed=0).places


def test_kept_runs_survive_a_line_that_was_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    first, second = Found((1, 2), 10, 100, 3, 0.5), Found((1, 5), 9, 100, 3, 0.25)
    KeptRuns(path, found_as_json, found_from_json).add("a", first)
    with path.open("a", encoding="utf-8") as file:
        file.write('\n{"riffler": "0')
    kept = KeptRuns(path, found_as_json, found_from_json)
    assert kept.get("a") == first
    assert kept.get("b") is None
    kept.add("b", second)
    assert KeptRuns(path, found_as_json, found_from_json).get("b") == second
    path.write_text(path.read_text(encoding="utf-8").replace('"riffler": "', '"riffler": "old-'), encoding="utf-8")
    assert KeptRuns(path, found_as_json, found_from_json).get("a") is None


@pytest.mark.parametrize(("recall", "share"), [(0.5, 0.2), (0.75, 0.8), (0.99, 0.8)])
def test_share_read_at_a_recall(recall: float, share: float) -> None:
    assert Found((1, 2, 8), n_read=9, n_items=10, n_relevant=4, seconds=0.0).share_at(recall) == share


def test_of_many_relevant_documents_a_hundredth_may_be_missing() -> None:
    assert wanted(0.99, 300) == 297
    assert Found(tuple(range(1, 297)), 900, 1000, 300, 0.0).share_at(0.99) == float("inf")
