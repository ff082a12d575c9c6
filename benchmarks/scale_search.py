"""Searches: what two-stage scoring costs in labels, and a review page on a large collection."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
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
CADENCES = (1, 5, 20)
DOCSTRING_TOPICS = ("scipy.stats", "numpy.linalg")
TAKEN = ("crude", "trade", "ship", "section::sound", "network::server", "sci.space", "rec.motorcycles")


def measure_two_stage(out: Path, seed: int, runs: int, candidates: Sequence[int], batch: str) -> list[dict[str, Any]]:
    """Labels to recall with exact scoring and with candidates between, the same priors and seeds in all of them."""
    found: list[dict[str, Any]] = []
    problems = _problems()
    exact: dict[tuple[str, int, float], int] = {}
    base = Plan(batch if batch == AUTOTAR else int(batch))
    for every in CADENCES:
        for n in candidates if every > 1 else candidates[:1]:
            plan = replace(base, rescoring=Rescoring(every, n))
            folder = out / "two-stage" / f"every-{every}-{n if every > 1 else 'all'}-{batch}"
            ratios: dict[float, list[float]] = {recall: [] for recall in RECALLS}
            for run in simulate(problems, ["default"], plan, folder, n_runs=runs, seed=seed):
                for recall in RECALLS:
                    labels = labels_at_recall(run.discovery, recall)
                    assert labels is not None
                    first = exact.setdefault((run.topic, run.seed, recall), labels)
                    ratios[recall].append(labels / first)
            row = {"every": every, "candidates": n, "ratios": ratios, "batch": batch}
            found.append(row)
            told = ", ".join(
                f"recall {recall:g}: {statistics.geometric_mean(ratios[recall]):.3f} x the labels of exact scoring "
                f"(from {min(ratios[recall]):.2f} to {max(ratios[recall]):.2f})"
                for recall in RECALLS
            )
            print(f"two-stage: all every {every} turns, {n:,} between, {len(problems)} topics, {runs} runs: {told}")
    return found


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
