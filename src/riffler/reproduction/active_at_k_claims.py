"""What the runs say about each claim of the paper: agrees, does not, or only in part, with the numbers.

Differences are paired over the seeds; "close" means that the lower end of their 95 % interval is above -0.01, "better"
that it is above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.evaluation.active_runs import ActiveRun
from riffler.reproduction import active_at_k_figures as figures
from riffler.reproduction.active_at_k_cases import SCHEMES, Case, labels, labels_below, paired, precisions, unsteadiness
from riffler.reproduction.active_at_k_noise import flipped_cases, ordered_cases
from riffler.reproduction.active_at_k_rare import KERNELS
from riffler.reproduction.verdicts import Verdict, word, word_of_differences

if TYPE_CHECKING:
    from riffler.reproduction.active_at_k import ActiveAtK

NEAR = 0.01
"""Precision that a scheme may lie below another and still be called close."""

SLACK = 0.1
"""By how much a fitted exponent may exceed that of k log n and still be called the same."""

DECAYING = ("exponential", "inverse")

Cells = list[tuple[str, dict[str, Sequence[ActiveRun]]]]
"""The runs of each scheme, in each of several situations that have a name."""


def verdicts(run: ActiveAtK) -> list[Verdict]:
    """Judge every claim of the table of what is expected."""
    shown = figure_cells(run)
    judged = {
        "close": _close_in_figures(shown),
        "fewer": _fewer(shown),
        "uniform": _above_uniform(shown, rare_cells(run)),
        "stable": _steadier(shown),
        "kernel": _kernel(run),
        "noise": _noise(run),
        "adversary": _adversary(run),
        "growth": _growth(run),
        "rare": _rare(rare_cells(run)),
    }
    return [Verdict(one["name"], one["text"], one["source"], *judged[one["name"]]) for one in run.expected["claims"]]


def figure_cells(run: ActiveAtK) -> Cells:
    """Give the runs behind the figures, variant by variant."""
    return [
        (
            f"{figure.title}, {words}",
            {case.way.name: run.results[case] for case in figures.figure_cases(run.plan.natural, figure, variant)},
        )
        for variant, (words, _) in figures.VARIANTS.items()
        for figure in figures.figures(run.plan.size.ks)
    ]


def rare_cells(run: ActiveAtK) -> Cells:
    """Give the runs on other data and with rare positives."""
    return [
        (
            f"{setting.title}, k = {setting.k}, {kernel}",
            {case.way.name: run.results[case] for case in setting.cases(kernel)},
        )
        for setting in run.plan.settings
        for kernel in KERNELS
    ]


def _close(cells: Cells) -> tuple[str, str]:
    """Count where the decaying schemes are close to the sequential one."""
    gains = [
        (f"{scheme}: {name}", paired(precisions(runs[scheme]), precisions(runs["sequential"])))
        for name, runs in cells
        for scheme in DECAYING
    ]
    fine = sum(low > -NEAR for _, (_, low, _) in gains)
    worst_name, worst = min(gains, key=lambda one: one[1][0])
    mean = np.mean([gain for _, (gain, _, _) in gains])
    return word(fine, len(gains)), (
        f"Close in {fine} of {len(gains)} comparisons; mean difference {mean:+.3f}, worst {_interval(worst)} "
        f"({worst_name})."
    )


def _close_in_figures(cells: Cells) -> tuple[str, str]:
    found, words = _close(cells)
    good = [
        paired(precisions(runs[scheme]), precisions(runs["sequential"]))[1] > -NEAR
        for _, runs in cells
        for scheme in DECAYING
    ]
    return found, f"{words} By variant: {_by_variant(good)}."


def _rare(cells: Cells) -> tuple[str, str]:
    """Say what the precision that is lost saves."""
    found, words = _close(cells)
    shares = [
        sum(labels(runs[scheme])) / sum(labels(runs["sequential"])) for _, runs in cells for scheme in DECAYING
    ]  # fmt: skip
    return found, f"{words} They buy {min(shares):.0%} to {max(shares):.0%} of scheme 1's labels."


def _fewer(cells: Cells) -> tuple[str, str]:
    """Half of the queries below the top or less counts as much fewer."""
    below, in_all, later = [], [], []
    for _, runs in cells:
        for scheme in DECAYING:
            below.append(sum(labels_below(runs[scheme])) / sum(labels_below(runs["sequential"])))
            in_all.append(sum(labels(runs[scheme])) / sum(labels(runs["sequential"])))
            later.append(_after_the_first(runs[scheme]) / _after_the_first(runs["sequential"]))
    fine = sum(ratio <= 0.5 for ratio in below)
    return word(fine, len(below)), (
        f"Of the queries below the top, {min(below):.0%} to {max(below):.0%} of scheme 1's, half or less in {fine} of "
        f"{len(below)} comparisons. With the labels of the top k, which both buy: {min(in_all):.0%} to "
        f"{max(in_all):.0%}. Without the first batch, in which all scores are equal: {min(later):.0%} to "
        f"{max(later):.0%} of those below the top."
    )


def _after_the_first(runs: Sequence[ActiveRun]) -> float:
    """Labels below the top from the second batch on, all runs together; at least 1, to divide by."""
    return max(1.0, float(sum(run.n_asked_below[-1] - run.n_asked_below[0] for run in runs)))


def _above_uniform(cells: Cells, further: Cells) -> tuple[str, str]:
    gains = [
        paired(precisions(runs[scheme]), precisions(runs["uniform"])) for _, runs in cells for scheme in DECAYING
    ]  # fmt: skip
    fine, worse = sum(low > 0 for _, low, _ in gains), sum(high < 0 for _, _, high in gains)
    beyond = []
    for scheme in DECAYING:
        lows = [paired(precisions(runs[scheme]), precisions(runs["uniform"]))[1] for _, runs in further]
        beyond.append(f"{scheme} is better in {sum(low > 0 for low in lows)}")
    means = [mean for mean, _, _ in gains]
    return word_of_differences(fine, worse, len(gains)), (
        f"Better in {fine} of {len(gains)} comparisons ({_by_variant([low > 0 for _, low, _ in gains])}), worse in "
        f"{worse}, no difference shown in the others; {_range(means)}. Not in the paper's figures: of {len(further)} "
        f"settings with rare positives or other data, {' and '.join(beyond)}."
    )


def _steadier(cells: Cells) -> tuple[str, str]:
    gains = [
        paired(unsteadiness(runs["uniform"]), unsteadiness(runs[scheme])) for _, runs in cells for scheme in DECAYING
    ]
    fine, worse = sum(low > 0 for _, low, _ in gains), sum(high < 0 for _, _, high in gains)
    mean = {
        scheme: float(np.mean([np.mean(unsteadiness(runs[scheme])) for _, runs in cells]))
        for scheme in (*DECAYING, "uniform")
    }
    return word_of_differences(fine, worse, len(gains)), (
        f"Smaller deviation over the batches from the second on in {fine} of {len(gains)} comparisons "
        f"({_by_variant([low > 0 for _, low, _ in gains])}), larger in {worse}; on average "
        + ", ".join(f"{scheme} {value:.3f}" for scheme, value in mean.items())
        + "."
    )


def _kernel(run: ActiveAtK) -> tuple[str, str]:
    """Compare each linear figure with the one that has its kernel."""
    cells = figure_cells(run)
    fine, worse, words, n_all = 0, 0, [], 0
    for number, (variant, _) in enumerate(figures.VARIANTS.values()):
        small, large, small_rbf, large_rbf = (runs for _, runs in cells[4 * number : 4 * number + 4])
        gains = [
            paired(precisions(curved[scheme]), precisions(straight[scheme]))
            for straight, curved in ((small, small_rbf), (large, large_rbf))
            for scheme in SCHEMES
        ]
        better, lower = sum(low > 0 for _, low, _ in gains), sum(high < 0 for _, _, high in gains)
        fine, worse, n_all = fine + better, worse + lower, n_all + len(gains)
        means = [mean for mean, _, _ in gains]
        words.append(f"{variant}: better in {better} of {len(gains)}, worse in {lower}, {_range(means)}")
    rare = rare_cells(run)
    gains = [
        paired(precisions(curved[scheme]), precisions(straight[scheme]))
        for (_, straight), (_, curved) in zip(rare[::2], rare[1::2], strict=True)
        for scheme in SCHEMES
    ]
    better = sum(low > 0 for _, low, _ in gains)
    return word_of_differences(fine, worse, n_all), (
        f"{_capital('; '.join(words))}. Not in the paper's figures: with rare positives and on other data it is better "
        f"in {better} of {len(gains)}, by {np.mean([mean for mean, _, _ in gains]):+.3f} on average."
    )


def _noise(run: ActiveAtK) -> tuple[str, str]:
    """Compare what the most wrong answers cost each scheme with what they cost the sequential one."""
    worst = max(run.plan.size.flipped)
    fine, worse, n_all, words = 0, 0, 0, []
    for name, feed in run.plan.feeds.items():
        cases = flipped_cases(feed, run.plan.size.ks[0], (0.0, worst))
        lost = {clean.way.name: _lost(run, clean, noisy) for clean, noisy in zip(cases[0.0], cases[worst], strict=True)}
        gains = [paired(lost["sequential"], lost[scheme]) for scheme in DECAYING]
        fine, worse = fine + sum(low > 0 for _, low, _ in gains), worse + sum(high < 0 for _, _, high in gains)
        n_all += len(DECAYING)
        words.append(f"{name}: " + ", ".join(f"{scheme} {np.mean(values):.3f}" for scheme, values in lost.items()))
    return word_of_differences(fine, worse, n_all), (
        f"Precision lost to {worst:.0%} wrong answers, {'; '.join(words)}. Schemes 2 and 3 lose less than scheme 1 in "
        f"{fine} of {n_all} comparisons, more in {worse}."
    )


def _adversary(run: ActiveAtK) -> tuple[str, str]:
    """Under each unkind order: is a sampled scheme more precise than the walk, and do its labels grow less?"""
    gains, cheaper, growth = [], 0, {"sequential": [1.0], "sampled": [1.0]}
    for feed in run.plan.feeds.values():
        cases = ordered_cases(feed, run.plan.size.ks[0])
        kind = {case.way.name: run.results[case] for case in cases["random"]}
        for order in list(cases)[1:]:
            unkind = {case.way.name: run.results[case] for case in cases[order]}
            grown = {name: sum(labels(unkind[name])) / sum(labels(kind[name])) for name in kind}
            growth["sequential"].append(grown["sequential"])
            for scheme in DECAYING:
                gains.append(paired(precisions(unkind[scheme]), precisions(unkind["sequential"])))
                growth["sampled"].append(grown[scheme])
                cheaper += grown[scheme] < grown["sequential"]
    fine, worse = sum(low > 0 for _, low, _ in gains), sum(high < 0 for _, _, high in gains)
    return word(fine + cheaper, 2 * len(gains)), (
        f"Under the unkind orders schemes 2 and 3 are more precise than scheme 1 in {fine} of {len(gains)} "
        f"comparisons and less in {worse}; an unkind order makes scheme 1 buy up to {max(growth['sequential']):.1f} "
        f"times as many labels, schemes 2 and 3 at most {max(growth['sampled']):.1f} times."
    )


def _growth(run: ActiveAtK) -> tuple[str, str]:
    found = [one for one in run.exponents if one.scheme in DECAYING]
    fine = sum(one.in_all[0] <= one.hoped_for + SLACK for one in found)
    words = [
        f"{study.title}, against {study.what}: "
        + ", ".join(f"{one.scheme} {one.in_all[0]:.2f}" for one in run.exponents if one.growth == study)
        + f", k log n {next(one.hoped_for for one in found if one.growth == study):.2f}"
        for study in run.plan.growths
    ]
    return word(fine, len(found)), (
        f"Exponents of all labels; {'; '.join(words)}. For schemes 2 to 4 this holds by construction, as at most "
        "2k labels a batch are expected to be bought, and says nothing of the precision that they reach."
    )


def _lost(run: ActiveAtK, before: Case, after: Case) -> list[float]:
    pairs = zip(precisions(run.results[before]), precisions(run.results[after]), strict=True)
    return [one - other for one, other in pairs]


def _by_variant(good: Sequence[bool]) -> str:
    """Write how many comparisons of each variant of the figures speak for a claim."""
    size = len(good) // len(figures.VARIANTS)
    parts = [sum(good[at : at + size]) for at in range(0, len(good), size)]
    names = [words for words, _ in figures.VARIANTS.values()]
    return ", ".join(f"{name} {part} of {size}" for name, part in zip(names, parts, strict=True))


def _range(means: Sequence[float]) -> str:
    return f"by {min(means):+.3f} to {max(means):+.3f}"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _interval(gain: tuple[float, float, float]) -> str:
    return f"{gain[0]:+.3f} (95 %: {gain[1]:+.3f} to {gain[2]:+.3f})"
