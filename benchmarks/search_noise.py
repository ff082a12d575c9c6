"""Wrong answers: what each share of them costs on the way to high recall of what is truly relevant.

An answer is wrong if a number drawn by seed and item lies below the share, so more noise adds wrong answers to those
there were, and every policy meets the same ones. The items a run starts from are truly relevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from search_report import head, interval_words, lines_chart, save_both, write_page
from search_runs import Cell, Settings, known, run, run_missing
from search_topic_sets import DEBIAN, NEWSGROUPS, RCV1, REUTERS, Topic, present
from search_topics import share, topic_course

from riffler.reproduction.markdown import table

POLICIES = ("default", "greedy")
RATES = (0.0, 0.01, 0.05, 0.1)
RECALLS = (0.9, 0.95, 0.99)
NAMES = ("G15", "crude", "sci.space", "section::games")
TOPICS = tuple(topic for topic in (*RCV1, *REUTERS, *NEWSGROUPS, *DEBIAN) if topic.name in NAMES)
Means = dict[tuple[str, float, str], list[float]]  # shares read at RECALLS, by topic, noise and policy


def make(settings: Settings) -> None:
    """Make the runs that are not there."""
    run_missing(_cells(settings, [topic for topic in present(TOPICS) if settings.wants(topic.title)]), settings.jobs)


def _cells(settings: Settings, topics: Sequence[Topic]) -> list[Cell]:
    n_runs = min(settings.runs, settings.runs_more)
    return [
        cell_of(settings, topic, seed, policy, rate)
        for topic in topics
        for seed in range(n_runs)
        for rate in RATES
        for policy in settings.policies_or(*POLICIES)
    ]


def cell_of(settings: Settings, topic: Topic, seed: int, policy: str, rate: float) -> Cell:
    """The run of a policy for a topic with a share of wrong answers."""
    name = f"{topic.title}-{policy}-{rate:g}-{seed}.json".replace(" ", "-").replace("::", "-")
    facts = {"topic": topic.title, "policy": policy, "seed": seed, "noise": rate}
    return Cell(settings.out / "noise" / name, facts, partial(_run, topic, seed, policy, rate))


def _run(topic: Topic, seed: int, policy: str, rate: float) -> dict[str, Any]:
    return run(topic_course(topic, seed, policy, None, rate))


def report(settings: Settings) -> None:
    """Write the table and draw the cost of noise."""
    results = known(_cells(settings, [topic for topic in TOPICS if settings.wants(topic.title)]))
    if not results:
        print("No run with noise has been made.")
        return
    groups: dict[tuple[str, float, str], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((result["topic"], result["noise"], result["policy"]), []).append(result)
    means = {key: [float(np.mean([share(one, recall) for one in those])) for recall in RECALLS]
             for key, those in groups.items()}  # fmt: skip
    lines = [[topic, f"{rate:.0%}", policy, str(len(groups[topic, rate, policy])), *(f"{one:.2%}" for one in those)]
             for (topic, rate, policy), those in means.items()]  # fmt: skip
    columns = ["topic", "wrong answers", "policy", "runs", *(f"read at {recall:g}" for recall in RECALLS)]
    policies = settings.policies_or(*POLICIES)
    words = "Recall is that of the truly relevant. The protocol is that of the topics: three seeds, batches of 100."
    write_page(
        settings.out / "noise.md",
        [head(settings, "noise", results), words, table(columns, lines), _cost(means, policies), _rivals(means)],
    )
    points = [
        {"method": policy, "data": f"{topic}, recall {recall:g}", "x": rate, "y": those[at]}
        for at, recall in enumerate(RECALLS)
        for (topic, rate, policy), those in means.items()
        if recall != 0.95
    ]
    chart = lines_chart(points, "What wrong answers cost", "share of answers that are wrong", "share read")
    save_both(chart, settings.out / "noise")


def _cost(means: Means, policies: Sequence[str]) -> str:
    """How much more is read than without noise, geometric mean over topics."""
    lines = []
    for policy in policies:
        for rate in RATES[1:]:
            pairs = [(those, means[topic, 0.0, policy]) for (topic, at, name), those in means.items()
                     if at == rate and name == policy and (topic, 0.0, policy) in means]  # fmt: skip
            if pairs:
                each = [interval_words([noisy[at] / clean[at] for noisy, clean in pairs]) for at in range(len(RECALLS))]
                lines.append([policy, f"{rate:.0%}", *each])
    title = "## Read beside the same policy without wrong answers, geometric mean over topics"
    columns = ["policy", "wrong answers", *(f"at {recall:g}" for recall in RECALLS)]
    return f"{title}\n\n{table(columns, lines)}" if lines else ""


def _rivals(means: Means) -> str:
    """The default beside greedy at each share of wrong answers."""
    lines = []
    for rate in RATES:
        pairs = [(those, means[topic, rate, "greedy"]) for (topic, at, name), those in means.items()
                 if at == rate and name == "default" and (topic, rate, "greedy") in means]  # fmt: skip
        if pairs:
            each = [interval_words([mine[at] / theirs[at] for mine, theirs in pairs]) for at in range(len(RECALLS))]
            lines.append([f"{rate:.0%}", *each])
    columns = ["wrong answers", *(f"default / greedy at {recall:g}" for recall in RECALLS)]
    return table(columns, lines) if lines else ""
