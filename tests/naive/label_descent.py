"""Block descent on labels, on whole joint feature vectors and with all labellings looked at."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from riffler.records import FloatArray, IntArray
from tests.naive.label_tree import all_labellings

Edges = list[tuple[int, int]]


def joint_feature(x: FloatArray, labels: IntArray, edges: Edges) -> FloatArray:
    """x and a 1 for each label that is on, and which of its four values each edge has."""
    tables = np.zeros((len(edges), 2, 2))
    for edge, (parent, child) in enumerate(edges):
        tables[edge, labels[parent], labels[child]] = 1.0
    return np.concatenate([np.outer(labels, np.append(x, 1.0)).ravel(), tables.ravel()])


def kept_after(labels: list[int], kept: list[list[int]], shares: list[float]) -> list[list[int]]:
    """The labellings kept once another was found: it takes the first place that is idle, the truth's apart."""
    if labels in kept:
        return kept
    idle = [place for place in range(1, len(kept)) if shares[place] == 0]
    if not idle:
        return [*kept, labels]
    return [labels if place == idle[0] else one for place, one in enumerate(kept)]


@dataclass
class Descent:
    """One move a visit: from the least violating labelling with a share to the most violating one that is kept."""

    X: FloatArray
    truths: IntArray
    edges: Edges
    costs: FloatArray
    rescaling: str
    scale: float
    weights: FloatArray = field(init=False)
    kept: list[list[list[int]]] = field(init=False)
    shares: list[list[float]] = field(init=False)
    offset: float = 0.0

    def __post_init__(self) -> None:
        self.weights = np.zeros(len(joint_feature(self.X[0], self.truths[0], self.edges)))
        self.kept = [[truth.tolist()] for truth in self.truths]
        self.shares = [[1.0] for _ in self.truths]

    def cut(self, example: int, labels: list[int]) -> tuple[FloatArray, float]:
        """Slopes and loss of a labelling."""
        truth, other, x = self.truths[example], np.array(labels), self.X[example]
        loss = float(self.costs @ (truth != other))
        slopes = joint_feature(x, truth, self.edges) - joint_feature(x, other, self.edges)
        return (loss * slopes if self.rescaling == "slack" else slopes), loss

    def height(self, example: int, labels: list[int]) -> float:
        slopes, loss = self.cut(example, labels)
        return loss - float(slopes @ self.weights)

    def ask(self, example: int) -> None:
        """Keep the most violating of all labellings."""
        outputs = all_labellings(self.truths.shape[1]).tolist()
        worst = max(outputs, key=lambda labels: self.height(example, labels))
        before = self.kept[example]
        self.kept[example] = kept_after(worst, before, self.shares[example])
        self.shares[example] += [0.0] * (len(self.kept[example]) - len(before))

    def visit(self, example: int) -> float:
        """Make the move; gives the gap before it."""
        kept, shares = self.kept[example], self.shares[example]
        heights = [self.height(example, labels) for labels in kept]
        up = int(np.argmax(heights))
        down = min((k for k in range(len(kept)) if shares[k] > 0), key=lambda k: heights[k])
        (to, gained), (off, lost) = self.cut(example, kept[up]), self.cut(example, kept[down])
        square = float((to - off) @ (to - off))
        gap = self.scale * (heights[up] - float(np.dot(heights, shares)))
        if heights[up] > heights[down]:
            step = min(shares[down], (heights[up] - heights[down]) / (self.scale * square))
            self.weights += self.scale * step * (to - off)
            self.offset += self.scale * step * (gained - lost)
            shares[up] += step
            shares[down] -= step
        return gap
