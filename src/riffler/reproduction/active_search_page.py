"""The page of the reproduction, in Markdown: every number comes from the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.reproduction.active_search_claims import in_words, mean_ratio, over_topics, ratio, ratios
from riffler.reproduction.active_search_runs import N_SEEDS, RECALLS, Found
from riffler.reproduction.active_search_ways import ABLATIONS, BUDGET, MAIN, READINGS, WEAK, WORDS, Way
from riffler.reproduction.markdown import deviation, table
from riffler.reproduction.verdicts import verdict_table

if TYPE_CHECKING:
    from riffler.reproduction.active_search import ActiveSearchAgain


MAIN_NAMES = tuple(way.name for way in MAIN)


def page(run: ActiveSearchAgain) -> str:
    """Write the whole page."""
    plan, option = run.plan, " --quick" if run.plan.quick else ""
    missing = f" Not here and replaced by made-up documents: {', '.join(run.missing)}." if run.missing else ""
    parts = [
        "# Active search for high recall",
        f"Renders (2017), run again by `riffler reproduce active-search{option}`, one thread; "
        f"{sum(len(runs) for runs in run.results.values()):,} searches that took {run.seconds:,.0f} s. Runs a "
        f"topic: {plan.n_runs} for the table, {plan.n_side_runs} for the other studies, from the seeds 0 on; every "
        f"number but the seconds repeats.{missing}",
        "## What agrees and what does not",
        verdict_table(run.verdicts),
        _how_measured(),
        *_table(run),
        *_documents(run),
        *_budget(run),
        *_others(run),
    ]
    return "\n\n".join(parts) + "\n"


def _how_measured() -> str:
    return (
        "Cells are percentages of the collection read until a recall, the seeds included, ± one standard deviation "
        "over the runs; *ratio* is Thompson's share divided by greedy's, run by run from the same seeds (geometric "
        "mean, 95 % interval by Student's t of the logarithms; for *all* over the topics). A topic counts as less or "
        "more where the interval leaves 1 out. Of fewer than 300 relevant documents all but one make up recall 0.99."
    )


def _table(run: ActiveSearchAgain) -> list[str]:
    sizes = "; ".join(f"{topic} {one.n_relevant:,}" for topic, one in run.problems.items())
    n_items = next(iter(run.problems.values())).n_items
    parts = [
        "## The table",
        f"{n_items:,} documents (the paper: {run.expected['protocol']['items']:,}), of which relevant: {sizes}. "
        f"{N_SEEDS} random relevant documents are known at the start. {_settings(run)}",
    ]
    for place, recall in enumerate(RECALLS):
        parts += [f"### Recall {recall:.2f}", _one_recall(run, place, recall)]
    return [*parts, "![Thompson against greedy](active-search-ratios.svg)", "![Recall](active-search-curves.svg)"]


def _settings(run: ActiveSearchAgain) -> str:
    way = run.plan.ways[1]
    return (
        f"L2 logistic regression (C = 1, all rows weigh the same), refitted after every {way.batch} documents with "
        f"{way.presumed} fresh presumed negatives; γ = {way.gamma}, LDA with {way.n_clusters} topics. "
        "*Thompson* takes the classifier's own probabilities, as the paper does; *calibrated* fits their slope and "
        "offset to the answers (Platt)."
    )


def _one_recall(run: ActiveSearchAgain, place: int, recall: float) -> str:
    found, calibrated, rows = ratios(run, recall), ratios(run, recall, "thompson-calibrated"), []
    for topic in run.plan.topics:
        published = run.expected["table"].get(topic, {"greedy": [math.nan] * 3, "thompson": [math.nan] * 3})
        theirs = [published[name][place] for name in ("greedy", "thompson")]
        greedy, thompson, ours = (_percent(run.runs(topic, name), recall) for name in MAIN_NAMES)
        paper = [_or_dash(value) for value in (*theirs, theirs[1] / theirs[0])]
        rows.append([topic, *paper, greedy, thompson, in_words(found[topic]), ours, in_words(calibrated[topic])])
    known = [
        one["thompson"][place] / one["greedy"][place]
        for topic, one in run.expected["table"].items()
        if topic in found and not math.isnan(one["thompson"][place])
    ]
    published_mean = f"{over_topics(known)[0]:.2f}" if known else "–"
    means = [in_words(mean_ratio(run, recall, name)) for name in MAIN_NAMES[1:]]
    rows.append(["all", "", "", published_mean, "", "", means[0], "", means[1]])
    head = ["topic", "paper: greedy", "paper: Thompson", "paper: ratio", "greedy", "Thompson", "ratio"]
    head += ["calibrated", "its ratio"]
    return table(head, rows)


def _documents(run: ActiveSearchAgain) -> list[str]:
    """The price of exploring is paid in documents, whatever the size of the collection."""
    rows, n_theirs = [], run.expected["protocol"]["items"]
    for topic in run.plan.topics:
        published, cells = run.expected["table"].get(topic), []
        for place, recall in enumerate(RECALLS):
            theirs = math.nan
            if published is not None:
                theirs = (published["thompson"][place] - published["greedy"][place]) / 100 * n_theirs
            cells.append("–" if math.isnan(theirs) else f"{theirs:+,.0f}")
            cells.append(
                f"{_mean_read(run, topic, 'thompson', recall) - _mean_read(run, topic, 'greedy', recall):+,.0f}"
            )
        rows.append([topic, *cells])
    head = [f"{whose} {recall:.2f}" for recall in RECALLS for whose in ("paper:", "here:")]
    return [
        "### In documents",
        "How many documents more than greedy Thompson sampling reads until a recall, on average.",
        table(["topic", *head], rows),
    ]


def _mean_read(run: ActiveSearchAgain, topic: str, name: str, recall: float) -> float:
    """Documents read until a recall, on average; of a run that was given up, until it ended."""
    return float(np.mean([min(one.share_at(recall) * one.n_items, one.n_read) for one in run.runs(topic, name)]))


def _budget(run: ActiveSearchAgain) -> list[str]:
    rows = []
    for topic in run.plan.topics:
        cells = []
        for name in ("greedy", "thompson"):
            runs = run.runs(topic, name)
            recalls = [one.recall_at(BUDGET) for one in runs]
            late = sum(one.share_at(RECALLS[-1]) > BUDGET for one in runs)
            cells += [f"{np.mean(recalls):.4f} ± {deviation(recalls):.4f}", f"{late} of {len(runs)}"]
        rows.append([topic, *cells])
    head = ["topic", "greedy: recall", "greedy: 0.99 beyond", "Thompson: recall", "Thompson: 0.99 beyond"]
    return [
        f"## At the budget of {BUDGET:.0%}",
        f"Recall when {BUDGET:.0%} of the collection are read, where the paper stops, and how many runs reach recall "
        "0.99 only beyond that. Those go on until they do, so that the means above are not cut short.",
        table(head, rows),
    ]


def _others(run: ActiveSearchAgain) -> list[str]:
    studies = (
        ("Ablations", "The paper's method with one thing changed.", ABLATIONS),
        ("Weaker methods", "Those that the paper mentions without numbers.", WEAK),
        (
            "What the paper leaves open",
            "It gives neither the size of a batch nor the number of temporary negatives.",
            READINGS,
        ),
    )
    parts: list[str] = []
    for title, words, ways in studies:
        ran = [way for name in [one.name for one in ways] if (way := run.way(name)) is not None]
        if ran:
            parts += [f"## {title}", f"{words} Runs a topic: {run.plan.n_side_runs}.", _side_table(run, ran)]
    return parts


def _side_table(run: ActiveSearchAgain, ways: Sequence[Way]) -> str:
    """Compare some ways with the two of the table, on the same runs."""
    rows, n = [], run.plan.n_side_runs
    for topic in run.plan.side_topics:
        greedy = run.runs(topic, "greedy")[:n]
        ran = [way for way in ways if run.runs(topic, way.name)]
        for way in (*run.plan.ways[:2], *ran) if ran else ():
            runs = run.runs(topic, way.name)[:n]
            late = RECALLS[-1]
            # against itself a way has no ratio
            beside = "" if way.name == "greedy" else in_words(ratio(runs, greedy, late))
            if any(math.isinf(one.share_at(late)) for one in runs):
                beside = f"> {ratio(runs, greedy, late)[0]:.2f}"
            cells = [_percent(runs, recall) for recall in RECALLS]
            at_budget = f"{np.mean([one.recall_at(BUDGET) for one in runs]):.4f}"
            rows.append([topic, way.name, WORDS[way.name], *cells, beside, at_budget])
    recalls = [f"recall {recall:.2f}" for recall in RECALLS]
    return table(["topic", "way", "what it is", *recalls, "ratio to greedy at 0.99", "recall at the budget"], rows)


def _percent(runs: Sequence[Found], recall: float) -> str:
    """Mean percentage and its deviation; where a run was given up before, at least how much."""
    shares = [100 * one.share_at(recall) for one in runs]
    if not all(math.isfinite(share) for share in shares):
        least = np.mean([min(share, 100 * one.n_read / one.n_items) for share, one in zip(shares, runs, strict=True)])
        return f"> {least:.2f}"
    return f"{np.mean(shares):.2f} ± {deviation(shares):.2f}"


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
