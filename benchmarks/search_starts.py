"""Bad starts: one relevant item that is like none of the others, or nothing but a sentence.

Topics of a random part of 8,000 items. A run starts from one of the three relevant items that are least like the other
relevant ones (lowest mean cosine), or from a description that is not much more than the topic's name. It goes on, one
label a step, until half of everything relevant is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from search_report import geometric_mean, head, save_both, write_page
from search_runs import Cell, Course, Settings, known, run, run_missing
from search_topic_sets import DEBIAN, NEWSGROUPS, REUTERS, Topic, part_of, present

from riffler.evaluation.charts import Chart
from riffler.evaluation.search_problem import Problem
from riffler.records import IntArray
from riffler.reproduction.markdown import table

POLICIES = ("default", "greedy")
N_ITEMS, MOST = 8_000, 4_000
FIRST = 10  # found items that make a start
TRAPPED = 400  # labels without so many finds that count as a trap
STARTS = ("odd 1", "odd 2", "odd 3", "sentence")
NAMES = (
    "crude",
    "interest",
    "ship",
    "sci.space",
    "rec.motorcycles",
    "misc.forsale",
    "section::games",
    "use::converting",
)
TOPICS = tuple(topic for topic in (*REUTERS, *NEWSGROUPS, *DEBIAN) if topic.name in NAMES)


def make(settings: Settings) -> None:
    """Make the runs that are not there."""
    run_missing(_cells(settings, [topic for topic in present(TOPICS) if settings.wants(topic.title)]), settings.jobs)


def _cells(settings: Settings, topics: Sequence[Topic]) -> list[Cell]:
    policies = settings.policies_or(*POLICIES)
    return [cell_of(settings, topic, start, policy) for topic in topics for start in STARTS for policy in policies]


def cell_of(settings: Settings, topic: Topic, start: str, policy: str) -> Cell:
    """The run of a policy for a topic from one start."""
    name = f"{topic.title}-{start}-{policy}.json".replace(" ", "-").replace("::", "-")
    facts = {"topic": topic.title, "start": start, "policy": policy, "seed": 0}
    return Cell(settings.out / "starts" / name, facts, partial(_run, topic, start, policy))


def _run(topic: Topic, start: str, policy: str) -> dict[str, Any]:
    problem = part_of(topic, N_ITEMS)
    from_words = start == "sentence"
    relevant = [] if from_words else [int(least_alike(problem, len(STARTS) - 1)[STARTS.index(start)])]
    course = Course(
        problem.collection, problem.labels, problem.features, policy, 0, (problem.n_relevant + 1) // 2,
        relevant=relevant, most=MOST, description=topic.words if from_words else None,
    )  # fmt: skip
    return run(course)


def least_alike(problem: Problem, n: int) -> IntArray:
    """Relevant items of the lowest mean cosine to the other relevant ones, the lowest first; none without features."""
    rows = np.flatnonzero(problem.labels == 1)
    X = problem.features[rows]  # rows of length 1
    alike = np.asarray(X @ np.asarray(X.sum(axis=0)).ravel()).ravel()
    alike[np.diff(X.indptr) == 0] = np.inf
    least: IntArray = rows[np.argsort(alike, kind="stable")[:n]]
    return least


def report(settings: Settings) -> None:
    """Write the tables and draw where each start led."""
    results = known(_cells(settings, [topic for topic in TOPICS if settings.wants(topic.title)]))
    if not results:
        print("No start has been run.")
        return
    policies = [policy for policy in settings.policies_or(*POLICIES) if any(one["policy"] == policy for one in results)]
    found = {(one["topic"], one["start"], one["policy"]): one for one in results}
    places = list(dict.fromkeys((topic, start) for topic, start, _ in found))
    lines = []
    for topic, start in places:
        those = [found.get((topic, start, policy)) for policy in policies]
        relevant = next(one["n_relevant"] for one in those if one is not None)
        cells = [_words(one, n) for n in (FIRST, relevant // 2 + relevant % 2) for one in those]
        lines.append([topic, f"{relevant:,}", start, *cells])
    columns = [f"labels to {FIRST}: {policy}" for policy in policies] + [f"to half: {policy}" for policy in policies]
    parts = [head(settings, "starts", results), READING, table(["topic", "relevant", "start", *columns], lines)]
    write_page(settings.out / "starts.md", [*parts, _summary(found, places, policies)])
    save_both(_chart(results, policies), settings.out / "starts")


READING = f"""Among {N_ITEMS:,} items; one label a step; the item known from the start counts as a label and as found.
“> n” means that the run ended before, after {MOST:,} labels. “odd 1” is the relevant item least like the others."""


def _labels_to(result: Mapping[str, Any], n: int) -> int | None:
    """Labels until n relevant items were found, None if they never were."""
    return int(result["places"][n - 1]) if len(result["places"]) >= n else None


def _words(result: Mapping[str, Any] | None, n: int) -> str:
    if result is None:
        return ""
    labels = _labels_to(result, n)
    return f"> {result['n_labels']:,}" if labels is None else f"{labels:,}"


def _summary(
    found: Mapping[tuple[str, str, str], Mapping[str, Any]], places: Sequence[tuple[str, str]], policies: Sequence[str]
) -> str:
    """Mean and worst of each policy over the starts that all of them have; a run that ended early counts as its end."""
    whole = [place for place in places if all((*place, policy) in found for policy in policies)]
    lines = []
    for policy in policies:
        runs = [found[(*place, policy)] for place in whole]
        first = [_labels_to(one, FIRST) or int(one["n_labels"]) for one in runs]
        half = [int(one["n_labels"]) for one in runs]
        trapped = sum(_labels_to(one, FIRST) is None or one["places"][FIRST - 1] > TRAPPED for one in runs)
        lines.append([policy, str(len(runs)), f"{geometric_mean(first):,.0f}", f"{max(first):,}", str(trapped),
                      f"{geometric_mean(half):,.0f}", f"{max(half):,}"])  # fmt: skip
    columns = ["policy", "starts", f"labels to {FIRST}, geometric mean", "worst", f"not within {TRAPPED} labels",
               "labels to half, geometric mean", "worst"]  # fmt: skip
    return "## All starts\n\n" + table(columns, lines)


def _chart(results: Sequence[Mapping[str, Any]], policies: Sequence[str]) -> Chart:
    """Draw labels until the first ten, a row a topic, a mark a start."""
    import altair as alt
    import polars as pl

    from riffler.evaluation.charts import method_colour, styled

    rows = [{"method": one["policy"], "topic": one["topic"], "start": one["start"].split()[0],
             "labels": _labels_to(one, FIRST) or one["n_labels"]} for one in results]  # fmt: skip
    chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(size=70, strokeWidth=2)
        .encode(
            x=alt.X("labels:Q", title=f"labels until {FIRST} are found")
            .scale(type="log", nice=False, padding=12)
            .axis(format="~s"),
            y=alt.Y("topic:N", title=None, sort=[topic.title for topic in TOPICS]),
            yOffset=alt.YOffset("method:N", sort=list(policies)),
            color=method_colour(list(policies)),
            shape=alt.Shape("start:N", title="start", sort=["odd", "sentence"]),
            tooltip=["topic:N", "method:N", "start:N", "labels:Q"],
        )
        .properties(width=560, height=len({row["topic"] for row in rows}) * (14 + 14 * len(policies)))
    )
    return styled(chart, "Bad starts: further left is better")
