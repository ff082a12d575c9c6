"""Our search and ASReview on twelve reviews: the same priors, one label a step, learning after every label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from search_peers import cached_run, facts_of
from search_report import geometric_mean, head, interval_words, ratio_chart, save_both, write_page, yes_or_no
from search_runs import Cell, Course, Settings, known, run, run_missing
from search_sets import RECALLS, SETS, Review, ReviewSet, review_of

from riffler import datasets
from riffler.evaluation.search_measures import n_needed
from riffler.evaluation.search_problem import text_features
from riffler.records import Matrix
from riffler.reproduction.markdown import table

POLICIES = ("default", "greedy")
SHOWN = (0.95, 1.0)
Results = dict[int, dict[str, Any]]  # by seed


def make(settings: Settings) -> None:
    """Make the runs that are not there, seed 0 of every set first."""
    policies = settings.policies_or(*POLICIES)
    sets = sets_here(settings)
    run_missing([cell_of(settings.out, one, seed, policy)
                 for seed in range(settings.runs) for one in sets for policy in policies], settings.jobs)  # fmt: skip


def sets_here(settings: Settings) -> list[ReviewSet]:
    """The sets that are asked for and on this machine."""
    here = set(datasets.present())
    for one in SETS:
        if one.name not in here:
            print(f"{one.title}: left out, as {one.name} is not in the folder that RIFFLER_DATA names.")
    return [one for one in SETS if one.name in here and settings.wants(one.title)]


def cell_of(out: Path, one: ReviewSet, seed: int, policy: str) -> Cell:
    """The run of a policy on a set."""
    path = out / "reviews" / f"{one.title}-{policy}-{seed}.json"
    return Cell(path, {"set": one.title, "policy": policy, "seed": seed}, partial(_run, one, seed, policy))


def _run(one: ReviewSet, seed: int, policy: str) -> dict[str, Any]:
    review = review_of(one, seed)
    features, seconds = _features(one, seed)
    course = Course(
        review.collection, review.labels, features, policy, seed, review.n_relevant,
        relevant=[review.relevant_prior], irrelevant=[review.irrelevant_prior],
    )  # fmt: skip
    return facts_of(review) | run(course) | {"feature_cpu_seconds": seconds}


@lru_cache(maxsize=1)
def _features(one: ReviewSet, seed: int) -> tuple[Matrix, float]:
    """The features that a search makes by default, and the seconds of the processor that took."""
    return text_features(review_of(one, seed).collection)


def report(settings: Settings) -> None:
    """Write the tables and draw the ratios."""
    sets, policies = sets_here(settings), settings.policies_or(*POLICIES)
    ours = {(policy, one.title): {result["seed"]: result for result in known(
        [cell_of(settings.out, one, seed, policy) for seed in range(settings.runs)])}
        for policy in policies for one in sets}  # fmt: skip
    peers, version = _peers(settings, sets)
    everything = [result for results in ours.values() for result in results.values()]
    if not everything:
        print("No review has been run.")
        return
    parts = [head(settings, "reviews", everything, f"ASReview {version}, elas_u4, one thread"), READING]
    points: list[dict[str, object]] = []
    for policy in policies:
        rows = {one.title: _Row(ours[policy, one.title], peers.get(one.title, {})) for one in sets}
        rows = {title: row for title, row in rows.items() if row.seeds}
        if rows:
            parts += [f"## {policy} against ASReview {version}", _set_table(rows), _summary(rows, policy)]
            points += [{"method": policy, "data": title, "level": f"recall {recall:g}", "ratio": row.ratio(recall)}
                       for title, row in rows.items() for recall in SHOWN]  # fmt: skip
    parts += ["## Labels alone, all our runs", _own_table(ours, sets, policies)]
    write_page(settings.out / "reviews.md", parts)
    if points:
        chart = ratio_chart(points, "Labels beside ASReview: left of 1 is fewer", "labels / labels of ASReview")
        save_both(chart, settings.out / "reviews")


READING = """Both start from the same relevant and the same irrelevant record and learn after every label; labels
count the two priors. A ratio is that of the mean labels over the seeds that both have. CPU seconds are those of the
questions: reading and featurising apart (ours: features made before; ASReview: a run of one question taken off)."""


class _Row:
    """Both sides on one set, over the seeds that both have."""

    def __init__(self, ours: Results, peer: Results) -> None:
        self.seeds = sorted(set(ours) & set(peer))
        self.ours = [ours[seed] for seed in self.seeds]
        self.peer = [peer[seed] for seed in self.seeds]

    def mine(self, recall: float) -> float:
        return float(np.mean([_labels(result, recall) for result in self.ours]))

    def theirs(self, recall: float) -> float:
        return float(np.mean([result["labels_at_recall"][f"{recall}"] for result in self.peer]))

    def ratio(self, recall: float) -> float:
        return self.mine(recall) / self.theirs(recall)

    def cpu(self) -> tuple[float, float]:
        return (
            float(np.mean([result["cpu_seconds"] for result in self.ours])),
            float(np.mean([result["step_cpu_seconds"] for result in self.peer])),
        )


def _labels(result: dict[str, Any], recall: float) -> int:
    return int(result["places"][n_needed(recall, result["n_relevant"]) - 1])


def _set_table(rows: dict[str, _Row]) -> str:
    lines = []
    for title, row in rows.items():
        first, (mine, theirs) = row.ours[0], row.cpu()
        lines.append(
            [title, f"{first['n_items']:,}", f"{first['n_relevant']:,}", str(len(row.seeds))]
            + [f"{row.mine(recall):,.0f} / {row.theirs(recall):,.0f}" for recall in SHOWN]
            + [f"{row.ratio(recall):.3f}" for recall in SHOWN]
            + [f"{mine:.2f} / {theirs:.1f}", f"1/{theirs / mine:,.0f}"]
        )
    titles = ["labels at .95: ours / ASReview", "at 1", "ratio at .95", "at 1", "CPU s: ours / ASReview", "CPU ratio"]
    return table(["set", "records", "relevant", "seeds", *titles], lines)


def _summary(rows: dict[str, _Row], policy: str) -> str:
    lines = []
    for recall in RECALLS:
        ratios = {title: row.ratio(recall) for title, row in rows.items()}
        worst = max(ratios, key=lambda title: ratios[title])
        lines.append([f"{recall:g}", interval_words(list(ratios.values())), f"{worst} {ratios[worst]:.3f}"])
    mine, theirs = np.array([row.cpu() for row in rows.values()]).T
    gains = theirs / mine
    cpu = f"CPU time: geometric mean 1/{geometric_mean(gains):,.0f}, least gain 1/{gains.min():,.0f}."
    caption = ["recall", f"{policy} / ASReview, geometric mean over {len(rows)} sets (95 % interval)", "worst set"]
    return table(caption, lines) + f"\n\n{cpu}\n\n{_goals(rows)}"


def _goals(rows: dict[str, _Row]) -> str:
    """What was wanted, and whether it is so."""
    means = {recall: geometric_mean([row.ratio(recall) for row in rows.values()]) for recall in SHOWN}
    worst = max(row.ratio(recall) for row in rows.values() for recall in SHOWN)
    least = min(theirs / mine for mine, theirs in (row.cpu() for row in rows.values()))
    lines = [
        ["labels at .95, geometric mean", "at most 0.90", f"{means[0.95]:.3f}", yes_or_no(means[0.95] <= 0.9)],
        ["labels at 1, geometric mean", "at most 0.85", f"{means[1.0]:.3f}", yes_or_no(means[1.0] <= 0.85)],
        ["worst set, at .95 or 1", "at most 1.15", f"{worst:.3f}", yes_or_no(worst <= 1.15)],
        ["CPU time, every set", "at most 1/20", f"1/{least:,.0f}", yes_or_no(least >= 20)],
    ]
    return table(["goal", "wanted", "found", "reached"], lines)


def _own_table(
    ours: dict[tuple[str, str], Results], sets: Sequence[ReviewSet], policies: Sequence[str]
) -> str:  # fmt: skip
    lines = []
    for one in sets:
        for policy in policies:
            results = list(ours[policy, one.title].values())
            if results:
                means = [np.mean([_labels(result, recall) for result in results]) for recall in RECALLS]
                spent = np.mean([result["cpu_seconds"] for result in results])
                step = 1000 * np.mean([result["cpu_seconds"] / max(1, result["n_steps"]) for result in results])
                made = np.mean([result["feature_cpu_seconds"] for result in results])
                lines.append([one.title, policy, str(len(results)), *(f"{mean:,.0f}" for mean in means),
                              f"{spent:.2f}", f"{step:.2f}", f"{made:.2f}"])  # fmt: skip
    return table(["set", "policy", "seeds", *(f"{recall:g}" for recall in RECALLS), "CPU s", "ms a step",
                  "features, CPU s"], lines)  # fmt: skip


def _peers(settings: Settings, sets: Sequence[ReviewSet]) -> tuple[dict[str, Results], str]:
    """What ASReview did, of the latest version that was run."""
    versions = sorted(path.name for path in settings.peers.glob("[0-9]*") if path.is_dir())
    if not versions:
        print(f"No results of ASReview in {settings.peers}: run benchmarks/search_peers.py.")
        return {}, "(not run)"
    found: dict[str, Results] = {}
    for one in sets:
        for seed in range(settings.runs):
            if (settings.peers / versions[-1] / f"{one.title}-{seed}.json").exists():  # before the records are read
                review: Review = review_of(one, seed)
                if (result := cached_run(settings.peers, versions[-1], review)) is not None:
                    found.setdefault(one.title, {})[seed] = result
    return found, versions[-1]
