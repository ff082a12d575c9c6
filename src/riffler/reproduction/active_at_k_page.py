"""The page of the reproduction, in Markdown: every number comes from the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.evaluation.active_runs import ActiveRun
from riffler.reproduction import active_at_k_figures as figures
from riffler.reproduction.active_at_k_cases import SCHEMES, held_out, labels, labels_below, precisions, unsteadiness
from riffler.reproduction.active_at_k_feeds import WITHHELD_REACH, n_batches_of
from riffler.reproduction.active_at_k_noise import flipped_cases, ordered_cases
from riffler.reproduction.active_at_k_rare import KERNELS
from riffler.reproduction.active_at_k_readings import SAMPLED, grid, readings
from riffler.reproduction.markdown import table, with_spread
from riffler.reproduction.verdicts import verdict_table

if TYPE_CHECKING:
    from riffler.reproduction.active_at_k import ActiveAtK

MEASURES = ["precision", "held-out", "labels", "below the top"]


def page(run: ActiveAtK) -> str:
    """Write the whole page."""
    option = " --quick" if run.plan.size.name == "quick" else ""
    parts = [
        "# Online active learning for precision at k",
        f"Modi, Sekhari and Gupta (2017), run again by `riffler reproduce active-at-k{option}`, one thread; "
        f"{sum(len(runs) for runs in run.results.values()):,} runs that took {_seconds(run):,.0f} s. Runs have the "
        f"seeds 0 to {run.plan.size.n_runs - 1}; every number but the seconds repeats.",
        "## What agrees and what does not",
        verdict_table(run.verdicts),
        _how_measured(),
        *_figures(run),
        *_rare(run),
        *_readings(run),
        *_noise(run),
        *_growth(run),
    ]
    return "\n\n".join(parts) + "\n"


def _how_measured() -> str:
    return (
        "*precision*: share of positives among the k rows predicted, mean over the batches from the second on (in the "
        "first nothing is known); *held-out*: precision at k of the last state on a tenth of the rows that never "
        "arrive; *labels*: all labels bought, those of the top k included; *below the top*: those of other rows, which "
        "is what the paper seems to count. ± is one standard deviation over the runs. Comparisons are paired over the "
        "seeds: *close* means that the lower end of the 95 % interval of the difference is above -0.01, *better* above "
        "0. The paper gives no numbers, only figures."
    )


def _figures(run: ActiveAtK) -> list[str]:
    plan = run.plan
    problem = plan.found[plan.natural.data]
    n_rows = min(len(problem.y), plan.natural.n_rows or len(problem.y))
    published = run.expected["data"].get(problem.name, {})
    note = f" (the paper: {published['rows']:,} rows, {published['positives']:,} positives)" if published else ""
    parts = [
        "## Figures 1 to 4",
        f"{problem.name}: {len(problem.y):,} rows, {int(problem.y.sum()):,} positives{note}; {n_rows:,} rows are dealt "
        f"into {n_batches_of(n_rows, plan.natural)} batches but for a tenth that is held out. "
        "The captions of the figures, and not the text beside them, say which are kernelized. "
        "“Mean-normalized” may mean standardised or only shifted columns: both are shown. Nor does the paper say what "
        "happens when sampling finds fewer positives than the top has mistakes: in the first two variants the found "
        "positives weigh as much as all mistakes (balance mean), in the third nothing makes up for those not found, as "
        "the update is printed.",
    ]
    for variant, (words, _) in figures.VARIANTS.items():
        rows = [
            [figure.title, case.way.name, *_cells(run.results[case]), with_spread(unsteadiness(run.results[case]))]
            for figure in figures.figures(plan.size.ks)
            for case in figures.figure_cases(plan.natural, figure, variant)
        ]
        parts += [
            f"### {words.capitalize()}",
            table(["figure", "scheme", *MEASURES, "deviation over batches"], rows),
            f"![Figures 1 to 4, {words}](active-at-k-figures-{variant}.svg)",
        ]
    return parts


def _rare(run: ActiveAtK) -> list[str]:
    rows = [
        [f"{setting.title}, k = {setting.k}", kernel, case.way.name, *_cells(run.results[case])]
        for setting in run.plan.settings
        for kernel in KERNELS
        for case in setting.cases(kernel)
    ]
    missing = f" Not here and skipped: {', '.join(run.missing)}." if run.missing else ""
    return [
        "## Harder data and rare positives",
        "The authors left these for later. Positives are thinned at random, anew in each run. The larger k is at most "
        f"half of the positives that a batch expects.{missing}",
        table(["data", "kernel", "scheme", *MEASURES], rows),
        "![Precision against labels](active-at-k-rare.svg)",
    ]


def _readings(run: ActiveAtK) -> list[str]:
    k, feeds = run.plan.size.ks[0], run.plan.feeds
    by_feed = [readings(feed, k) for feed in feeds.values()]
    rows = [
        [name, *(cell for cases in by_feed for cell in _short_cells(run.results[cases[name]]))] for name in by_feed[0]
    ]
    head = [f"{measure}, {name}" for name in feeds for measure in ("precision", "labels", "below")]
    grids = [grid(feed, k) for feed in feeds.values()]
    grid_rows = [
        [scheme, "Δ" if n_queries == "mistakes" else "k", balance,
         *(cell for cases in grids for cell in _short_cells(run.results[cases[scheme, n_queries, balance]]))]
        for scheme, n_queries, balance in grids[0]
    ]  # fmt: skip
    return [
        "## The readings of the text",
        f"Where the text can be read in two ways, each reading alone against ours: exponential scheme, linear, k = "
        f"{k}, m = Δ (as many labels below the top as it has mistakes, in expectation), temperature 0.3 of the spread "
        "of the scores, balance mean, ln n batches, columns standardised. “To the letter” is Algorithm 2 as it is "
        "printed: a weight that grows with the gap and is taken for the probability, every queried row added whatever "
        "its label, no cap. How queries are counted is a reading as well: *labels* counts the top k, *below* does not.",
        table(["reading", *head], rows),
        "![Each reading alone](active-at-k-readings.svg)",
        f"Schemes {', '.join(SAMPLED)} with every balance, and with m = Δ or m = k:",
        table(["scheme", "m", "balance", *head], grid_rows),
    ]


def _noise(run: ActiveAtK) -> list[str]:
    k, feeds = run.plan.size.ks[0], run.plan.feeds
    parts = ["## Noisy answers and unkind orders"]
    rows = []
    for name, feed in feeds.items():
        for share, cases in flipped_cases(feed, k, run.plan.size.flipped).items():
            rows.append([name, f"{share:.0%}", *(_precision_and_labels(run.results[case]) for case in cases)])
    parts += [
        f"Linear, k = {k}. A random share of the answers is wrong; precision is measured by the true labels. Cells: "
        "precision, then labels bought.",
        table(["data", "wrong answers", *SCHEMES], rows),
        "![Precision against wrong answers](active-at-k-noise.svg)",
    ]
    rows = []
    for name, feed in feeds.items():
        for order, cases in ordered_cases(feed, k).items():
            rows.append([name, order, *(_precision_and_labels(run.results[case]) for case in cases)])
    return [
        *parts,
        "Unkind orders; each batch keeps its size and share of positives. *Look-alikes first* or *last*: negatives "
        "come in the order of how much they look like positives, by a least-squares fit that knows all labels. *One "
        "kind of positive late*: the smaller of two clusters of the positives comes after the larger. *No positives "
        f"below the cut*: an adversary sees the scores of each batch and takes out the positives on the "
        f"{WITHHELD_REACH} k ranks right below the top k, so that nothing is to be found there.",
        table(["data", "order", *SCHEMES], rows),
        "![Unkind orders](active-at-k-orders.svg)",
    ]


def _growth(run: ActiveAtK) -> list[str]:
    counts = []
    for study in run.plan.growths:
        for scheme in SCHEMES:
            runs = [run.results[case] for case in study.cases(scheme)]
            cells = (f"{np.mean(labels(those)):,.0f} ({np.mean(precisions(those)):.2f})" for those in runs)
            pairs = zip(study.sizes, cells, strict=True)
            counts.append([study.title, scheme, "; ".join(f"{study.what} = {size:,}: {cell}" for size, cell in pairs)])
    slopes = [
        [one.growth.title, one.growth.what, one.scheme, _slope(one.in_all), _slope(one.below), f"{one.hoped_for:.2f}"]
        for one in run.exponents
    ]
    return [
        "## Labels against n and k",
        "Linear, columns standardised, nothing held out. Slopes on log axes, fitted to the means over the runs (± "
        "standard error of the line through the few sizes), beside the slope of k log n over the same sizes:",
        table(["what stays", "what grows", "scheme", "all labels", "below the top", "k log n"], slopes),
        "![Labels against n and k](active-at-k-growth.svg)",
        "All labels, and the precision that they bought in brackets:",
        table(["what stays", "scheme", "labels (precision)"], counts),
    ]


def _cells(runs: Sequence[ActiveRun]) -> list[str]:
    counts = (with_spread(labels(runs), ",.0f"), with_spread(labels_below(runs), ",.0f"))
    return [with_spread(precisions(runs)), with_spread(held_out(runs)), *counts]


def _short_cells(runs: Sequence[ActiveRun]) -> list[str]:
    return [with_spread(precisions(runs)), f"{np.mean(labels(runs)):,.0f}", f"{np.mean(labels_below(runs)):,.0f}"]


def _precision_and_labels(runs: Sequence[ActiveRun]) -> str:
    return f"{with_spread(precisions(runs))}; {np.mean(labels(runs)):,.0f}"


def _slope(found: tuple[float, float]) -> str:
    return f"{found[0]:.2f} ± {found[1]:.2f}"


def _seconds(run: ActiveAtK) -> float:
    """Seconds of all steps, also of those that an earlier try had finished."""
    return float(sum(one.seconds.sum() for runs in run.results.values() for one in runs))
