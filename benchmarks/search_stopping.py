"""Stopping rules over recorded reviews of real collections: how often they fall short, and what they cost.

The orders are those of one policy, run until everything relevant was found: the reviews of the part "reviews", further
reviews of Cohen and of CLEF, and topics of news and newsgroups. Rules are replayed over them; nothing is trained again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import search_reviews
from search_report import geometric_mean, head, interval_words, ratio_chart, save_both, write_page, yes_or_no
from search_runs import Cell, Course, Settings, known, run, run_missing
from search_sets import SETS, ReviewSet
from search_topic_sets import NEWSGROUPS, RCV1, REUTERS, Topic, present, problem_of, relevant_start

from riffler import datasets
from riffler.evaluation.search_charts import stopping_chart
from riffler.evaluation.search_measures import n_needed
from riffler.evaluation.stopping_replay import (
    REPLAYED,
    Outcome,
    RecordedOrder,
    RuleSummary,
    replay_order,
    summarise,
    usual_batch,
)
from riffler.reproduction.markdown import table

TARGETS, CONFIDENCE = (0.8, 0.9, 0.95), 0.95
OURS, RIVALS = "control", ("qbcb", "hypergeometric-random")
MANY = 200  # relevant items from which costs are compared
RULES = ("stopping",)  # code that a replay is made of
LEVEL = 0.01  # at which "short in at most 5 %" is tested
COHEN = ("ADHD", "Antihistamines", "BetaBlockers", "Estrogens", "NSAIDS", "Opiods", "OralHypoglycemics",
         "ProtonPumpInhibitors", "SkeletalMuscleRelaxants", "Triptans", "UrinaryIncontinence")  # fmt: skip
CLEF = ("CD008081", "CD008760", "CD009135", "CD010023", "CD010705")
MORE = (
    *(ReviewSet(f"cohen-{name}", "cohen2006", "review", name) for name in COHEN),
    *(ReviewSet(f"clef-{name}", "clef-tar-2017", "topic", name) for name in CLEF),
)
TOPICS = tuple(topic for topic in (*RCV1, *REUTERS, *NEWSGROUPS) if topic.name not in ("E14", "E31"))  # those are small
Found = dict[str, list[dict[str, Any]]]  # replays by collection


def make(settings: Settings) -> None:
    """Make the runs that are not there, then replay every rule over each."""
    orders = order_cells(settings, check=True)
    run_missing([cell for cells in orders.values() for cell in cells], settings.jobs)
    run_missing([cell for cells in _replays(settings, orders).values() for cell in cells], settings.jobs)


def policy_of(settings: Settings) -> str:
    """The policy whose orders are recorded."""
    return settings.policies_or("default")[0]


def order_cells(settings: Settings, *, check: bool = False) -> dict[str, list[Cell]]:
    """The runs of every collection; with ``check`` only of those whose data are on this machine."""
    policy, here = policy_of(settings), set(datasets.present())
    cells: dict[str, list[Cell]] = {}
    for one in (*SETS, *MORE):
        if settings.wants(one.title) and (one.name in here or not check):
            own = search_reviews.cell_of if one in SETS else _review_cell
            cells[one.title] = [own(settings.out, one, seed, policy) for seed in range(settings.runs)]
    for topic in present(TOPICS) if check else TOPICS:
        if settings.wants(topic.title):
            n_runs = min(settings.runs, settings.runs_more)
            cells[topic.title] = [_topic_cell(settings.out, topic, seed, policy) for seed in range(n_runs)]
    return cells


def _review_cell(out: Path, one: ReviewSet, seed: int, policy: str) -> Cell:
    """A run like those of the part "reviews", of a set that ASReview was not run on."""
    cell = search_reviews.cell_of(out, one, seed, policy)
    return Cell(out / "stopping" / "orders" / cell.path.name, cell.facts, cell.make)


def _topic_cell(out: Path, topic: Topic, seed: int, policy: str) -> Cell:
    name = f"{topic.title}-{policy}-{seed}.json".replace(" ", "-")
    facts = {"set": topic.title, "policy": policy, "seed": seed}
    return Cell(out / "stopping" / "orders" / name, facts, partial(_run_topic, topic, seed, policy))


def _run_topic(topic: Topic, seed: int, policy: str) -> dict[str, Any]:
    """Everything relevant of a topic, from one relevant item, in the batches between two looks of a rule."""
    problem = problem_of(topic)
    course = Course(
        problem.collection, problem.labels, problem.features, policy, seed, problem.n_relevant,
        relevant=relevant_start(problem, seed, 1), batch=usual_batch(problem.n_items),
    )  # fmt: skip
    return run(course)


def _replays(settings: Settings, orders: Mapping[str, Sequence[Cell]]) -> dict[str, list[Cell]]:
    """One cell for each order that is there: the outcome of every rule at every target."""
    cells: dict[str, list[Cell]] = {}
    for title, those in orders.items():
        for cell in those:
            if (order := cell.read()) is not None:
                path = settings.out / "stopping" / "replays" / cell.path.name
                facts = {"set": title, "policy": order["policy"], "seed": order["seed"], "n_items": order["n_items"],
                         "n_relevant": order["n_relevant"], "code_of_order": order["code"]}  # fmt: skip
                cells.setdefault(title, []).append(Cell(path, facts, partial(_replay, title, order), RULES))
    return cells


def _replay(title: str, order: Mapping[str, Any]) -> dict[str, Any]:
    # collections of one size would share their control documents if they shared a seed
    seed = int.from_bytes(sha256(f"{title}/{order['seed']}".encode()).digest()[:4])
    labels = np.zeros(order["n_items"], dtype=np.int8)
    labels[np.array(order["places"]) - 1] = 1
    recorded = RecordedOrder(labels, order["n_prior"], seed)
    outcomes = {}
    for rule in REPLAYED:
        for target in TARGETS:
            one = replay_order(recorded, rule, target, CONFIDENCE)
            outcomes[f"{rule} {target}"] = [one.recall, one.cost, one.stopped, one.certified]
    return {"places": order["places"], "outcomes": outcomes}


def report(settings: Settings) -> None:
    """Write the tables and draw where the rules end."""
    cells = _replays(settings, order_cells(settings))
    found = {title: results for title, those in cells.items() if (results := known(those))}
    if not found:
        print("No rule has been replayed.")
        return
    results = [one for those in found.values() for one in those]
    rows = {target: [_summary(results, rule, target) for rule in REPLAYED] for target in TARGETS}
    n_small = sum(those[0]["n_relevant"] < MANY for those in found.values())
    counts = (
        f"{len(results):,} reviews of {len(found)} collections, {len(found) - n_small} of them with at least {MANY} "
        f"relevant items; orders of the policy {policy_of(settings)!r}; confidence {CONFIDENCE:.0%}. "
        "Reviews of one collection differ in their start and random draws only; the test takes them for independent."
    )
    stamped = [{**one, "code": f"{one['code_of_order']}, of the rules {one['code']}"} for one in results]
    parts = [head(settings, "stopping", stamped), counts]
    parts += [_reliability(target, rows[target]) for target in TARGETS]
    parts += [_goals(found, rows), *(_costs(found, target) for target in TARGETS), _collections(found)]
    write_page(settings.out / "stopping.md", parts)
    for target in TARGETS:
        chart = stopping_chart({policy_of(settings): rows[target]}, target)
        save_both(chart, settings.out / f"stopping-{target * 100:.0f}")
    points = [{"method": rival, "data": title, "level": f"target {target:g}", "ratio": ratio}
              for target in TARGETS for rival in RIVALS
              for title, ratio in _ratios(found, rival, target).items()]  # fmt: skip
    if points:
        chart = ratio_chart(
            points, f"Cost of {OURS} beside other certificates: left of 1 is cheaper", "cost / cost of the other"
        )
        save_both(chart, settings.out / "stopping-costs")


def _outcome(result: Mapping[str, Any], rule: str, target: float) -> Outcome:
    return Outcome(*result["outcomes"][f"{rule} {target}"])


def _summary(results: Sequence[Mapping[str, Any]], rule: str, target: float) -> RuleSummary:
    outcomes = [_outcome(one, rule, target) for one in results]
    needed = [int(one["places"][n_needed(target, one["n_relevant"]) - 1]) for one in results]
    return summarise(rule, target, outcomes, [one["n_items"] for one in results], needed, CONFIDENCE)


def _reliability(target: float, rows: Sequence[RuleSummary]) -> str:
    lines = [
        [row.rule, f"{row.n_reviews:,}", f"{row.n_short} ({row.n_short / row.n_reviews:.1%})", f"{row.p_value:.3g}",
         f"{row.recall:.3f}", f"{row.lowest_recall:.3f}", f"{row.share:.1%}", f"{row.cost:,.0f}", f"{row.n_all:,}",
         f"{row.n_certified:,}"]
        for row in sorted(rows, key=lambda row: row.share)
    ]  # fmt: skip
    columns = ["rule", "reviews", "below the target", "p of “at most 5 %”", "mean recall", "lowest", "mean share read",
               "mean cost", "read everything", "with a proof"]  # fmt: skip
    needed = f"The orders themselves reach it after {rows[0].share_needed:.1%} on average."
    return f"## Target {target:.0%}\n\n{needed}\n\n{table(columns, lines)}"


def _many(found: Found) -> Found:
    return {title: results for title, results in found.items() if results[0]["n_relevant"] >= MANY}


def _cost(results: Sequence[Mapping[str, Any]], rule: str, target: float) -> float:
    return float(np.mean([_outcome(one, rule, target).cost for one in results]))


def _ratios(found: Found, rival: str, target: float) -> dict[str, float]:
    """Mean cost of ours over that of a rival, for each collection with many relevant items."""
    return {title: _cost(results, OURS, target) / _cost(results, rival, target)
            for title, results in _many(found).items()}  # fmt: skip


def _costs(found: Found, target: float) -> str:
    """Costs where much is relevant; reading everything costs everything, and is a comparison lost."""
    lines = []
    for title, results in _many(found).items():
        n_items = results[0]["n_items"]
        costs = [_cost_words(results, rule, target) for rule in (OURS, *RIVALS)]
        ratios = [f"{_ratios({title: results}, rival, target)[title]:.3f}" for rival in RIVALS]
        lines.append([title, f"{n_items:,}", f"{results[0]['n_relevant']:,}", str(len(results)), *costs, *ratios])
    if not lines:
        return ""
    means = [interval_words(list(_ratios(found, rival, target).values())) for rival in RIVALS]
    won = [_won(found, rival, target) for rival in RIVALS]
    lines.append(["**geometric mean**", "", "", "", "", "", "", *means])
    lines.append(["**reviews won**", "", "", "", "", "", "", *won])
    columns = ["collection", "items", "relevant", "reviews", *(OURS, *RIVALS), *(f"to {rival}" for rival in RIVALS)]
    words = "Mean cost; in brackets the reviews that read everything, each of which is lost whatever the others did."
    return f"## Cost at target {target:.0%}, at least {MANY} relevant\n\n{words}\n\n{table(columns, lines)}"


def _cost_words(results: Sequence[Mapping[str, Any]], rule: str, target: float) -> str:
    n_all = sum(not _outcome(one, rule, target).stopped for one in results)
    return f"{_cost(results, rule, target):,.0f}" + (f" ({n_all})" if n_all else "")


def _won(found: Found, rival: str, target: float) -> str:
    """Reviews in which ours stopped before the end and cost less."""
    pairs = [
        (_outcome(one, OURS, target), _outcome(one, rival, target)) for those in _many(found).values() for one in those
    ]
    won = sum(ours.stopped and ours.cost < theirs.cost for ours, theirs in pairs)
    even = sum(ours.stopped and ours.cost == theirs.cost for ours, theirs in pairs)
    return f"{won} of {len(pairs)}" + (f", {even} even" if even else "")


def _goals(found: Found, rows: Mapping[float, Sequence[RuleSummary]]) -> str:
    n_reviews = sum(map(len, found.values()))
    lines = [
        ["reviews", "at least 200", f"{n_reviews:,}", yes_or_no(n_reviews >= 200)],
        ["collections", "at least 20", f"{len(found)}", yes_or_no(len(found) >= 20)],
    ]
    for target in TARGETS:
        row = next(row for row in rows[target] if row.rule == OURS)
        lines.append([f"{OURS} at {target:g}: short in at most 5 %", f"p at least {LEVEL:g}",
                      f"{row.n_short} short, p = {row.p_value:.3g}", yes_or_no(row.p_value >= LEVEL)])  # fmt: skip
        for rival in RIVALS:
            ratios = list(_ratios(found, rival, target).values())
            if ratios:
                mean = geometric_mean(ratios)
                lines.append([f"{OURS} at {target:g}: cost beside {rival}", "below 1", interval_words(ratios),
                              yes_or_no(mean < 1)])  # fmt: skip
    return "## Goals\n\n" + table(["goal", "wanted", "found", "reached"], lines)


def _collections(found: Found) -> str:
    lines = [[title, f"{those[0]['n_items']:,}", f"{those[0]['n_relevant']:,}", str(len(those))]
             for title, those in found.items()]  # fmt: skip
    return "## The collections\n\n" + table(["collection", "items", "relevant", "reviews"], lines)
