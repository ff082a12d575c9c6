"""Searches: what two-stage scoring costs in labels, and a review page on a large collection."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from scale_index import collection_of
from search_topic_sets import TOPICS, VECTORS, Topic, present, problem_of

from riffler.data.docstrings import docstrings
from riffler.evaluation.search_measures import labels_at_recall
from riffler.evaluation.search_problem import Problem, topic_problems
from riffler.evaluation.simulate import AUTOTAR, Plan, simulate
from riffler.search.rescoring import Rescoring

RECALLS = (0.8, 0.95)
STAGES = (Rescoring(1), Rescoring(5, 1_000), Rescoring(20, 1_000), Rescoring(20, 5_000))  # exact scoring first
BUDGET = 0.25  # share of a set that is read at most
DOCSTRING_TOPICS = ("scipy.stats", "numpy.linalg")
TAKEN = ("crude", "ship", "section::sound", "network::server")


def measure_two_stage(out: Path, seed: int, runs: int, batch: str) -> list[dict[str, Any]]:
    """Labels to recall with exact scoring and with candidates between, the same priors and seeds in all of them.

    A run that does not get there counts with all the labels that it was given: it would have needed more. Where exact
    scoring does not get there either, nothing can be said.
    """
    problems = _problems()
    exact: dict[tuple[str, int, float], int | None] = {}
    found = []
    for stage in STAGES:
        plan = Plan(batch if batch == AUTOTAR else int(batch), budget=BUDGET, rescoring=stage)
        folder = out / "two-stage" / f"every-{stage.every}-{stage.candidates}-batch-{batch}"
        ratios: dict[float, list[float]] = {recall: [] for recall in RECALLS}
        missed, unknown = dict.fromkeys(RECALLS, 0), dict.fromkeys(RECALLS, 0)
        seconds = []
        for run in simulate(problems, ["default"], plan, folder, n_runs=runs, seed=seed):
            seconds.append(float(run.seconds.sum()))
            for recall in RECALLS:
                labels = labels_at_recall(run.discovery, recall)
                first = exact.setdefault((run.topic, run.seed, recall), labels)
                missed[recall] += labels is None and first is not None
                unknown[recall] += first is None
                if first is not None:
                    ratios[recall].append((run.discovery.found.size if labels is None else labels) / first)
        found.append({"every": stage.every, "candidates": stage.candidates, "batch": batch, "ratios": ratios,
                      "missed": missed, "unknown": unknown, "seconds": seconds})  # fmt: skip
        told = "; ".join(
            f"recall {recall:g}: {_told(ratios[recall], missed[recall], unknown[recall])}" for recall in RECALLS
        )
        print(
            f"two-stage: {len(problems)} topics, {runs} runs, {batch} a turn, all scored every {stage.every} turns, "
            f"{stage.candidates:,} between: {told}",
            flush=True,
        )
    return found


def _told(ratios: list[float], n_missed: int, n_unknown: int) -> str:
    """Say how many labels were needed; with runs that did not get there the mean is no more than a lower bound."""
    without = f"{n_unknown} runs left out, as exact scoring did not get there"
    if not ratios:
        return f"nothing can be said ({without})"
    return (
        f"{'at least ' if n_missed else ''}{statistics.geometric_mean(ratios):.3f} x the labels of exact scoring (from "
        f"{min(ratios):.2f} to {max(ratios):.2f}; {n_missed} runs did not get there and count with all their labels; "
        f"{without})"
    )


def _problems() -> list[Problem]:
    here: list[Topic] = present([one for one in TOPICS if one.name in TAKEN and one.data != VECTORS])
    if here:
        return [problem_of(topic) for topic in here]
    return topic_problems(docstrings(), "topic", DOCSTRING_TOPICS)


def measure_review(out: Path, n: int, seed: int, n_next: int) -> dict[str, Any]:
    """Start `riffler review` on a collection, then read and answer."""
    from scale_review import review_seconds

    collection = collection_of(out, n, seed)
    return review_seconds(collection, out / "review", n_next)
