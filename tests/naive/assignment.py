"""Structural hinges of rankings by linear assignment, by looking at every permutation."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from riffler.records import FloatArray


def measure(name: str, n: int, grades_in_order: FloatArray) -> float:
    """DCG, the share of relevant documents, or the reciprocal rank, of grades as they stand."""
    top = grades_in_order[:n]
    if name == "ndcg":
        return float(sum((2.0**grade - 1) / np.log2(place + 1) for place, grade in enumerate(top, start=1)))
    if name == "precision":
        return float((top > 0).sum() / n)
    return float(1.0 / (1 + np.argmax(grades_in_order > 0)))


def loss(name: str, n: int, grades: FloatArray, order: tuple[int, ...]) -> float:
    return 1.0 - measure(name, n, grades[list(order)]) / measure(name, n, np.sort(grades)[::-1])


def weights(places: str | float, name: str, n: int, length: int) -> list[float]:
    """What each place weighs in the score."""
    if places == "linear":
        return [(length - p) / length for p in range(length)]
    if isinstance(places, float):
        return [(p + 1) ** -places for p in range(length)]
    if name == "ndcg":
        return [1 / np.log2(p + 2) if p < n else 0.0 for p in range(length)]
    return (
        [1 / n if p < n else 0.0 for p in range(length)]
        if name == "precision"
        else [1 / (p + 1) for p in range(length)]
    )


def score(c: list[float], scores: FloatArray, order: tuple[int, ...]) -> float:
    return float(sum(weight * scores[row] for weight, row in zip(c, order, strict=True)))


def height(
    name: str, n: int, places: str | float, scores: FloatArray, grades: FloatArray, order: tuple[int, ...]
) -> float:
    """The violation of an order; the score of the truth is the mean over all orders by grade."""
    c = weights(places, name, n, len(scores))
    true_orders = [one for one in permutations(range(len(scores))) if (np.diff(grades[list(one)]) <= 0).all()]
    truth = float(np.mean([score(c, scores, one) for one in true_orders]))
    return loss(name, n, grades, order) + score(c, scores, order) - truth


def hinge(name: str, n: int, places: str | float, scores: FloatArray, grades: FloatArray) -> float:
    """The largest violation."""
    c = weights(places, name, n, len(scores))
    free = {o: loss(name, n, grades, o) + score(c, scores, o) for o in permutations(range(len(scores)))}
    return height(name, n, places, scores, grades, max(free, key=free.__getitem__))


def best_height(scores: FloatArray, gains: FloatArray, worth: FloatArray) -> float:
    """The largest sum of worth * (score - gain) over all orders."""
    orders = permutations(range(len(scores)))
    return max(float(sum(w * (scores[row] - gains[row]) for w, row in zip(worth, one, strict=True))) for one in orders)
