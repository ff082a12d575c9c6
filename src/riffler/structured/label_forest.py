"""Which labels look at each other: pairs that form a forest, given or found by the labels' mutual information."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import xlogy

from riffler._fast.label_tree import LabelTree
from riffler.errors import InputError
from riffler.records import FloatArray, IntArray


@dataclass(frozen=True)
class LabelForest:
    """Pairs of labels (parent, child), the pair into a label before those out of it.

    roots : the labels that are no child, the least of each part
    """

    edges: tuple[tuple[int, int], ...]
    roots: tuple[int, ...]

    @cached_property
    def tree(self) -> Any:  # noqa: ANN401 - a namedtuple for the compiled loops
        """The forest as one tree: pairs without a score join the first root to the others."""
        joints = [(self.roots[0], root) for root in self.roots[1:]]
        edges = np.array([*joints, *self.edges], dtype=np.int64).reshape(-1, 2)
        return LabelTree(edges, len(joints))


def forest_of_pairs(pairs: Iterable[tuple[int, int]], n_labels: int) -> LabelForest:
    """Point every pair away from the least label of its part; raises InputError where pairs form a circle.

    >>> forest_of_pairs([(2, 1), (0, 1)], n_labels=4)
    LabelForest(edges=((0, 1), (1, 2)), roots=(0, 3))
    """
    given = [(int(one), int(other)) for one, other in pairs]
    neighbours: list[list[int]] = [[] for _ in range(n_labels)]
    for one, other in given:
        if not (0 <= one < n_labels and 0 <= other < n_labels):
            raise InputError(
                f"The edge {(one, other)} is about labels that are not there: they are 0 to {n_labels - 1}."
            )
        neighbours[one].append(other)
        neighbours[other].append(one)
    edges: list[tuple[int, int]] = []
    roots: list[int] = []
    reached: set[int] = set()
    for root in range(n_labels):
        if root not in reached:
            roots.append(root)
            reached.add(root)
            edges += _edges_from(root, neighbours, reached)
    if len(edges) < len(given):
        raise InputError(
            f"The {len(given)} edges go round in a circle, or one stands twice: exact answers need a forest. Leave out "
            f'{len(given) - len(edges)} of them, or pass edges="tree" to have the most telling ones chosen.'
        )
    return LabelForest(tuple(edges), tuple(roots))


def _edges_from(root: int, neighbours: list[list[int]], reached: set[int]) -> list[tuple[int, int]]:
    """Walk through a part, nearest labels first."""
    edges: list[tuple[int, int]] = []
    queue = [root]
    for parent in queue:  # grows while it is read
        for child in neighbours[parent]:
            if child not in reached:
                reached.add(child)
                queue.append(child)
                edges.append((parent, child))
    return edges


def most_telling_tree(Y: IntArray) -> LabelForest:
    """Give the tree of the largest sum of mutual information (Chow and Liu 1968) of labels 0 or 1, shape (n, n_labels).

    >>> on = np.array([0, 0, 1, 1, 0, 1])
    >>> (1, 2) in most_telling_tree(np.column_stack([[0, 1, 0, 1, 0, 1], on, on])).edges  # equal labels tell most
    True
    """
    n_labels = Y.shape[1]
    # Mutual information of two labels is at most log 2, so that no length is 0, which would mean that there is no pair.
    lengths = np.triu(1.0 - mutual_information(Y), k=1)
    found = minimum_spanning_tree(lengths).tocoo()
    return forest_of_pairs(zip(found.row, found.col, strict=True), n_labels)


def mutual_information(Y: IntArray) -> FloatArray:
    """Give the mutual information of all pairs of labels in nats, shape (n_labels, n_labels)."""
    n, n_labels = Y.shape
    sides = {value: np.equal(Y, value).astype(np.float64) for value in (0, 1)}
    information: FloatArray = np.zeros((n_labels, n_labels))
    for one in (0, 1):
        for other in (0, 1):
            together = sides[one].T @ sides[other] / n
            apart = np.outer(sides[one].mean(axis=0), sides[other].mean(axis=0))
            information += xlogy(together, together) - xlogy(together, np.where(together > 0, apart, 1.0))
    return information
