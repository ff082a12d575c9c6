"""What the runs say about each claim of the paper: agrees, does not, or only in part, with the numbers.

What two ways need is compared by the ratio of the shares read, run by run from the same seeds; its mean (geometric) and
95 % interval are those of the logarithms. A topic speaks for or against a claim when the interval leaves 1 out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.reproduction.active_at_k_cases import paired
from riffler.reproduction.active_search_runs import RECALLS, Found
from riffler.reproduction.active_search_ways import BUDGET
from riffler.reproduction.verdicts import Verdict, word, word_of_differences

if TYPE_CHECKING:
    from riffler.reproduction.active_search import ActiveSearchAgain

Ratio = tuple[float, float, float]
"""Geometric mean of ratios, and its 95 % interval."""

CLEARLY = 0.77
"""Largest ratio at recall 0.99 in the paper's table: 23 % less."""

NOT_RUN = ("not shown", "Not run.")


def verdicts(run: ActiveSearchAgain) -> list[Verdict]:
    """Judge every claim of the table of what is expected."""
    judged = {
        "early": _order(run, 0.9, greedy_first=True),
        "middle": _order(run, 0.95, greedy_first=False),
        "late": _late(run),
        "budget": _budget(run),
        "mmr": _mmr(run),
        "weights": _weights(run),
        "tuned": _tuned(run),
    }
    return [Verdict(one["name"], one["text"], one["source"], *judged[one["name"]]) for one in run.expected["claims"]]


def ratio(one: Sequence[Found], other: Sequence[Found], recall: float) -> Ratio:
    """Compare what two ways read until a recall; the runs that both have, from the same seeds.

    A run that was given up counts as if it had got there when it ended, so the ratio is then only a bound.
    """
    logs = [[math.log(min(run.share_at(recall), run.n_read / run.n_items)) for run in runs] for runs in (one, other)]
    n = min(len(one), len(other))
    mean, low, high = paired(logs[0][:n], logs[1][:n])
    if n < 2:  # one run shows nothing
        return math.exp(mean), 0.0, math.inf
    return math.exp(mean), math.exp(low), math.exp(high)


def ratios(run: ActiveSearchAgain, recall: float, name: str = "thompson") -> dict[str, Ratio]:
    """Thompson sampling against greedy, topic by topic."""
    return {topic: ratio(run.runs(topic, name), run.runs(topic, "greedy"), recall) for topic in run.plan.topics}


def over_topics(values: Sequence[float]) -> Ratio:
    """Geometric mean of the topics' ratios, and its 95 % interval over the topics.

    >>> [round(value, 2) for value in over_topics([0.8, 0.9, 1.0])]
    [0.9, 0.68, 1.18]
    """
    mean, low, high = paired(np.log(values).tolist(), [0.0] * len(values))
    return math.exp(mean), math.exp(low), math.exp(high)


def mean_ratio(run: ActiveSearchAgain, recall: float, name: str = "thompson") -> Ratio:
    """Thompson sampling against greedy over all topics."""
    return over_topics([mean for mean, _, _ in ratios(run, recall, name).values()])


def in_words(found: Ratio) -> str:
    """Write a ratio with its interval.

    >>> in_words((0.9, 0.85, 0.95)), in_words((0.9, 0.0, math.inf))
    ('0.90 (0.85 to 0.95)', '0.90')
    """
    if math.isinf(found[2]):
        return f"{found[0]:.2f}"
    return f"{found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f})"


def _order(run: ActiveSearchAgain, recall: float, *, greedy_first: bool) -> tuple[str, str]:
    """Count the topics on which one of the two ways needs less."""
    found = ratios(run, recall)
    above = [topic for topic, (_, low, _) in found.items() if low > 1]
    below = [topic for topic, (_, _, high) in found.items() if high < 1]
    n_for, n_against = (len(above), len(below)) if greedy_first else (len(below), len(above))
    return word_of_differences(n_for, n_against, len(found)), (
        f"Thompson reads {in_words(mean_ratio(run, recall))} times what greedy reads, over {len(found)} topics; less "
        f"on {_names(below)}, more on {_names(above)}, no difference shown on the others. {_calibrated(run, recall)}"
    )


def _calibrated(run: ActiveSearchAgain, recall: float) -> str:
    return f"With calibrated chances: {in_words(mean_ratio(run, recall, 'thompson-calibrated'))}."


