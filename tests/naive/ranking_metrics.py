"""Slow, obvious measures: each is defined on one order of the rows, and averaged over every order the ties allow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

Ranked = Sequence[float]
"""Labels in ranked order, best first."""


def tie_orders(labels: Sequence[float], scores: Sequence[float]) -> Iterator[list[float]]:
    """All orders of the labels that agree with the scores; every one is equally likely."""
    blocks = [
        [label for label, score in zip(labels, scores, strict=True) if score == level]
        for level in sorted(set(scores), reverse=True)
    ]
    for parts in itertools.product(*(itertools.permutations(block) for block in blocks)):
        yield [label for part in parts for label in part]


def expected(measure: Callable[[Ranked], float], labels: Sequence[float], scores: Sequence[float]) -> float:
    return fmean(measure(ranked) for ranked in tie_orders(labels, scores))


def precision(ranked: Ranked, k: int) -> float:
    return sum(ranked[:k]) / k


def loss(ranked: Ranked, k: int) -> float:
    return sum(1 - label for label in ranked[:k])


def recall(ranked: Ranked, k: int) -> float:
    return sum(ranked[:k]) / sum(ranked)


def auc(ranked: Ranked) -> float:
    pairs = [(i, j) for i, y in enumerate(ranked) if y == 1 for j, z in enumerate(ranked) if z == 0]
    return fmean(float(i < j) for i, j in pairs)


def partial_auc(ranked: Ranked, max_fpr: float) -> float:
    """Walk the step curve from left to right: a negative is a strip as high as the share of positives before it."""
    n_negative, n_positive = ranked.count(0), ranked.count(1)
    area = left = height = 0.0
    for label in ranked:
        if label == 1:
            height += 1 / n_positive
        else:
            area += height * max(0.0, min(left + 1 / n_negative, max_fpr) - left)
            left += 1 / n_negative
    return area / max_fpr


def average_precision(ranked: Ranked) -> float:
    return fmean(precision(ranked, rank) for rank, label in enumerate(ranked, start=1) if label == 1)


def reciprocal_rank(ranked: Ranked) -> float:
    return 1 / (list(ranked).index(1) + 1)


def winner_takes_all(ranked: Ranked) -> float:
    return ranked[0]


def ndcg(ranked: Ranked, n: int) -> float:
    def dcg(grades: Ranked) -> float:
        return sum((2**grade - 1) / math.log2(1 + rank) for rank, grade in enumerate(grades[:n], start=1))

    return dcg(ranked) / dcg(sorted(ranked, reverse=True))
