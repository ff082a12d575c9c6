"""What the slides print about ranking, and what holds: each statement is computed, on five documents by all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.reproduction.verdicts import Verdict
from riffler.structured.assignment import Assignment
from riffler.structured.partial_order import Ordered

SOURCE = "slides on ranking"
PAGES = np.array([3, 2, 3, 9, 1])
GRADES = np.array([0.0, 2.0, 5.0, 1.0, 0.0])
DISCOUNT = 1.0 / np.log2(np.arange(2, 7))
ORDERS = [np.array(order) for order in permutations(range(5))]


def sorting() -> Verdict:
    """The example on sorting: 57 as given, 71 sorted, which no order exceeds."""
    rising = np.arange(1, 6)
    given, after = int(PAGES @ rising), int(np.sort(PAGES) @ rising)
    most = max(int(PAGES[order] @ rising) for order in ORDERS)
    return Verdict(
        "sorting",
        "Sorting 3, 2, 3, 9, 1 along c = 1..5 raises the score from 57 to 71, the most there is.",
        SOURCE,
        "agrees" if (given, after, most) == (57, 71, 71) else "disagrees",
        f"{given} unsorted, {after} sorted, {most} at most over all 120 orders",
    )


def errata() -> list[Verdict]:
    """What is printed, judged as printed; the numbers say what was found and what is implemented."""
    return [_gain(), _sign(), _direction(), _ratings()]


def dcg(gain: FloatArray, order: IntArray) -> float:
    """Sum of gains over all five places.

    >>> round(dcg(np.array([1.0, 0, 0, 0, 0]), np.array([1, 0, 2, 3, 4])), 3)
    0.631
    """
    return float(gain[order] @ DISCOUNT)


def _gain() -> Verdict:
    minus, plus = 2**GRADES - 1, 2**GRADES + 1
    best = np.argsort(-GRADES, kind="stable")
    worst = best[::-1]
    apart = max(abs((dcg(plus, best) - dcg(plus, o)) - (dcg(minus, best) - dcg(minus, o))) for o in ORDERS)
    shares = [dcg(gain, worst) / dcg(gain, best) for gain in (minus, plus)]
    return Verdict(
        "E11",
        "The gain of a page is 2^y + 1.",
        SOURCE,
        "in part" if apart < 1e-9 and shares[1] > shares[0] + 0.01 else "agrees",
        f"differences of whole lists are those of 2^y - 1 (up to {apart:.0e}), shares are not: the worst order keeps "
        f"{shares[1]:.2f} of the best by 2^y + 1, {shares[0]:.2f} by 2^y - 1; 2^y - 1 is implemented",
    )


def _sign() -> Verdict:
    x = np.random.default_rng(0).normal(scale=0.3, size=(5, 1))
    task, places = Assignment("ndcg", places=0.5), np.arange(1.0, 6) ** -0.5
    gain = task.gains(GRADES, "y")

    def violation(order: IntArray) -> float:
        return task.loss(GRADES, Ordered(order)) + float(places @ x[order, 0])

    most = max(map(violation, ORDERS))
    added = violation(max(ORDERS, key=lambda order: float(places @ x[order, 0] + DISCOUNT @ gain[order])))
    taken_off = violation(task.loss_augmented_argmax(x, GRADES, np.ones(1)).order)
    return Verdict(
        "E12",
        "The most violated constraint is found by adding the gain to the score.",
        SOURCE,
        "disagrees" if added < most - 1e-9 and abs(taken_off - most) < 1e-9 else "agrees",
        f"violation {added:.3f} if the gain is added, {taken_off:.3f} if it is taken off, {most:.3f} at most over all "
        "orders; it is taken off here",
    )


def _direction() -> Verdict:
    task, weights, x = Assignment(places="linear"), np.ones(1), PAGES[:, None].astype(np.float64)
    best = task.argmax(x, weights)
    score = 5.0 * float((task.joint_feature(x, best) @ weights).item())
    falls = PAGES[best.order].tolist() == sorted(PAGES.tolist(), reverse=True)
    return Verdict(
        "E13",
        "Weights of places fall, and documents are sorted in descending order (the example has them rise).",
        SOURCE,
        "agrees" if falls and abs(score - 71) < 1e-9 else "disagrees",
        f"with c = 5..1 documents sorted in descending order have the same {score:g}; c falls here",
    )


def _ratings() -> Verdict:
    task = Assignment("ndcg")
    swapped = Ordered(np.array([1, 0]))
    losses = [task.loss([5, low], swapped) for low in (0, 3, 4)]
    return Verdict(
        "E14",
        "Ratings are 0 or 5.",
        SOURCE,
        "disagrees" if losses[0] > losses[1] > losses[2] > 0 else "agrees",
        "whole numbers from 0 to 5 are meant: a 5 behind a 0, a 3 or a 4 costs "
        + ", ".join(f"{loss:.2f}" for loss in losses),
    )