def _late(run: ActiveSearchAgain) -> tuple[str, str]:
    """Agrees only where the saving is as large as published, not merely there."""
    found = ratios(run, RECALLS[-1])
    clearly = [topic for topic, (mean, _, high) in found.items() if mean <= CLEARLY and high < 1]
    less = [topic for topic, (_, _, high) in found.items() if high < 1]
    more = [topic for topic, (_, low, _) in found.items() if low > 1]
    table = run.expected["table"]
    published = [
        table[topic]["thompson"][-1] / table[topic]["greedy"][-1]
        for topic in found
        if topic in table and not math.isnan(table[topic]["thompson"][-1])
    ]
    beside = f" (the paper: {over_topics(published)[0]:.2f})" if published else ""
    return word(len(clearly), len(found)), (
        f"Thompson reads {in_words(mean_ratio(run, RECALLS[-1]))} times what greedy reads{beside}; at least 23 % "
        f"less on {_names(clearly)}, less at all on {_names(less)}, more on {_names(more)}. "
        f"{_calibrated(run, RECALLS[-1])}"
    )


def _budget(run: ActiveSearchAgain) -> tuple[str, str]:
    words, n_good, n_all = [], 0, 0
    for name in ("greedy", "thompson"):
        all_runs = [one for topic in run.plan.topics for one in run.runs(topic, name)]
        good = sum(one.share_at(RECALLS[-1]) <= BUDGET for one in all_runs)
        n_good, n_all = n_good + good, n_all + len(all_runs)
        least = min(all_runs, key=lambda one: one.recall_at(BUDGET))
        words.append(
            f"{name}: {good} of {len(all_runs)} runs, least recall at the budget {least.recall_at(BUDGET):.4f}"
        )
    return word(n_good, n_all), f"{'; '.join(words)}.".capitalize()


def _mmr(run: ActiveSearchAgain) -> tuple[str, str]:
    """Worse: more to read until the last recall, whatever the weight of being unlike."""
    n_for, n_against, n_all, words = 0, 0, 0, []
    for name in ("mmr", "mmr-0.95"):
        found = _beside(run, name, "thompson", RECALLS[-1])
        n_for += sum(low > 1 for _, low, _ in found.values())
        n_against += sum(high < 1 for _, _, high in found.values())
        n_all += len(found)
        if found:
            words.append(f"{name} reads {_by_topic(found)} times what Thompson reads")
    if not words:
        return NOT_RUN
    return word_of_differences(n_for, n_against, n_all), f"At recall 0.99 {'; '.join(words)}."


def _weights(run: ActiveSearchAgain) -> tuple[str, str]:
    """Weak: the budget is spent before recall 0.99, or much more is read than by greedy."""
    found = {topic: run.runs(topic, "weight-thompson") for topic in run.plan.side_topics}
    all_runs = [one for runs in found.values() for one in runs]
    if not all_runs:
        return NOT_RUN
    beyond = sum(one.share_at(RECALLS[-1]) > BUDGET for one in all_runs)
    recalls = [one.recall_at(BUDGET) for one in all_runs]
    shares = [one.share_at(RECALLS[0]) for one in all_runs]
    reached = f"recall 0.90 after {min(shares):.1%} to {max(shares):.1%}" if max(shares) < 1 else "not even recall 0.90"
    return word(beyond, len(all_runs)), (
        f"{beyond} of {len(all_runs)} runs have not reached recall 0.99 at the budget (recall there {min(recalls):.3f} "
        f"to {max(recalls):.3f}; {reached})."
    )


def _tuned(run: ActiveSearchAgain) -> tuple[str, str]:
    """On the topic that the paper tuned on: does any other value need less at the last recall?"""
    topic = run.plan.side_topics[0]
    found = {
        name: ratio(runs, run.runs(topic, "thompson"), RECALLS[-1])
        for name in ("thompson-gamma-1", "thompson-50", "thompson-100")
        if (runs := run.runs(topic, name))
    }
    if not found:
        return NOT_RUN
    n_for, n_against = sum(low > 1 for _, low, _ in found.values()), sum(high < 1 for _, _, high in found.values())
    parts = [f"{name} {in_words(one)}" for name, one in found.items()]
    return word_of_differences(n_for, n_against, len(found)), (
        f"{topic}, recall 0.99, times what the paper's values read: {', '.join(parts)}."
    )


def _beside(run: ActiveSearchAgain, name: str, other: str, recall: float) -> dict[str, Ratio]:
    topics = [topic for topic in run.plan.side_topics if run.runs(topic, name)]
    return {topic: ratio(run.runs(topic, name), run.runs(topic, other), recall) for topic in topics}


def _by_topic(found: dict[str, Ratio]) -> str:
    return ", ".join(f"{in_words(one)} on {topic}" for topic, one in found.items())


def _names(topics: Sequence[str]) -> str:
    return ", ".join(topics) or "none"
