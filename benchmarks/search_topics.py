"""Policies on topics by the protocol of the paper on Thompson sampling: three relevant items, batches of 100.

All policies have the same features, classifier, batches, start and presumed negatives (100, fresh each round), so what
differs is what they choose to read. ``NAME+logistic`` is a policy with plain logistic regression (C = 1) in place of
our classifier, as in the paper, whose sampling needs probabilities; it is compared with greedy of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from search_report import geometric_mean, head, interval_words, ratio_chart, save_both, write_page, yes_or_no
from search_runs import Cell, Course, Settings, known, labels_at, n_wanted, run, run_missing
from search_topic_sets import (
    RCV1,
    TOPICS,
    Topic,
    clusters_of,
    present,
    problem_of,
    relevant_start,
)

from riffler.features.clusters import SoftClusters
from riffler.reproduction.markdown import table
from riffler.search import WITH_CLUSTERS
from riffler.search.costs import EqualCosts
from riffler.search.learner import ClassifierSettings

POLICIES = ("default", "greedy", "thompson", "greedy+logistic", "thompson+logistic")
RIVAL = "greedy"
RECALLS = (0.8, 0.9, 0.95, 0.99)
BUDGET = 0.4
BATCH, N_START = 100, 3
CLASSIFIERS = {
    "": ClassifierSettings(presumed=100, fresh=True),
    "logistic": ClassifierSettings(loss="logistic", costs=EqualCosts(C=1.0), presumed=100, fresh=True),
}
# the paper's shares reviewed in percent at recall .90, .95, .99: its baseline, its Thompson sampling
PAPER: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "C17": ((7.92, 12.27, 25.97), (8.15, 11.90, 19.48)),
    "C18": ((6.81, 8.96, 15.87), (6.91, 8.75, 11.21)),
    "E14": ((1.19, 2.99, 12.63), (1.48, 2.81, float("nan"))),  # not legible in the copy at hand
    "E31": ((0.93, 1.67, 17.06), (1.13, 1.61, 12.34)),
    "E51": ((6.67, 10.42, 19.85), (6.81, 10.01, 13.45)),
    "G15": ((2.39, 2.98, 5.36), (2.50, 2.92, 4.12)),
}
Shares = dict[str, dict[int, dict[str, Any]]]  # results by policy and seed


def make(settings: Settings) -> None:
    """Make the runs that are not there, one data set after the other."""
    topics = [topic for topic in present(TOPICS) if settings.wants(topic.title)]
    policies = settings.policies_or(*POLICIES)
    if any(uses_clusters(policy) for policy in policies):
        for data in dict.fromkeys(topic.data for topic in topics):
            clusters_of(data, settings.arms, settings.out / "clusters")  # here, so that no two processes make them
    for data in dict.fromkeys(topic.data for topic in topics):
        those = [topic for topic in topics if topic.data == data]
        n_runs = runs_of(settings, those[0])
        run_missing([cell_of(settings, topic, seed, policy)
                     for seed in range(n_runs) for topic in those for policy in policies], settings.jobs)  # fmt: skip


def uses_clusters(policy: str) -> bool:
    """Whether a policy draws from soft clusters."""
    return policy.partition("+")[0] in WITH_CLUSTERS


def rival_of(policy: str) -> str:
    """Greedy with the same classifier.

    >>> rival_of("default"), rival_of("thompson+logistic")
    ('greedy', 'greedy+logistic')
    """
    return RIVAL + "".join(policy.partition("+")[1:])


def runs_of(settings: Settings, topic: Topic) -> int:
    """Ten runs a topic where the paper had ten, fewer elsewhere."""
    return settings.runs if topic in RCV1 else min(settings.runs, settings.runs_more)


def cell_of(settings: Settings, topic: Topic, seed: int, policy: str) -> Cell:
    """The run of a policy for a topic."""
    arms = settings.arms if uses_clusters(policy) else None
    name = f"{topic.title}-{policy}{'-' + arms if arms else ''}-{seed}.json".replace(" ", "-").replace("::", "-")
    facts = {"topic": topic.title, "policy": policy, "seed": seed, "arms": arms, "batch": BATCH}
    return Cell(settings.out / "topics" / name, facts, partial(_run, topic, seed, policy, arms, settings.out))


def _run(topic: Topic, seed: int, policy: str, arms: str | None, out: Path) -> dict[str, Any]:
    clusters = None if arms is None else _clusters(topic.data, arms, out / "clusters")
    return run(topic_course(topic, seed, policy, clusters))


def topic_course(topic: Topic, seed: int, policy: str, clusters: SoftClusters | None, noise: float = 0.0) -> Course:
    """A run by the protocol, to recall .99."""
    problem = problem_of(topic)
    name, _, classifier = policy.partition("+")
    return Course(
        problem.collection, problem.labels, problem.features, name, seed, n_wanted(0.99, problem.n_relevant),
        relevant=relevant_start(problem, seed, N_START), batch=BATCH, classifier=CLASSIFIERS[classifier],
        clusters=clusters, noise=noise,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _clusters(data: str, method: str, folder: Path) -> SoftClusters:
    return clusters_of(data, method, folder)


def report(settings: Settings) -> None:
    """Write the tables and draw the ratios."""
    policies = settings.policies_or(*POLICIES)
    found: dict[Topic, Shares] = {}
    for topic in TOPICS:
        if settings.wants(topic.title):
            cells = {policy: [cell_of(settings, topic, seed, policy) for seed in range(runs_of(settings, topic))]
                     for policy in policies}  # fmt: skip
            shares = {policy: {result["seed"]: result for result in results}
                      for policy, those in cells.items() if (results := known(those))}  # fmt: skip
            if shares:
                found[topic] = shares
    if not found:
        print("No topic has been run.")
        return
    results = [one for shares in found.values() for by_seed in shares.values() for one in by_seed.values()]
    parts = [head(settings, "topics", results, f"arms: {settings.arms}"), READING, _topic_table(found)]
    parts += [_ratio_table(found, policies), _goals(found), _paper_table(found, policies)]
    write_page(settings.out / "topics.md", parts)
    _draw(found, policies, settings.out / "topics")


READING = f"""Each run starts from {N_START} relevant items and asks for {BATCH} at a time. Shares of the collection
read count the start. At .99 all but one must be found where fewer than 300 are relevant; a run ends there, so recall
at the {BUDGET:.0%} budget is that of the end where it came before. Ratios are of mean shares over the seeds that both
have."""


def share(result: Mapping[str, Any], recall: float) -> float:
    """Share of the collection read when so much was found."""
    return labels_at(result, recall) / float(result["n_items"])


def recall_at_budget(result: Mapping[str, Any]) -> float:
    """Recall when the budget was spent, or at the end of the run if that came before."""
    spent = np.array(result["places"]) <= BUDGET * result["n_items"]
    return float(spent.sum() / result["n_relevant"])


def mean_of(results: Mapping[int, Mapping[str, Any]], of: Callable[[Mapping[str, Any]], float]) -> float:
    """Mean over the seeds."""
    return float(np.mean([of(result) for result in results.values()]))


def ratio_to(shares: Shares, policy: str, recall: float) -> float | None:
    """Mean share of a policy over that of its rival, over the seeds that both have."""
    rival = rival_of(policy)
    seeds = shares.get(policy, {}).keys() & shares.get(rival, {}).keys()
    if not seeds:
        return None
    mine, theirs = (np.mean([share(shares[name][seed], recall) for seed in seeds]) for name in (policy, rival))
    return float(mine / theirs)


def _topic_table(found: Mapping[Topic, Shares]) -> str:
    lines = []
    for topic, shares in found.items():
        for policy, results in shares.items():
            first = next(iter(results.values()))
            means = [mean_of(results, partial(share, recall=recall)) for recall in RECALLS]
            ratios = [ratio_to(shares, policy, recall) for recall in (0.9, 0.99)]
            lines.append(
                [topic.title, f"{first['n_items']:,}", f"{first['n_relevant']:,}", policy, str(len(results))]
                + [f"{mean:.2%}" for mean in means]
                + [f"{mean_of(results, recall_at_budget):.3f}"]
                + ["" if ratio is None or policy == rival_of(policy) else f"{ratio:.3f}" for ratio in ratios]
                + [f"{mean_of(results, lambda one: float(one['cpu_seconds'])):.1f}"]
            )
    columns = ["topic", "items", "relevant", "policy", "runs", *(f"read at {recall:g}" for recall in RECALLS)]
    columns += [f"recall at {BUDGET:.0%} read", f"to {RIVAL} at .9", "at .99", "CPU s"]
    return "## Every topic\n\n" + table(columns, lines)


def _ratios(found: Mapping[Topic, Shares], policy: str, recall: float, group: str | None = None) -> list[float]:
    each = (ratio_to(shares, policy, recall) for topic, shares in found.items() if group in (None, topic.group))
    return [ratio for ratio in each if ratio is not None]


def _ratio_table(found: Mapping[Topic, Shares], policies: Sequence[str]) -> str:
    groups = list(dict.fromkeys(topic.group for topic in found))
    lines = []
    for policy in policies:
        if policy == rival_of(policy):
            continue
        for group in [*groups, None] if len(groups) > 1 else groups:
            ratios = [_ratios(found, policy, recall, group) for recall in RECALLS]
            if ratios[0]:
                lines.append([policy, group or "**all**", str(len(ratios[0])), *map(interval_words, ratios)])
    columns = ["policy", "data", "topics", *(f"at {recall:g}" for recall in RECALLS)]
    title = f"## Share read beside {RIVAL}: geometric mean over topics (95 % interval over topics)"
    return title + "\n\n" + table(columns, lines) if lines else ""


def _goals(found: Mapping[Topic, Shares]) -> str:
    late, early = (_ratios(found, "default", recall) for recall in (0.99, 0.9))
    if not late:
        return ""
    lines = [
        ["read at .99, geometric mean", "at most 0.80", interval_words(late), yes_or_no(geometric_mean(late) <= 0.8)],
        ["read at .90", "at most 1.05", interval_words(early), yes_or_no(geometric_mean(early) <= 1.05)],
    ]
    return table([f"default / {RIVAL}, {len(late)} topics", "wanted", "found", "reached"], lines)


def _paper_table(found: Mapping[Topic, Shares], policies: Sequence[str]) -> str:
    """The paper's shares in percent beside ours; its collection is the whole of RCV1, ours a thirtieth of it."""
    lines = []
    for topic, shares in found.items():
        if topic not in RCV1:
            continue
        base, thompson = PAPER[topic.name]
        lines += [[topic.name, name, *(f"{one:.2f}" if one == one else "?" for one in those)]
                  for name, those in (("paper: baseline", base), ("paper: Thompson", thompson))]  # fmt: skip
        lines += [[topic.name, f"here: {policy}",
                   *(f"{100 * mean_of(shares[policy], partial(share, recall=recall)):.2f}" for recall in RECALLS[1:])]
                  for policy in policies if policy in shares]  # fmt: skip
    if not lines:
        return ""
    words = "The paper searched the whole of RCV1 (804,414 items), here are 27,729 of them: compare ratios, not shares."
    return (
        "## Beside the paper, percent read\n\n" + words + "\n\n" + table(["topic", "run", ".90", ".95", ".99"], lines)
    )


def _draw(found: Mapping[Topic, Shares], policies: Sequence[str], path: Path) -> None:
    points = [
        {"method": policy, "data": topic.title, "level": f"recall {recall:g}", "ratio": ratio}
        for policy in policies
        if policy != rival_of(policy)
        for topic, shares in found.items()
        for recall in (0.9, 0.95, 0.99)
        if (ratio := ratio_to(shares, policy, recall)) is not None
    ]
    if points:
        chart = ratio_chart(points, f"Share read beside {RIVAL}: left of 1 is less", f"share read / share of {RIVAL}")
        save_both(chart, path)
