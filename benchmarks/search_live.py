"""Stopping rules in live reviews: those that need more than recorded answers, and ours as a check of the replays.

Quant reads the classifier's probabilities at every look, and with `open-control` the policy learns from control
documents at once: neither can be replayed over a recorded order. `control` is run live beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from search_report import head, write_page
from search_runs import SEARCH, Cell, Settings, known, run_missing
from search_sets import SETS, ReviewSet, review_of

from riffler import datasets
from riffler.evaluation.stopping_replay import Outcome, summarise, usual_batch
from riffler.reproduction.markdown import table
from riffler.search.loop import ActiveSearch

RULES = ("control", "open-control", "quant", "quant-ci")
TARGETS, CONFIDENCE = (0.8, 0.95), 0.95


def make(settings: Settings) -> None:
    """Make the reviews that are not there."""
    run_missing(_cells(settings), settings.jobs)


def _cells(settings: Settings) -> list[Cell]:
    here = set(datasets.present())
    return [
        _cell(settings, one, seed, rule, target)
        for one in SETS
        if settings.wants(one.title) and one.name in here
        for seed in range(settings.runs_more)
        for rule in RULES
        for target in TARGETS
    ]


def _cell(settings: Settings, one: ReviewSet, seed: int, rule: str, target: float) -> Cell:
    facts = {"set": one.title, "seed": seed, "rule": rule, "target": target}
    path = settings.out / "live" / f"{one.title}-{rule}-{target:g}-{seed}.json"
    return Cell(path, facts, partial(_run, one, seed, rule, target), (*SEARCH, "stopping"))


def _run(one: ReviewSet, seed: int, rule: str, target: float) -> dict[str, Any]:
    """Review until the rule says stop; it looks after every half percent."""
    review = review_of(one, seed)
    ids, labels = review.collection.ids, review.labels
    row_of = {name: row for row, name in enumerate(ids)}
    search = ActiveSearch(
        review.collection,
        stopping=rule,
        relevant=[ids[review.relevant_prior]],
        irrelevant=[ids[review.irrelevant_prior]],
        target=target,
        confidence=CONFIDENCE,
        seed=seed,
    )
    n = usual_batch(len(ids))
    while not (decision := search.estimate()).stop and (asked := search.suggest(n)):
        search.answer(asked, [int(labels[row_of[name]]) for name in asked])
    progress = search.progress()
    return {
        "n_items": progress.n_items,
        "n_relevant": review.n_relevant,
        "n_labels": progress.n_reviewed,
        "n_found": progress.n_relevant,
        "n_control": progress.n_control,
        "certified": decision.stop and decision.certificate,
    }


def report(settings: Settings) -> None:
    """Write the table."""
    found = known(_cells(settings))
    if not found:
        print("No review has been made.")
        return
    lines = [_line(rule, target, found) for target in TARGETS for rule in RULES]
    columns = ["target", "rule", "reviews", "below the target", "mean recall", "lowest", "mean share read",
               "read everything", "with a proof"]  # fmt: skip
    write_page(settings.out / "live.md", [head(settings, "live", found), table(columns, lines)])


def _line(rule: str, target: float, found: Sequence[dict[str, Any]]) -> list[str]:
    those = [one for one in found if one["rule"] == rule and one["target"] == target]
    outcomes = [
        Outcome(one["n_found"] / one["n_relevant"], one["n_labels"], one["n_labels"] < one["n_items"], one["certified"])
        for one in those
    ]
    sizes = [one["n_items"] for one in those]
    row = summarise(rule, target, outcomes, sizes, sizes, CONFIDENCE)
    return [f"{target:g}", rule, str(row.n_reviews), str(row.n_short), f"{row.recall:.3f}", f"{row.lowest_recall:.3f}",
            f"{row.share:.1%}", str(row.n_all), str(row.n_certified)]  # fmt: skip
