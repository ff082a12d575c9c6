"""Examples of many labels as the solvers see them, in compiled loops.

x enters every joint feature as x times a label, so the share of an example in the weights is a number for each label
and four for each edge, its short form: memory is n * (L + 4 E), whatever the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler._fast.label_tree import SLACK, add_short, violating_labels, violations_of_all, write_scores
from riffler._fast.rows import as_rows
from riffler.records import FloatArray, IntArray, Matrix
from riffler.structured.cutting_plane import Plane
from riffler.structured.label_forest import LabelForest
from riffler.structured.multilabel_sets import MultilabelBlocks, MultilabelWorkingSets
from riffler.structured.problem import Cut


@dataclass(frozen=True, eq=False)
class LabelSpace:
    """Columns of x, labels with their costs (of sum 1), and which labels look at each other."""

    n_columns: int
    forest: LabelForest
    costs: FloatArray

    @property
    def n_labels(self) -> int:
        """Labels of an output."""
        return len(self.costs)

    @property
    def n_weights(self) -> int:
        """A weight for each label and column, or constant, and four for each edge."""
        return self.n_labels * (self.n_columns + 1) + 4 * len(self.forest.edges)

    def parts(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """View weights as those of the labels, shape (n_labels, n_columns + 1), and those of the edges, four each."""
        cut = self.n_labels * (self.n_columns + 1)
        return weights[:cut].reshape(self.n_labels, self.n_columns + 1), weights[cut:]

    def short_form(self, labels: IntArray) -> FloatArray:
        """Give the labels themselves and, for each edge, which of the four values it has: shape (n, L + 4 E)."""
        short: FloatArray = np.zeros((len(labels), self.n_labels + 4 * len(self.forest.edges)))
        for row, one in zip(short, labels, strict=True):
            add_short(one, self.forest.tree, 1.0, row)
        return short

    def weights_of(self, rows: Matrix, shares: FloatArray) -> FloatArray:
        """Sum rows times their shares in short form."""
        of_labels = shares[:, : self.n_labels]
        weights: FloatArray = np.empty(self.n_weights)
        label_weights, table_scores = self.parts(weights)
        label_weights[:, :-1] = (rows.T @ of_labels).T
        label_weights[:, -1] = of_labels.sum(axis=0)
        table_scores[:] = shares[:, self.n_labels :].sum(axis=0)
        return weights


def label_gains(rows: Matrix, label_weights: FloatArray) -> FloatArray:
    """Give what turning each label on adds to the score of each row, edges apart: shape (n, n_labels)."""
    return np.ascontiguousarray(rows @ label_weights[:, :-1].T + label_weights[:, -1])


class MultilabelProblem:
    """Rows of numbers with their true labels."""

    def __init__(self, space: LabelSpace, rows: Matrix, labels: IntArray, rescaling: int) -> None:
        self.space, self.rows, self.labels, self.rescaling = space, rows, labels, rescaling
        self.n_examples, self.n_weights = rows.shape[0], space.n_weights
        self.views = as_rows(rows)

    def violating(self, example: int, weights: FloatArray) -> IntArray:
        """Give the labels that violate the margin of one example most."""
        space, (label_weights, table_scores) = self.space, self.space.parts(weights)
        scores = np.empty(space.n_labels + len(table_scores))
        write_scores(self.views, example, label_weights, table_scores, scores)
        other = np.empty(space.n_labels, np.int8)
        violating_labels(scores, space.forest.tree, self.labels[example], space.costs, self.rescaling, other)
        return other

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Give the cut of the labels that violate the margin of one example most."""
        space, other = self.space, self.violating(example, weights)
        loss = float((self.labels[example] != other) @ space.costs)
        truth, found = space.short_form(np.stack([self.labels[example], other]))
        share = (truth - found) * (loss if self.rescaling == SLACK else 1.0)
        slopes = space.weights_of(self.rows[example : example + 1], share[None])
        places = np.flatnonzero(slopes)
        return Cut(places, slopes[places], loss)

    def plane(self, weights: FloatArray) -> Plane:
        """Give the mean of the cuts of all examples."""
        space, (label_weights, table_scores) = self.space, self.space.parts(weights)
        differences = np.empty((self.n_examples, space.n_labels + len(table_scores)))
        losses = np.empty(self.n_examples)
        gains = label_gains(self.rows, label_weights)
        violations_of_all(
            gains, table_scores, space.forest.tree, self.labels, space.costs, self.rescaling, differences, losses
        )
        return Plane(space.weights_of(self.rows, differences) / self.n_examples, float(losses.mean()))

    def blocks(self, C: float) -> MultilabelBlocks:
        """Keep the share of each example in short form."""
        return MultilabelBlocks(self, C)

    def working_sets(self, C: float) -> MultilabelWorkingSets:
        """Keep the labellings that mattered."""
        return MultilabelWorkingSets(self, C)
