"""Labels that are on or off, by looking at all of them."""

from __future__ import annotations

from itertools import product

import numpy as np

from riffler.records import FloatArray, IntArray


def all_labellings(n_labels: int) -> IntArray:
    """Every vector of 0 and 1."""
    return np.array(list(product((0, 1), repeat=n_labels)), dtype=np.int8)


def score(labels: IntArray, gains: FloatArray, tables: FloatArray, edges: list[tuple[int, int]]) -> float:
    """Gains of the labels that are on, and the entry of each edge's 2 x 2 table."""
    of_edges = sum(tables[e, labels[parent], labels[child]] for e, (parent, child) in enumerate(edges))
    return float(gains @ labels + of_edges)


def best_violation(
    truth: IntArray,
    gains: FloatArray,
    tables: FloatArray,
    edges: list[tuple[int, int]],
    costs: FloatArray,
    rescaling: str,
) -> float:
    """The largest violation of the margin over all labellings."""
    true_score = score(truth, gains, tables, edges)
    found = -np.inf
    for labels in all_labellings(len(truth)):
        loss = float(costs @ (labels != truth))
        short = true_score - score(labels, gains, tables, edges)
        found = max(found, loss * (1 - short) if rescaling == "slack" else loss - short)
    return found
