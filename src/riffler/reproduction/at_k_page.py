"""The page of the reproduction, in Markdown: every number comes from the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.reproduction.at_k_claims import chosen_precision
from riffler.reproduction.at_k_methods import methods
from riffler.reproduction.generalisation import rates
from riffler.reproduction.markdown import table, with_spread
from riffler.reproduction.mistake_bounds import SeparableRun
from riffler.reproduction.surrogate_properties import MARGINS, NAMES, Counterexample, Finding
from riffler.reproduction.verdicts import verdict_table

if TYPE_CHECKING:
    from riffler.reproduction.at_k import AtK

WORDS = {"convex": "convex", "upper_bound": "upper bound", "tight": "tight under its margin"}


def page(run: AtK) -> str:
    """Write the whole page."""
    option = " --quick" if run.size.name == "quick" else ""
    parts = [
        "# Surrogate functions for maximizing precision at the top",
        f"Kar, Narasimhan and Jain (2015), run again by `riffler reproduce at-k{option}` in {run.seconds:.0f} s, "
        "one thread. Times are of this machine; every other number repeats with the seeds named here.",
        "## What agrees and what does not",
        verdict_table(run.verdicts),
        "“Recalled” claims are remembered from the paper, not re-read, and no numbers of its experiments are at hand. "
        "Its batch sizes, grids and averaging are not known either: ours may be the reason for a difference.",
        *_surrogates(run),
        *_bounds(run),
        *_time(run),
        *_generalisation(run),
    ]
    return "\n\n".join(parts) + "\n"


def _surrogates(run: AtK) -> list[str]:
    found = {(f.surrogate, f.quality, f.margin): f for f in run.findings}
    expected = run.expected["properties"]
    rows = []
    for quality, words in WORDS.items():
        cells = []
        for name in NAMES:
            margin = expected[name].get("margin", "strong") if quality == "tight" else ""
            holds = found[name, quality, margin].holds
            says = expected[name][quality]
            cells.append(f"{_tick(holds)}{'' if holds == says else ' (paper: ' + _tick(says) + ')'}")
        rows.append([words, *cells])
    refuted = [f for f in run.findings if f.counterexample is not None]
    tight = [[name, *(_tick(found[name, "tight", margin].holds) for margin in MARGINS)] for name in NAMES]
    return [
        "## The surrogates",
        f"✓: no counterexample among {run.size.trials:,} random score vectors (seed 0). ✗: counterexamples were "
        "found. The struct, ramp and avg columns are those of the poster; a difference would be marked.",
        table(["", *NAMES], rows),
        "Each surrogate is tight under its own margin, and under the stronger ones: "
        + "; ".join(f"*{name}*: {text}" for name, text in run.expected["margins"].items())
        + ".",
        table(["", *MARGINS], tight),
        "The smallest counterexamples met:",
        table(["surrogate", "is not", "failures", "labels", "k", "scores", "numbers"], map(_refuted_row, refuted)),
        "![The surrogates along a line](at-k-surrogates.svg)",
    ]


def _refuted_row(finding: Finding) -> list[str]:
    example = finding.counterexample
    assert isinstance(example, Counterexample)
    quality = f"tight ({finding.margin} margin)" if finding.margin else WORDS[finding.quality]
    vectors = "; ".join(", ".join(f"{score:g}" for score in vector) for vector in example.vectors)
    labels = ", ".join(map(str, example.labels))
    share = f"{finding.failures:,} of {finding.trials:,}"
    return [finding.surrogate, quality, share, labels, str(example.k), vectors, example.words]


def _bounds(run: AtK) -> list[str]:
    rows = []
    for k, gamma in dict.fromkeys((one.k, one.gamma) for one in run.separable):
        here = [one for one in run.separable if (one.k, one.gamma) == (k, gamma)]
        rows.append(_bound_row(k, gamma, here))
    seeds = len({one.seed for one in run.separable})
    last = [(c.mistakes[-1], c.bound[-1], c.without_square[-1]) for c in run.curves]
    ends = "; ".join(f"{m:,.0f} (bound {b:,.0f}, without the square {w:,.0f})" for m, b, w in last)
    return [
        "## The mistake bounds",
        f"Perceptron@k-avg on streams with a margin γ, until no mistake is left: random streams of 20 batches in 50 "
        f"dimensions (seeds: {seeds}; the most updates and mistakes are shown), and an adversary "
        "that chooses each batch after seeing w.",
        table(
            ["k", "γ", "4k/γ²", "updates, random", "mistakes, random", "updates, adversary", "mistakes, adversary",
             "2√k/γ (no square)"],
            rows,
        ),
        "![Mistakes against the margin](at-k-separable.svg)",
        f"With a tenth of the labels wrong (k = {run.curves[0].k}, {run.size.noisy_batches:,} batches), mistakes at "
        f"the end, by seed: {ends}.",
        "![Cumulative mistakes and the bounds](at-k-mistakes.svg)",
    ]  # fmt: skip


def _bound_row(k: int, gamma: float, runs: Sequence[SeparableRun]) -> list[str]:
    cells = [str(k), f"{gamma:g}", f"{runs[0].bound:,.0f}"]
    for stream in ("random", "adversary"):
        here = [one for one in runs if one.stream == stream]
        cells += [f"{max(one.updates for one in here):,}", f"{max(one.mistakes for one in here):,.0f}"]
    return [*cells, f"{runs[0].without_square:,.1f}"]


def _time(run: AtK) -> list[str]:
    sets = list(run.shapes)
    rows, seconds = [], []
    for method in methods():
        values = [chosen_precision(run.points, data, method.name) for data in sets]
        rows.append([method.name, *(with_spread(v) for v in values)])
        seconds.append([method.name, *(_seconds(run, data, method.name) for data in sets)])
    data = "; ".join(
        f"{name}: {rows:,} rows, {columns} columns, {share:.1%} positive" + _note(run, name)
        for name, (rows, columns, share) in run.shapes.items()
    )
    missing = f" Not here and skipped: {', '.join(run.missing)}." if run.missing else ""
    absent = "; ".join(about["note"] for about in run.expected["absent"].values())
    return [
        "## Precision against time",
        f"prec@0.25 on the test rows: mean and deviation over the 70/30 splits of seeds "
        f"{', '.join(map(str, run.size.splits))}. Settings and length of training were chosen on a quarter of the "
        "training rows; columns are standardised on the rest of them.",
        f"{data}.{missing} Others of the paper's group's sets: {absent}.",
        table(["prec@0.25", *sets], rows),
        "Seconds to fit with the chosen settings, then seconds of the choice (TopKRanker chooses inside its fit):",
        table(["seconds", *sets], seconds),
        '“struct, full batch” is `GradientAtK(surrogate="struct")`: SVMperf\'s objective by subgradient steps over all '
        "rows. It stands in for SVMperf, whose cutting-plane solver was not run.",
        "![Precision against training time](at-k-time.svg)",
    ]


def _note(run: AtK, name: str) -> str:
    note = run.expected["data"].get(name, {}).get("note")
    return f" ({note})" if note else ""


def _seconds(run: AtK, data: str, method: str) -> str:
    here = [p for p in run.points if (p.data, p.method, p.chosen) == (data, method, True)]
    fit, tuning = np.mean([p.seconds for p in here]), np.mean([p.tuning_seconds for p in here])
    return f"{fit:.2g}" if method == "TopKRanker" else f"{fit:.2g} + {tuning:.2g}"


def _generalisation(run: AtK) -> list[str]:
    sizes = run.size.rows
    rows = []
    for method in dict.fromkeys(one.method for one in run.trained):
        for what in ("training", "held_out"):
            values = [[getattr(one, what) for one in run.trained if (one.method, one.n) == (method, n)] for n in sizes]
            cells = (with_spread(v) for v in values)
            rows.append([method, what.replace("_", "-"), *cells])
    larger = sizes[len(sizes) // 2]
    late = {(r.method, r.what): r for r in rates([one for one in run.trained if one.n >= larger])}
    words = {"gap": "mean gap", "excess": "distance to the best"}
    slopes = [
        [
            one.method,
            words[one.what],
            f"{one.slope:.2f} ± {one.standard_error:.2f}",
            f"{late[one.method, one.what].slope:.2f}",
        ]
        for one in rates(run.trained)
    ]
    return [
        "## Rows not seen",
        f"Gaussian rows in 20 dimensions, labels by a logistic model, about 10 % positive; {len(run.size.row_seeds)} "
        f"seeds. The best ranking there is has precision {run.trained[0].best:.3f}. `SGDAtK, one pass` takes batches "
        "of √n rows, 100 at least; the others are used with their defaults.",
        table(["method", "precision", *(f"n = {n:,}" for n in sizes)], rows),
        "Slopes on log axes, fitted to the means over the seeds (± standard error of the line; a seed's smaller "
        "sets are parts of its larger ones, so sizes are not independent):",
        table(["method", "of", "slope", f"from n = {larger:,}"], slopes),
        "![Held-out precision against n](at-k-held-out.svg)",
        "![The gap against n](at-k-gap.svg)",
    ]


def _tick(holds: bool) -> str:
    return "✓" if holds else "✗"
