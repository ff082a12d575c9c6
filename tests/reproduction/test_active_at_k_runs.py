"""Runs are kept and taken again; a case is a learner with exactly the settings it names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riffler.evaluation.active_runs import ActiveRun
from riffler.learners.active_at_k import ActivePerceptronAtK, PaperReadings
from riffler.reproduction import active_at_k_runs
from riffler.reproduction.active_at_k_cases import Case, Feed, Way, paired, with_all_schemes
from riffler.reproduction.active_at_k_feeds import run_case
from riffler.reproduction.active_at_k_rare import large_k
from riffler.reproduction.active_at_k_readings import grid, readings
from riffler.reproduction.active_at_k_runs import FILE, run_all
from riffler.reproduction.problems import Problem, two_gaussians
from riffler.samplers import Exponential
from riffler.scorers import Rbf

PROBLEM = two_gaussians(n_rows=2000)
FOUND = {PROBLEM.name: PROBLEM}
CASES = with_all_schemes(Feed(PROBLEM.name), 10)


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_all(CASES[:2], FOUND, 2, folder=tmp_path)
    lines = (tmp_path / FILE).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    (tmp_path / FILE).write_text("\n".join([*lines[:2], lines[2][:50]]), encoding="utf-8")  # cut while it was written
    done: list[int] = []

    def counted(case: Case, problem: Problem, seed: int) -> ActiveRun:
        done.append(seed)
        return run_case(case, problem, seed)

    monkeypatch.setattr(active_at_k_runs, "run_case", counted)
    again = run_all(CASES[:2], FOUND, 2, folder=tmp_path)
    assert len(done) == 2
    assert len(run_all(CASES[:2], FOUND, 2, folder=tmp_path)) == len(again) == 2
    assert len(done) == 2  # what followed the broken line is kept as well
    for case, runs in first.items():
        for one, other in zip(runs, again[case], strict=True):
            np.testing.assert_array_equal(one.precision, other.precision)
            np.testing.assert_array_equal(one.n_asked, other.n_asked)
            assert one.held_out_precision == other.held_out_precision


def test_runs_of_another_version_are_not_taken(tmp_path: Path) -> None:
    run_all(CASES[:1], FOUND, 1, folder=tmp_path)
    entry = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    (tmp_path / FILE).write_text(json.dumps({**entry, "riffler": "0.0.0"}), encoding="utf-8")
    run_all(CASES[:1], FOUND, 1, folder=tmp_path)
    assert len((tmp_path / FILE).read_text(encoding="utf-8").splitlines()) == 2


def test_a_case_named_twice_is_run_once_and_nothing_is_kept_without_a_folder() -> None:
    assert [len(runs) for runs in run_all([CASES[0], CASES[0]], FOUND, 1).values()] == [1]


def test_a_way_is_the_learner_it_describes() -> None:
    way = Way("exponential", 0.1, "k", "ipw", "rbf", 0.5, "center", PaperReadings(capped=False))
    learner = way.learner(7, 3)
    assert isinstance(learner, ActivePerceptronAtK)
    assert learner.get_params() == {
        **ActivePerceptronAtK().get_params(),
        "k": 7, "sampler": Exponential(0.1), "n_queries": "k", "balance": "ipw", "kernel": Rbf(0.5),
        "scaling": "center", "readings": PaperReadings(capped=False), "random_state": 3,
    }  # fmt: skip


def test_each_reading_is_another_case_and_runs() -> None:
    feed = Feed(PROBLEM.name, n_rows=1000)
    named = readings(feed, 10)
    assert len(set(named.values())) == len(named)
    for runs in run_all([*named.values(), *grid(feed, 10).values()], FOUND, 1).values():
        assert 0 <= runs[0].mean_precision <= 1


def test_the_letter_of_algorithm_2_buys_far_more_than_a_scaled_weight() -> None:
    named = readings(Feed(PROBLEM.name), 10)
    found = run_all([named["ours"], named["Algorithm 2 to the letter"]], FOUND, 1)
    ours, letter = (found[named[name]][0].n_labels for name in ("ours", "Algorithm 2 to the letter"))
    assert letter > 3 * ours


def test_the_larger_k_leaves_half_of_the_positives_of_a_batch() -> None:
    assert large_k(Feed(PROBLEM.name), PROBLEM, 20) == 20
    n_positive = 2000 * 0.9 / 7 * 0.1  # a batch of about 1,400 thinned rows expects a little less
    assert large_k(Feed(PROBLEM.name, share=0.1), PROBLEM, 300) == max(10, int(n_positive / 2) // 10 * 10)


def test_paired_intervals_hold_the_mean_and_narrow_with_the_spread() -> None:
    mean, low, high = paired([0.9, 0.8, 0.7], [0.8, 0.7, 0.6])
    assert (mean, low, high) == pytest.approx((0.1, 0.1, 0.1))
    assert paired([0.5], [0.25]) == (0.25, 0.25, 0.25)
    assert Case(Feed("a"), Way(), 5) == Case(Feed("a"), Way(), 5)
