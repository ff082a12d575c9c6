"""Losses of an order of good and bad rows from their definitions, and hinges by looking at every order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import numpy as np

from riffler.records import BoolArray, FloatArray


def loss(name: str, n: int | None, good_in_order: BoolArray) -> float:
    """1 - the measure by that of the best order; ``good_in_order`` says which places hold good rows."""
    length = len(good_in_order)
    top = length if n is None else min(n, length)
    best = np.sort(good_in_order)[::-1]
    if name == "precision":
        return float(1.0 - good_in_order[:top].sum() / best[:top].sum())
    if name == "ndcg":
        discount = 1.0 / np.log2(np.arange(2, top + 2))
        return float(1.0 - (good_in_order[:top] @ discount) / (best[:top] @ discount))
    if name == "mrr":
        return 1.0 - 1.0 / (1 + int(np.argmax(good_in_order)))
    if name == "ap":
        places = np.flatnonzero(good_in_order)
        return 1.0 - float(np.mean((np.arange(len(places)) + 1) / (places + 1)))
    return swapped(good_in_order)


def swapped(good_in_order: BoolArray) -> float:
    """Share of pairs (good, bad) in the wrong order."""
    places = range(len(good_in_order))
    pairs = [(i, j) for i in places for j in places if good_in_order[i] and not good_in_order[j]]
    return sum(j < i for i, j in pairs) / len(pairs)


def score(scores: FloatArray, good: BoolArray, order: Iterable[int]) -> float:
    """Mean of s_good - s_bad over the pairs in order, 0 for the others."""
    place = {row: p for p, row in enumerate(order)}
    pairs = [(g, b) for g in np.flatnonzero(good).tolist() for b in np.flatnonzero(~good).tolist()]
    return float(sum(scores[g] - scores[b] for g, b in pairs if place[g] < place[b]) / len(pairs))


def height(
    name: str, n: int | None, pairs: float, scores: FloatArray, good: BoolArray, order: tuple[int, ...]
) -> float:
    in_order = good[list(order)]
    truth = tuple(np.argsort(~good, kind="stable"))
    cost = loss(name, n, in_order) + pairs * swapped(in_order)
    return cost + score(scores, good, order) - score(scores, good, truth)


def hinge(name: str, n: int | None, pairs: float, scores: FloatArray, good: BoolArray) -> float:
    """The largest violation."""
    return max(height(name, n, pairs, scores, good, order) for order in permutations(range(len(good))))
