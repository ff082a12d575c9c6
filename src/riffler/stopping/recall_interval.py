"""How many relevant items there may be, and what recall that is: the interval of this moment.

The first m items of the random order are all labelled. Of the K relevant items that the policy has not come to, X are
among them: X is Hypergeometric(n_items, K, m), because the policy is blind to that order. Inverting both tails exactly
brackets K, and with what the policy found the total.

The interval is one for a moment that is fixed in advance. Who looks at it again and again, and stops when it looks
best, has no such guarantee: for that there is the certificate of a stopping rule, which it never contradicts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from riffler.stopping.elusion import most_missed
from riffler.stopping.progress import Decision, check_goal, least_total


@dataclass(frozen=True, slots=True)
class RecallEstimate:
    """How much of what is relevant has been found, as far as that can be said now.

    n_found : relevant items found, in whatever way
    total, total_low, total_high : relevant items there are: best guess, and interval
    recall, recall_low, recall_high : share of them that is found: best guess, and interval
    n_control : items drawn at random
    n_unresolved : items of the random order that nobody could judge, which count as relevant and missed at the
        pessimistic end and as irrelevant at the other

    Before anything is drawn the interval is what logic allows, and there is no guess: None.
    """

    n_found: int
    total: int | None
    total_low: int
    total_high: int
    recall: float | None
    recall_low: float
    recall_high: float
    n_control: int
    n_unresolved: int


@dataclass(frozen=True, slots=True)
class StratumSample:
    """What the random order of a stratum shows.

    n_items : items of the stratum
    n_found : relevant items found; n_met : those of them that the policy came to
    n_possible : items that may still turn out relevant: unlabelled, or nobody could judge them
    n_drawn : items at the head of the random order that are all labelled; 0 where the policy was not blind to them
    n_missed : relevant ones among these that the policy has not come to
    n_control : items drawn at random; n_unresolved : items of the random order that nobody could judge
    """

    n_items: int
    n_found: int
    n_met: int
    n_possible: int
    n_drawn: int
    n_missed: int
    n_control: int
    n_unresolved: int


def least_missed(n_items: int, n_drawn: int, n_relevant: int, confidence: float) -> int:
    """Bound the relevant items from below, the drawn ones included.

    The least K with P(Hypergeometric(n_items, K, n_drawn) >= n_relevant) > 1 - confidence.

    >>> least_missed(5000, 300, 0, 0.95), least_missed(5000, 300, 2, 0.95)
    (0, 7)
    """
    from scipy.stats import hypergeom

    low, high = n_relevant, n_items - (n_drawn - n_relevant)
    while low < high:
        middle = (low + high) // 2
        if hypergeom.sf(n_relevant - 1, n_items, middle, n_drawn) > 1.0 - confidence:
            high = middle
        else:
            low = middle + 1
    return low


def total_between(sample: StratumSample, confidence: float) -> tuple[int, int]:
    """Return the least and the most relevant items of a stratum, each end with an error of (1 - confidence) / 2.

    >>> sample = StratumSample(1000, 40, 38, 700, n_drawn=200, n_missed=2, n_control=150, n_unresolved=0)
    >>> total_between(sample, 0.95), total_between(sample, 0.0)
    ((40, 71), (47, 51))
    """
    possible = sample.n_found, sample.n_found + sample.n_possible
    if sample.n_drawn == 0:
        return possible
    sure = 1.0 - (1.0 - confidence) / 2
    most_seen = min(sample.n_missed + sample.n_unresolved, sample.n_drawn)
    low = sample.n_met + least_missed(sample.n_items, sample.n_drawn, sample.n_missed, sure)
    high = sample.n_met + most_missed(sample.n_items, sample.n_drawn, most_seen, sure)
    return min(max(low, possible[0]), possible[1]), min(max(high, possible[0]), possible[1])


def estimate_recall(
    samples: Sequence[StratumSample], decision: Decision | None, target: float, confidence: float
) -> RecallEstimate:
    """Bracket the relevant items of all strata, and say what recall that is.

    With several strata each gets its share of the error, and the ends add up. The best guess lies in the middle of the
    interval of confidence 0. The interval agrees with the ``decision`` of the stopping rule: what that proves is the
    lower end of the recall, and while it has not proved the target the lower end stays below the target.
    """
    check_goal(target, confidence)
    n_found = sum(one.n_found for one in samples)
    most_possible = n_found + sum(one.n_possible for one in samples)
    each = 1.0 - (1.0 - confidence) / len(samples)
    low, high = _added(samples, each)
    if decision is not None and decision.recall_low:
        high = min(math.floor(n_found / decision.recall_low + 1e-9), most_possible)
    elif high < least_total(n_found, target):
        high = min(least_total(n_found, target), most_possible)
    low = min(low, high)
    guess = None
    if all(one.n_drawn for one in samples):
        guess = min(max(round(sum(_added(samples, 0.0)) / 2), low), high)
    return RecallEstimate(
        n_found=n_found,
        total=guess,
        total_low=low,
        total_high=high,
        recall=n_found / guess if guess and n_found else None,
        recall_low=_share(n_found, high),
        recall_high=_share(n_found, low),
        n_control=sum(one.n_control for one in samples),
        n_unresolved=sum(one.n_unresolved for one in samples),
    )


def _added(samples: Sequence[StratumSample], confidence: float) -> tuple[int, int]:
    lows, highs = zip(*(total_between(one, confidence) for one in samples), strict=True)
    return sum(lows), sum(highs)


def _share(n_found: int, total: int) -> float:
    return n_found / total if total else 1.0
