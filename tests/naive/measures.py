"""Structural hinges of measures of a whole set, by looking at every labelling."""

from __future__ import annotations

from itertools import product

import numpy as np

from riffler.records import BoolArray, FloatArray, IntArray


def labellings(n: int) -> list[BoolArray]:
    return [np.array(one, dtype=bool) for one in product([False, True], repeat=n)]


def loss(name: str, k: int, y: BoolArray, other: BoolArray) -> float:
    """1 - the measure, from its definition."""
    if (y == other).all():
        return 0.0
    right, selected, relevant = int((y & other).sum()), int(other.sum()), int(y.sum())
    if name == "error":
        return float((y != other).mean())
    if name == "f1":
        return 1.0 - 2.0 * right / (selected + relevant)
    return 1.0 - right / (relevant if name == "recall" else selected)


def allowed(name: str, k: int, y: BoolArray) -> list[BoolArray]:
    """The labellings that are outputs: of the measures at the top, those of its length, and the truth."""
    n_top = {"precision": k, "recall": k, "prbep": int(y.sum())}.get(name)
    return [z for z in labellings(len(y)) if n_top is None or z.sum() == n_top or (z == y).all()]


def unit(name: str, k: int, y: BoolArray) -> float:
    return float({"precision": k, "error": len(y)}.get(name, int(y.sum())))


def hinge(name: str, k: int, scores: FloatArray, y: BoolArray, rescaling: str) -> float:
    """The largest violation."""
    return max(height(name, k, scores, y, z, rescaling) for z in allowed(name, k, y))


def height(name: str, k: int, scores: FloatArray, y: BoolArray, z: BoolArray, rescaling: str) -> float:
    margin = float((scores[z].sum() - scores[y].sum()) / unit(name, k, y))
    if rescaling == "slack":
        return loss(name, k, y, z) * (1.0 + margin)
    return loss(name, k, y, z) + margin


def roc_hinge(scores: FloatArray, y: IntArray) -> float:
    """Each pair in or out of order by itself."""
    upper, lower = scores[y == 1], scores[y == 0]
    return float(np.mean([max(0.0, 1.0 - (s - t)) for s in upper for t in lower]))
