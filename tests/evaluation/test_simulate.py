"""Simulated runs: the live loop, nothing but recorded answers, and a killed run ends as one that was not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riffler.errors import InputError
from riffler.evaluation import simulate as simulation
from riffler.evaluation.run_file import read_run
from riffler.evaluation.search_measures import labels_at_recall
from riffler.evaluation.search_problem import Problem
from riffler.evaluation.simulate import Plan, SearchRun, draw_priors, file_name, simulate
from riffler.ledger import Item
from riffler.oracles import ArrayOracle
from riffler.records import IntArray
from riffler.search.loop import ActiveSearch
from tests.evaluation.searches import problem

PLAN = Plan(batch=3)


@pytest.fixture(scope="module")
def toy() -> Problem:
    return problem()


def one_run(toy: Problem, folder: Path, plan: Plan = PLAN, policy: str = "greedy") -> SearchRun:
    return simulate([toy], [policy], plan, folder, n_runs=1)[0]


def found_all(run: SearchRun) -> bool:
    return int(np.sum(run.answers == 1)) == run.n_relevant


def test_a_run_is_the_live_search_with_the_recorded_labels(toy: Problem, tmp_path: Path) -> None:
    run = one_run(toy, tmp_path)
    truth = dict(zip(toy.collection.ids, toy.labels.tolist(), strict=True))
    priors = [toy.collection.ids[row] for row in draw_priors(toy, 1, 1, seed=0)]
    search = ActiveSearch(
        toy.collection, policy="greedy", features=toy.features, relevant=priors[:1], irrelevant=priors[1:], seed=0
    )
    asked = list(priors)
    while sum(truth[name] for name in asked) < toy.n_relevant:
        ids = search.suggest(3)
        search.answer(ids, [truth[name] for name in ids])
        asked += ids
    assert list(run.items) == asked
    assert run.answers.tolist() == [truth[name] for name in asked]
    assert run.n_prior == 2
    assert found_all(run)
    assert labels_at_recall(run.discovery, 1.0) in range(len(asked) - 2, len(asked) + 1)
    assert (run.cpu >= 0).all()
    assert len(run.seconds) == 1 + (len(asked) - 2 + 2) // 3


def test_no_label_is_read_that_the_ledger_does_not_hold(
    toy: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revealed: list[Item] = []

    class Watched(ArrayOracle):
        def ask(self, items: list[Item], **how: object) -> IntArray:  # type: ignore[override]
            revealed.extend(items)
            return super().ask(items, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(simulation, "ArrayOracle", Watched)
    run = one_run(toy, tmp_path)
    assert [toy.collection.ids[int(row)] for row in revealed] == list(run.items)
    assert len(run.items) < toy.n_items


@pytest.mark.parametrize("batch", [1, "autotar"])
def test_a_run_cut_anywhere_goes_on_as_if_nothing_had_happened(toy: Problem, tmp_path: Path, batch: int | str) -> None:
    whole = one_run(toy, tmp_path / "whole", Plan(batch=batch))
    content = whole.path.read_bytes()
    for share in (0.02, 0.3, 0.61, 0.99):
        cut = tmp_path / f"cut{share}" / whole.path.name
        cut.parent.mkdir()
        cut.write_bytes(content[: int(share * len(content))])
        again = one_run(toy, cut.parent, Plan(batch=batch))
        assert again.items == whole.items
        assert again.answers.tolist() == whole.answers.tolist()
        assert len(again.seconds) == len(whole.seconds)


def test_a_finished_run_is_not_run_again(toy: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = one_run(toy, tmp_path)
    monkeypatch.setattr(simulation, "run_task", lambda *_: pytest.fail("it was run again"))
    assert one_run(toy, tmp_path).items == first.items


def test_changed_settings_or_labels_are_refused_before_anything_runs(toy: Problem, tmp_path: Path) -> None:
    one_run(toy, tmp_path)
    with pytest.raises(InputError, match="recorded with batch 3, and now it is 5"):
        one_run(toy, tmp_path, Plan(batch=5))
    with pytest.raises(InputError, match=r"recorded with data '\w+', and now it is"):
        one_run(problem(seed=1), tmp_path)


def test_a_budget_ends_a_run_and_may_be_raised(toy: Problem, tmp_path: Path) -> None:
    cut = one_run(toy, tmp_path, Plan(batch=3, budget=0.1))
    assert len(cut.items) == 12
    assert not found_all(cut)
    assert labels_at_recall(cut.discovery, 1.0) is None
    raised = one_run(toy, tmp_path, PLAN)
    assert raised.items[:12] == cut.items
    assert found_all(raised)
    lowered = one_run(toy, tmp_path, Plan(batch=3, budget=0.1))
    assert lowered.items == cut.items
    assert len(lowered.cpu) == len(cut.cpu) < len(raised.cpu)  # what a budget leaves out took no time either


def test_processes_give_the_same_runs(toy: Problem, tmp_path: Path) -> None:
    alone = simulate([toy], ["greedy", "random"], PLAN, tmp_path / "alone", n_runs=2)
    shares: list[float] = []
    shared = simulate(
        [toy], ["greedy", "random"], PLAN, tmp_path / "shared", n_runs=2, n_jobs=2,
        tell=lambda share, doing: shares.append(share),
    )  # fmt: skip
    assert [(run.policy, run.seed) for run in alone] == [("greedy", 0), ("greedy", 1), ("random", 0), ("random", 1)]
    assert [run.items for run in alone] == [run.items for run in shared]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_priors_are_drawn_by_the_seed_and_shared_by_the_policies(toy: Problem, tmp_path: Path) -> None:
    runs = simulate([toy], ["greedy", "random"], Plan(3, prior_relevant=2, prior_irrelevant=3), tmp_path, n_runs=3)
    priors = {(run.policy, run.seed): run.items[: run.n_prior] for run in runs}
    assert all(len(names) == 5 for names in priors.values())
    assert all(run.answers[:5].tolist() == [1, 1, 0, 0, 0] for run in runs)
    assert all(priors["greedy", seed] == priors["random", seed] for seed in range(3))
    assert len(set(priors.values())) == 3


def test_a_description_stands_in_for_priors(toy: Problem, tmp_path: Path) -> None:
    plan = Plan(1, prior_relevant=0, prior_irrelevant=0, description="snow and ice in the alps")
    run = one_run(toy, tmp_path, plan)
    assert run.n_prior == 0
    assert run.answers[:5].any()
    assert found_all(run)


def test_a_description_needs_texts(toy: Problem, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="toy: there are no texts to find by a description"):
        one_run(toy.slim(texts=False), tmp_path, Plan(description="snow"))


def test_every_run_is_a_ledger_that_rebuilds_its_search(toy: Problem, tmp_path: Path) -> None:
    run = one_run(toy, tmp_path)
    recorded = read_run(run.path)
    assert recorded is not None
    search = ActiveSearch.replay(
        toy.collection, recorded.ledger, policy="greedy", features=toy.features, seed=0
    )  # fmt: skip
    assert search.progress().n_relevant == toy.n_relevant
    assert search.progress().n_reviewed == len(run.items)


def test_bad_plans_are_refused(toy: Problem, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="batch must be a number of at least 1, or 'autotar', got 0"):
        Plan(batch=0)
    with pytest.raises(InputError, match=r"budget must be a share of the collection above 0 and at most 1, got 1\.5"):
        Plan(budget=1.5)
    with pytest.raises(InputError, match="must be at least 0"):
        Plan(prior_relevant=-1)
    with pytest.raises(InputError, match="20 relevant items were to be known from the start, and there are 15"):
        one_run(toy, tmp_path, Plan(prior_relevant=20))
    with pytest.raises(InputError, match="at least one run"):
        simulate([toy], [], PLAN, tmp_path)


def test_names_become_paths_that_stay_different() -> None:
    names = ["use::editing", "use//editing", "greedy", "..", "ÄÖ ü"]
    paths = [file_name(name) for name in names]
    assert len(set(paths)) == len(names)
    assert paths[2] == "greedy"
    assert not any("/" in path or path.startswith(".") for path in paths)


def test_all_relevant_as_priors_is_a_run_without_questions(toy: Problem, tmp_path: Path) -> None:
    run = one_run(toy, tmp_path, Plan(prior_relevant=15, prior_irrelevant=0))
    assert len(run.items) == 15
    assert np.all(run.answers == 1)
