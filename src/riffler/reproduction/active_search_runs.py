"""One search, and all of them; what is finished is kept in a file, so that a reproduction that was stopped goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.evaluation.search_measures import n_needed
from riffler.evaluation.search_problem import Problem
from riffler.evaluation.simulate import draw_priors
from riffler.oracles import ArrayOracle
from riffler.reproduction import Progress
from riffler.reproduction.active_search_data import clusters_of, fingerprint_of
from riffler.reproduction.active_search_ways import BUDGET, Way
from riffler.reproduction.kept_runs import KeptRuns
from riffler.search.costs import EqualCosts
from riffler.search.learner import ClassifierSettings
from riffler.search.loop import ActiveSearch

if TYPE_CHECKING:
    from riffler.features.clusters import SoftClusters

FILE = "active-search-runs.jsonl"
RECALLS = (0.9, 0.95, 0.99)
FEW = 300  # relevant documents: with fewer, recall 0.99 would be decided by the last one or two
N_SEEDS = 3  # relevant documents known at the start


@dataclass(frozen=True, slots=True)
class Found:
    """A finished search.

    places : how many documents had been read when each relevant one was found, the seeds first
    n_read : documents read until the search ended, seeds included
    """

    places: tuple[int, ...]
    n_read: int
    n_items: int
    n_relevant: int
    seconds: float

    def share_at(self, recall: float) -> float:
        """Share of the collection read at a recall; infinite where the run was given up before.

        Of few relevant documents one may always be missing: the last one alone says nothing of a method.

        >>> Found((1, 2, 8), 10, 20, 4, 0.0).share_at(0.5), Found((1, 2, 8), 10, 20, 5, 0.0).share_at(0.8)
        (0.1, inf)
        """
        needed = wanted(recall, self.n_relevant)
        return self.places[needed - 1] / self.n_items if needed <= len(self.places) else float("inf")

    def recall_at(self, share: float) -> float:
        """Recall when a share of the collection has been read.

        >>> Found((1, 2, 8), 10, 20, 4, 0.0).recall_at(0.4)
        0.75
        """
        return sum(place <= share * self.n_items for place in self.places) / self.n_relevant


def wanted(recall: float, n_relevant: int) -> int:
    """Relevant documents that make up a recall; all but one at most where there are fewer than 300.

    >>> wanted(0.9, 76), wanted(0.99, 76), wanted(0.99, 706)
    (69, 75, 699)
    """
    needed = n_needed(recall, n_relevant)
    return min(needed, n_relevant - 1) if 1 < n_relevant < FEW else needed


Case = tuple[str, Way]
"""A topic and a way of searching."""

Results = Mapping[Case, Sequence[Found]]
"""The runs of each case, in the order of their seeds."""


def paper_classifier(presumed: int) -> ClassifierSettings:
    """L2 logistic regression (C = 1) on labelled documents and fresh presumed negatives, all weighing the same."""
    return ClassifierSettings(loss="logistic", costs=EqualCosts(C=1.0), presumed=presumed, fresh=True)


def run_once(problem: Problem, way: Way, clusters: SoftClusters | None, seed: int) -> Found:
    """Search until recall 0.99 is reached and the budget is spent, everything is found, or the limit is reached."""
    start = process_time()
    oracle, n_items, n_relevant = ArrayOracle(problem.labels), problem.n_items, problem.n_relevant
    known = draw_priors(problem, min(N_SEEDS, n_relevant), 0, seed).tolist()
    answers: list[int] = oracle.ask(known, origin="prior").tolist()
    search = ActiveSearch(
        problem.collection,
        policy=way.made(),
        features=problem.features,
        relevant=[problem.collection.ids[row] for row in known],
        classifier=paper_classifier(way.presumed),
        clusters=clusters,
        seed=seed,
    )
    while sum(answers) < n_relevant:
        reached = sum(answers) >= wanted(RECALLS[-1], n_relevant)
        n_left = int((BUDGET if reached else way.limit) * n_items) - len(answers)
        if n_left <= 0:
            break
        ids = search.suggest(min(way.batch, n_left))
        told = oracle.ask([int(name) for name in ids]).tolist()
        search.answer(ids, told)
        answers += told
    places = tuple((np.flatnonzero(answers) + 1).tolist())
    return Found(places, len(answers), n_items, n_relevant, round(process_time() - start, 2))


def run_all(
    cases: Sequence[tuple[Case, int]],
    problems: Mapping[str, Problem],
    progress: Progress = lambda share, doing: None,
    folder: Path | None = None,
) -> dict[Case, list[Found]]:
    """Run each case with its number of seeds, from 0 on, seed by seed, one thread.

    With a folder, finished runs are written there and taken from there; remove the file after changing the code.
    """
    from threadpoolctl import threadpool_limits

    kept = KeptRuns(None if folder is None else folder / FILE, found_as_json, found_from_json)
    print_of = fingerprint_of(next(iter(problems.values())).features)
    made: dict[int, SoftClusters] = {}
    most = max(n_runs for _, n_runs in cases)
    jobs = [(case, seed) for seed in range(most) for case, n_runs in cases if seed < n_runs]
    results: dict[Case, list[Found]] = {case: [] for case, _ in cases}
    with threadpool_limits(1):
        for number, ((topic, way), seed) in enumerate(jobs):
            progress(number / len(jobs), f"{topic}, {way.name}, seed {seed}")
            key = f"{topic} {way!r} data={print_of} seed={seed}"
            run = kept.get(key)
            if run is None:
                if way.n_clusters is not None and way.n_clusters not in made:
                    progress(number / len(jobs), f"LDA, {way.n_clusters} topics")
                    made[way.n_clusters] = clusters_of(problems[topic].features, way.n_clusters, print_of, folder)
                clusters = None if way.n_clusters is None else made[way.n_clusters]
                run = run_once(problems[topic], way, clusters, seed)
                kept.add(key, run)
            results[topic, way].append(run)
    return results


def found_as_json(run: Found) -> dict[str, Any]:
    """Give a run as plain values."""
    from dataclasses import asdict

    return {**asdict(run), "places": list(run.places)}


def found_from_json(entry: Mapping[str, Any]) -> Found:
    """Read what `found_as_json` gave."""
    return Found(**{**entry, "places": tuple(entry["places"])})
