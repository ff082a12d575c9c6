"""What the runs say about each claim of the paper: agrees, does not, or only in part, with the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from riffler.reproduction.at_k_methods import methods
from riffler.reproduction.mistake_bounds import MistakeCurve, SeparableRun
from riffler.reproduction.precision_against_time import Point
from riffler.reproduction.verdicts import Verdict, word

NEAR = 0.01
"""Precision that two methods may differ by and still be called about equal."""

ONE_PASS, STRUCT, AVG, MAX = "1PMB", "struct, full batch", "Perceptron@k-avg", "Perceptron@k-max"


def verdicts(
    claims: Sequence[Mapping[str, str]],
    separable: Sequence[SeparableRun],
    curves: Sequence[MistakeCurve],
    points: Sequence[Point],
) -> list[Verdict]:
    """Judge every claim of the table of what is expected."""
    judged = {
        "updates": _updates(separable),
        "mistakes": _mistakes(separable, curves),
        "without_square": _without_square(separable, curves),
        "one_pass": _at_least(points, ONE_PASS),
        "svmperf": _at_least(points, STRUCT),
        "time": _faster(points),
        "robust": _robust(points),
    }
    return [Verdict(claim["name"], claim["text"], claim["source"], *judged[claim["name"]]) for claim in claims]


def chosen_precision(points: Sequence[Point], data: str, method: str) -> list[float]:
    """Test precision of the chosen length, split by split."""
    return [point.precision for point in points if (point.data, point.method, point.chosen) == (data, method, True)]


def _updates(runs: Sequence[SeparableRun]) -> tuple[str, str]:
    kept = sum(run.updates <= run.bound for run in runs)
    closest = max(run.updates / run.bound for run in runs if run.stream == "adversary")
    random = max(run.updates / run.bound for run in runs if run.stream == "random")
    return word(kept, len(runs)), (
        f"{kept} of {len(runs)} runs stay within it. Random streams need at most {random:.0%} of it; the adversary's "
        f"{closest:.1%} for k = 1, and 1/k of it for larger k, as each of its updates mends k mistakes."
    )


def _mistakes(runs: Sequence[SeparableRun], curves: Sequence[MistakeCurve]) -> tuple[str, str]:
    ratios = [run.mistakes / run.bound for run in runs]
    noisy = [m / b for curve in curves for m, b in zip(curve.mistakes, curve.bound, strict=True)]
    kept, held = sum(ratio <= 1 for ratio in ratios), sum(ratio <= 1 for ratio in noisy)
    return word(kept + held, len(ratios) + len(noisy)), (
        f"{kept} of {len(ratios)} separable runs and {held} of {len(noisy)} points of {len(curves)} curves with wrong "
        f"labels stay within it. The adversary reaches {max(ratios):.2%} of the bound; with wrong labels mistakes "
        f"reach {max(noisy):.0%} of it."
    )


def _without_square(runs: Sequence[SeparableRun], curves: Sequence[MistakeCurve]) -> tuple[str, str]:
    broken = sum(run.mistakes > run.without_square for run in runs)
    later = [m / b for curve in curves for m, b in zip(curve.mistakes, curve.without_square, strict=True)]
    worst = max(later)
    share = sum(ratio > 1 for ratio in later) / len(later)
    word = "agrees" if broken == 0 and share == 0 else "disagrees"
    return word, (
        f"Broken in {broken} of {len(runs)} separable runs and at {share:.0%} of the points of the streams with wrong "
        f"labels, there by up to {worst:.0f} times."
    )


def _at_least(points: Sequence[Point], rival: str) -> tuple[str, str]:
    """Count the data sets on which each new method is at most ``NEAR`` below the rival, on the mean over the splits."""
    sets = list(dict.fromkeys(point.data for point in points))
    words, good, compared = [], 0, 0
    for method in (method.name for method in methods() if method.new):
        gains = {
            data: float(
                np.mean(chosen_precision(points, data, method)) - np.mean(chosen_precision(points, data, rival))
            )
            for data in sets
        }
        fine = sum(gain >= -NEAR for gain in gains.values())
        good, compared = good + fine, compared + len(sets)
        low = ", ".join(f"{data} {gain:+.3f}" for data, gain in gains.items() if gain < -NEAR)
        words.append(f"{method} on {fine} of {len(sets)} sets" + (f" (below on {low})" if low else ""))
    stand_in = " It stands in for SVMperf, which was not run." if rival == STRUCT else ""
    return word(good, compared), f"At least {rival} less {NEAR}: {'; '.join(words)}.{stand_in}"


def _faster(points: Sequence[Point]) -> tuple[str, str]:
    """Compare the seconds of the chosen fits; half the time or less counts as a fraction."""
    ratios = []
    for data in dict.fromkeys(point.data for point in points):
        seconds = {
            method: np.mean([p.seconds for p in points if (p.data, p.method, p.chosen) == (data, method, True)])
            for method in (*(method.name for method in methods() if method.new), STRUCT)
        }
        slow = seconds.pop(STRUCT)
        ratios += [float(slow / fast) for fast in seconds.values()]
    fine = sum(ratio >= 2 for ratio in ratios)
    return word(fine, len(ratios)), (
        f"Full-batch steps on the struct objective take {min(ratios):.1f} to {max(ratios):.0f} times as long to fit "
        f"(median {np.median(ratios):.0f}), twice or more in {fine} of {len(ratios)} cases. This depends on how many "
        "steps were offered, and says nothing of SVMperf's cutting-plane solver, which was not run."
    )


def _robust(points: Sequence[Point]) -> tuple[str, str]:
    """Avg is the more robust if its worst gap to the best method and its spread over splits are both smaller."""
    sets = list(dict.fromkeys(point.data for point in points))
    names = list(dict.fromkeys(point.method for point in points))
    worst, spread = {}, {}
    for method in (AVG, MAX):
        gaps = [
            max(float(np.mean(chosen_precision(points, data, name))) for name in names)
            - float(np.mean(chosen_precision(points, data, method)))
            for data in sets
        ]
        worst[method] = max(gaps)
        spread[method] = float(np.mean([np.std(chosen_precision(points, data, method)) for data in sets]))
    better = (worst[AVG] <= worst[MAX]) + (spread[AVG] <= spread[MAX])
    return word(better, 2), (
        f"Measured our way: largest distance to the best method: avg {worst[AVG]:.3f}, max {worst[MAX]:.3f}; mean "
        f"deviation over the splits: avg {spread[AVG]:.4f}, max {spread[MAX]:.4f}."
    )
