"""Thompson sampling over soft clusters as its definition says: every item under every draw, one answer at a time."""

from __future__ import annotations

from riffler.records import BoolArray, FloatArray, IntArray


def best_for_draws(
    memberships: FloatArray, chances: FloatArray, draws: FloatArray, reviewed: BoolArray, ties: IntArray
) -> list[int]:
    """For each draw the item of the largest worth that is left; of equal ones the one with the lower tie."""
    left = [item for item in range(len(chances)) if not reviewed[item]]
    picked: list[int] = []
    for rates in draws[: len(left)]:
        worth = {}
        for item in left:
            total = 0.0
            for membership, rate in zip(memberships[item], rates, strict=True):
                total += float(membership) * float(rate)
            worth[item] = float(chances[item]) * total
        best = max(left, key=lambda item: (worth[item], -ties[item]))
        picked.append(best)
        left.remove(best)
    return picked


def counts(
    memberships: FloatArray, rounds: list[list[tuple[int, int]]], gamma: float, prior: float
) -> tuple[FloatArray, FloatArray]:
    """S and F after some rounds of (item, answer), updated round by round."""
    successes = memberships[0] * 0 + prior
    failures = memberships[0] * 0 + prior
    for batch in rounds:
        successes, failures = gamma * successes, gamma * failures
        for item, answer in batch:
            if answer == 1:
                successes = successes + memberships[item]
            elif answer == 0:
                failures = failures + memberships[item]
    return successes, failures
