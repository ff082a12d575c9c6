"""Who wins where: paired t-tests over the runs, beside the letters of the paper, and what they say of its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.records import FloatArray
from riffler.reproduction.active_pairs_methods import OURS
from riffler.reproduction.active_pairs_runs import Cells
from riffler.reproduction.verdicts import Verdict

if TYPE_CHECKING:
    from riffler.reproduction.active_pairs import ActivePairsAgain

LEVEL = 0.05
WORDS = {"W": "win", "L": "loss", "T": "tie"}


@dataclass(frozen=True, slots=True)
class Duel:
    """One method against a rival on one set: the mean difference in AUC, its p-value, and W, L or T.

    careful_p_value : the p-value if the runs share rows, as splits drawn anew do
    """

    data: str
    rival: str
    difference: float
    p_value: float
    letter: str
    careful_p_value: float = 1.0


def duels(cells: Cells, mine: str, rivals: Sequence[str]) -> list[Duel]:
    """Compare one method with each rival on each set by paired t-tests at 95 %, as the paper does."""
    names = list(dict.fromkeys(name for name, _ in cells))
    return [_duel(cells, name, mine, rival) for rival in rivals for name in names]


def _duel(cells: Cells, name: str, mine: str, rival: str) -> Duel:
    gaps = np.array(
        [one.auc - other.auc for one, other in zip(cells[name, mine], cells[name, rival], strict=True)],
        dtype=np.float64,
    )
    p_value, mean = paired_p_value(gaps), float(gaps.mean())
    careful_p_value = paired_p_value(gaps, cells[name, mine][0].test_share)
    return Duel(name, rival, mean, p_value, letter(mean, p_value), careful_p_value)


def paired_p_value(gaps: FloatArray, test_share: float = 0.0) -> float:
    """Two-sided p-value of a mean of 0; without spread, 1 for no difference and 0 for a difference.

    ``test_share``, the rows of the test by those learned from, corrects for runs that share rows (Nadeau and Bengio
    2003): the variance of the mean is (1 / n_runs + test_share) times that of a run.

    >>> gaps = np.array([1.0, 2.0, 3.0])
    >>> round(paired_p_value(gaps), 3), round(paired_p_value(gaps, 0.25), 3)
    (0.074, 0.12)
    """
    if len(gaps) < 2:
        return 1.0
    if float(np.ptp(gaps)) == 0.0:
        return 1.0 if gaps[0] == 0 else 0.0
    from scipy.stats import t as student

    error = np.sqrt(gaps.var(ddof=1) * (1.0 / len(gaps) + test_share))
    return float(2.0 * student.sf(abs(gaps.mean()) / error, len(gaps) - 1))


def letter(difference: float, p_value: float) -> str:
    """W, L or T.

    >>> letter(0.1, 0.01), letter(-0.1, 0.01), letter(0.1, 0.3)
    ('W', 'L', 'T')
    """
    return "T" if p_value >= LEVEL else "W" if difference > 0 else "L"


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for looking at many: Holm's step-down.

    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    highest, adjusted = 0.0, [0.0] * len(p_values)
    for place, number in enumerate(order):
        highest = max(highest, (len(p_values) - place) * p_values[number])
        adjusted[number] = min(highest, 1.0)
    return adjusted


def corrected(found: Sequence[Duel]) -> list[Duel]:
    """The same duels with p-values adjusted over the sets, rival by rival."""
    result = []
    for rival in dict.fromkeys(duel.rival for duel in found):
        mine = [duel for duel in found if duel.rival == rival]
        for duel, p_value in zip(mine, holm([duel.p_value for duel in mine]), strict=True):
            result.append(replace(duel, p_value=p_value, letter=letter(duel.difference, p_value)))
    return result


def careful(found: Sequence[Duel]) -> list[Duel]:
    """The same duels judged by the p-values for runs that share rows."""
    return [
        replace(duel, p_value=duel.careful_p_value, letter=letter(duel.difference, duel.careful_p_value))
        for duel in found
    ]


def totals(found: Sequence[Duel], rival: str) -> tuple[int, int, int]:
    """Wins, losses and ties against a rival."""
    letters = [duel.letter for duel in found if duel.rival == rival]
    return letters.count("W"), letters.count("L"), letters.count("T")


def shortfalls(cells: Cells, mine: str = OURS, rival: str = "ERankSVM") -> dict[str, float]:
    """How much less mean AUC than the rival, set by set."""
    return {
        name: float(
            np.mean([cell.auc for cell in cells[name, rival]]) - np.mean([cell.auc for cell in cells[name, mine]])
        )
        for name in dict.fromkeys(name for name, _ in cells)
    }


def agreement(found: Sequence[Duel], expected: Mapping[str, Any]) -> tuple[int, int]:
    """How many cells have the paper's letter, of how many that have one."""
    pairs = [
        (duel.letter, expected["sets"][duel.data]["cells"][expected["rivals"].index(duel.rival)])
        for duel in found
        if duel.data in expected["sets"]
    ]
    return sum(ours == theirs for ours, theirs in pairs), len(pairs)


def verdicts(run: ActivePairsAgain) -> list[Verdict]:
    """Judge each claim of the paper."""
    judged = {"wins": _wins, "random": _random, "all pairs": _all_pairs, "points": _points}
    return [
        Verdict(claim["name"], claim["text"], claim["source"], *judged[claim["name"]](run))
        for claim in run.expected["claims"]
    ]


def _wins(run: ActivePairsAgain) -> tuple[str, str]:
    counts = {rival: totals(run.duels, rival) for rival in run.expected["rivals"]}
    ahead = sum(wins > losses for wins, losses, _ in counts.values())
    numbers = ", ".join(f"{rival} {wins}/{losses}/{ties}" for rival, (wins, losses, ties) in counts.items())
    behind = sum(losses > wins for wins, losses, _ in counts.values())
    word = "agrees" if ahead == len(counts) else "in part" if ahead else "disagrees" if behind else "not shown"
    return word, f"wins/losses/ties against {numbers}"


def _random(run: ActivePairsAgain) -> tuple[str, str]:
    wins, losses, ties = totals(run.duels, "random")
    word = "agrees" if losses == 0 and wins else "in part" if wins > losses else "disagrees" if losses else "not shown"
    return word, f"{wins} wins, {losses} losses, {ties} ties"


def _all_pairs(run: ActivePairsAgain) -> tuple[str, str]:
    wins, losses, ties = totals(run.duels, "ERankSVM")
    most = wins > losses + ties
    word = "agrees" if most else "in part" if wins > losses else "disagrees" if losses > wins else "not shown"
    return word, f"{wins} wins, {losses} losses, {ties} ties"


def _points(run: ActivePairsAgain) -> tuple[str, str]:
    gains = {
        (reading, share): np.array(areas) - np.array(shares[0.0])
        for reading, shares in run.points.items()
        for share, areas in shares.items()
        if share > 0
    }
    reading, share = best = max(gains, key=lambda one: float(gains[one].mean()))
    gain, p_value = float(gains[best].mean()), min(1.0, len(gains) * paired_p_value(gains[best]))
    word = "agrees" if gain > 0 and p_value < LEVEL else "not shown" if gain > 0 else "disagrees"
    return word, f"best share {share:g} ({reading}): AUC {gain:+.4f} on none, p = {p_value:.2g} after Bonferroni"
