"""What simulated searches came to: one row of measures a policy, as plain values for a table, JSON and charts."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version

import numpy as np

from riffler.evaluation.search_measures import (
    RECALLS,
    Discovery,
    Spread,
    found_at_share,
    labels_at_recall,
    spread_of,
    time_to_discovery,
    without_priors,
    work_saved,
)
from riffler.evaluation.search_problem import Problem
from riffler.evaluation.simulate import Plan, SearchRun
from riffler.evaluation.stopping_replay import RecordedOrder, RuleSummary, full_order

COUNTING = (
    "labels_at_recall counts every label, priors included, and priors count as found; "
    "labels_at_recall_without_priors counts neither, over the collection without them"
)


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """Measures of one policy over its runs.

    labels, shares : at each recall of RECALLS, priors included; labels_after_priors : without them
    read, share_read, found, recall : labels given when the run ended, their share, and what it had found by then
    n_short : runs that ended with something not found
    wss95, rrf10, atd : work saved at recall .95, recall after a tenth of the collection, mean labels to a find
    cpu_seconds : of the processor for a whole run, features and clusters apart; seconds_per_step : on the clock
    """

    policy: str
    labels: dict[str, Spread]
    shares: dict[str, Spread]
    labels_after_priors: dict[str, Spread]
    read: Spread
    share_read: Spread
    found: Spread
    recall: Spread
    n_short: int
    wss95: Spread
    rrf10: Spread
    atd: Spread
    cpu_seconds: Spread
    seconds_per_step: Spread
    seeds: tuple[int, ...]
    ledgers: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Plain values under the names that the report promises."""
        mean_cpu = self.cpu_seconds.mean
        return {
            "labels_at_recall": _plain(self.labels),
            "share_at_recall": _plain(self.shares),
            "labels_at_recall_without_priors": _plain(self.labels_after_priors),
            "labels_at_end": asdict(self.read),
            "share_at_end": asdict(self.share_read),
            "found_at_end": asdict(self.found),
            "recall_at_end": asdict(self.recall),
            "n_runs_that_found_everything": len(self.seeds) - self.n_short,
            "wss_at_95": asdict(self.wss95),
            "rrf_at_10": asdict(self.rrf10),
            "average_time_to_discovery": asdict(self.atd),
            "cpu_seconds": mean_cpu,
            "cpu_seconds_of_runs": list(self.cpu_seconds.runs),
            "seconds_per_step": asdict(self.seconds_per_step),
            "seeds": list(self.seeds),
            "ledgers": list(self.ledgers),
        }


def _plain(by_recall: Mapping[str, Spread]) -> dict[str, object]:
    return {recall: asdict(spread) for recall, spread in by_recall.items()}


def policy_rows(runs: Iterable[SearchRun]) -> list[PolicyRow]:
    """One row a policy, in the order in which the policies come."""
    by_policy: dict[str, list[SearchRun]] = {}
    for run in runs:
        by_policy.setdefault(run.policy, []).append(run)
    return [policy_row(policy, those) for policy, those in by_policy.items()]


def policy_row(policy: str, runs: Sequence[SearchRun]) -> PolicyRow:
    """Measure the runs of one policy; of several topics the means are over all runs of all topics."""
    found = [run.discovery for run in runs]
    later = [without_priors(one, run.n_prior) for one, run in zip(found, runs, strict=True)]
    return PolicyRow(
        policy=policy,
        labels={str(recall): spread_of([labels_at_recall(one, recall) for one in found]) for recall in RECALLS},
        shares={str(recall): spread_of([_share(one, recall) for one in found]) for recall in RECALLS},
        labels_after_priors={
            str(recall): spread_of([0 if one is None else labels_at_recall(one, recall) for one in later])
            for recall in RECALLS
        },
        read=spread_of([one.found.size for one in found]),
        share_read=spread_of([one.found.size / one.n_items for one in found]),
        found=spread_of([one.places.size for one in found]),
        recall=spread_of([one.places.size / one.n_relevant for one in found]),
        n_short=sum(not one.found_all for one in found),
        wss95=spread_of([work_saved(one) for one in found]),
        rrf10=spread_of([found_at_share(one) for one in found]),
        atd=spread_of([time_to_discovery(one) for one in found]),
        cpu_seconds=spread_of([float(run.cpu.sum()) for run in runs]),
        seconds_per_step=spread_of([float(np.mean(run.seconds[1:])) if run.seconds.size > 1 else 0.0 for run in runs]),
        seeds=tuple(run.seed for run in runs),
        ledgers=tuple(str(run.path) for run in runs),
    )


def _share(run: Discovery, recall: float) -> float | None:
    labels = labels_at_recall(run, recall)
    return None if labels is None else labels / run.n_items


def by_topic(runs: Iterable[SearchRun]) -> dict[str, list[SearchRun]]:
    """Runs by their topic, in the order in which the topics come."""
    found: dict[str, list[SearchRun]] = {}
    for run in runs:
        found.setdefault(run.topic, []).append(run)
    return found


def recorded_orders(runs: Iterable[SearchRun]) -> dict[str, list[RecordedOrder]]:
    """The order of every run to the end of its collection, by policy, for stopping rules to be replayed on."""
    found: dict[str, list[RecordedOrder]] = {}
    for run in runs:
        order = RecordedOrder(full_order(run.answers, run.n_items, run.n_relevant), run.n_prior, run.seed)
        found.setdefault(run.policy, []).append(order)
    return found


def simulation_json(
    problems: Sequence[Problem],
    runs: Sequence[SearchRun],
    plan: Plan,
    stopping: Mapping[str, Sequence[RuleSummary]],
    confidence: float,
) -> dict[str, object]:
    """Everything about a simulation as plain values."""
    first = problems[0]
    n_relevant = {problem.name: problem.n_relevant for problem in problems}
    return {
        "riffler": version("riffler"),
        "versions": versions(),
        "data": first.collection.source,
        "n_items": first.n_items,
        "n_relevant": first.n_relevant if len(problems) == 1 else None,
        "plan": asdict(plan),
        "seeds": sorted({run.seed for run in runs}),
        "counting": COUNTING,
        "feature_cpu_seconds": first.feature_cpu_seconds,
        "cluster_cpu_seconds": first.cluster_cpu_seconds,
        "policies": {row.policy: row.as_json() for row in policy_rows(runs)},
        "topics": {
            topic: {
                "n_relevant": n_relevant[topic],
                "policies": {row.policy: row.as_json() for row in policy_rows(those)},
            }
            for topic, those in by_topic(runs).items()
            if topic
        },
        "stopping": {
            "confidence": confidence,
            "policies": {policy: [asdict(row) for row in rows] for policy, rows in stopping.items()},
        },
    }


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    packages = ("numpy", "scipy", "scikit-learn", "numba", "polars")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
