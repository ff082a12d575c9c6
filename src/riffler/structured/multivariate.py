"""A whole set of rows as one structured example: x is a matrix, y labels each of its rows 0 or 1 (Joachims 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.records import BoolArray, FloatArray, IntArray, Matrix
from riffler.structured.by_cuts import ByCuts
from riffler.structured.contingency import largest
from riffler.structured.cutting_plane import Plane
from riffler.structured.measures import (
    LabelMeasure,
    PrecisionAtK,
    RecallAtK,
    as_relevant,
    measure_from_name,
    need_relevant,
)
from riffler.structured.problem import Cut
from riffler.structured.query_rows import need_labels_of_each, need_one_matrix_each, rows_of_each
from riffler.structured.row_products import RowProducts, finite_scores


@dataclass(frozen=True, slots=True)
class Multivariate:
    """Label the rows of a set so that a measure of the whole set is good; phi(x, y) is the sum of the selected rows.

    measure : "precision", "recall", "f1", "prbep", "error", or such an object; ROC area has orders as outputs, not
        labels, and is learned by :class:`riffler.MultivariateSVM`
    k : for precision and recall, the rows at the top: a number, or a share of the relevant rows
    share, unit : of the rows selected, and the rows a loss of 1 stands for; both learned from the data

    >>> task = Multivariate("f1")
    >>> task.loss([1, 1, 0], [1, 0, 0])
    0.333...
    """

    measure: Any = "f1"
    k: int | float = 0.25
    share: float | None = None
    unit: float = 1.0

    def __post_init__(self) -> None:
        self._measure()  # raises where it cannot be used

    def for_data(self, X: Sequence[Matrix], Y: Sequence[ArrayLike]) -> Multivariate:
        """Give a copy that knows what share of the rows is to be selected, where the measure fixes their number."""
        need_one_matrix_each(X, "set")
        need_labels_of_each(Y, "set")
        measure = self._measure()
        n_rows = sum(len(np.asarray(y)) for y in Y)
        sizes = [(int(np.count_nonzero(need_relevant(y))), len(np.asarray(y))) for y in Y]
        selected = [measure.n_selected(*size) for size in sizes]
        share = None if any(n is None for n in selected) else sum(n or 0 for n in selected) / n_rows
        return replace(self, share=share, unit=float(np.mean([measure.unit(*size) for size in sizes])))

    def joint_feature(self, x: Matrix, y: ArrayLike) -> FloatArray:
        """Sum the rows that are selected, by the unit."""
        return RowProducts(x).pull_back(as_relevant(y) / self.unit)

    def loss(self, y: ArrayLike, other: ArrayLike) -> float:
        """Give 1 - the measure."""
        return self._measure().loss(y, other)

    def argmax(self, x: Matrix, weights: FloatArray) -> BoolArray:
        """Select the rows that score above 0, or as many of the best as the measure wants."""
        return self._best(x, weights, "x")

    def loss_augmented_argmax(self, x: Matrix, y: ArrayLike, weights: FloatArray) -> BoolArray:
        """Give the labelling that violates the margin most."""
        return self._worst(x, y, weights, "margin")

    def slack_augmented_argmax(self, x: Matrix, y: ArrayLike, weights: FloatArray) -> BoolArray:
        """Give the labelling whose violation, multiplied by its loss, is greatest."""
        return self._worst(x, y, weights, "slack")

    def problem(self, X: Sequence[Matrix], Y: Sequence[ArrayLike], rescaling: str) -> WholeSets:
        """Give all sets as a problem; rows are read, never copied."""
        return WholeSets(self, X, Y, rescaling)

    def argmax_of_all(self, X: Sequence[Matrix], weights: FloatArray) -> list[Any]:
        """Label the rows of every set."""
        need_one_matrix_each(X, "set")
        return [self._best(x, weights, f"Set {number}") for number, x in enumerate(X)]

    def _best(self, x: Matrix, weights: FloatArray, whose: str) -> BoolArray:
        scores = finite_scores(x, weights, whose)
        if self.share is None:
            above: BoolArray = scores > 0
            return above
        return largest(scores, min(self._n_of(len(scores)), len(scores)))

    def _measure(self) -> LabelMeasure:
        found = measure_from_name(self.measure, self.k) if isinstance(self.measure, str) else self.measure
        if not isinstance(found, LabelMeasure):
            raise InputError(
                f"{self.measure!r} is no measure of labellings: its outputs are orders of the rows. "
                'Use MultivariateSVM(measure="auc"), or HingeRankSVM.'
            )
        return found

    def _n_of(self, n_rows: int) -> int:
        """Give how many of the rows of a set without labels to select."""
        measure = self._measure()
        if isinstance(measure, PrecisionAtK | RecallAtK) and isinstance(measure.k, int | np.integer):
            return int(measure.k)
        return round((self.share or 0.0) * n_rows)

    def _worst(self, x: Matrix, y: ArrayLike, weights: FloatArray, rescaling: str) -> BoolArray:
        return self.worst_at(RowProducts(x).scores(weights), need_relevant(y), rescaling)

    def worst_at(self, scores: FloatArray, relevant: BoolArray, rescaling: str) -> BoolArray:
        """Give the most violating labelling at these scores; the unit of the set becomes that of all sets."""
        measure = self._measure()
        unit = measure.unit(int(np.count_nonzero(relevant)), len(relevant))
        return measure.most_violating(scores * (unit / self.unit), relevant, rescaling)


class WholeSets(ByCuts):
    """Sets of rows, each one example."""

    def __init__(self, task: Multivariate, X: Sequence[Matrix], Y: Sequence[ArrayLike], rescaling: str) -> None:
        self._task, self._rescaling = task, rescaling
        self._rows = rows_of_each(X, Y, "set")
        self._relevant = [need_relevant(y) for y in Y]
        self.n_examples, self.n_weights = len(X), self._rows[0].n_columns

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Give the cut of the most violating labelling of one set."""
        loss, slopes = self._slopes(example, weights)
        places: IntArray = np.flatnonzero(slopes)
        return Cut(places, slopes[places], loss)

    def plane(self, weights: FloatArray) -> Plane:
        """Give the mean of the cuts."""
        found = [self._slopes(example, weights) for example in range(self.n_examples)]
        slopes: FloatArray = np.mean([slopes for _, slopes in found], axis=0)
        return Plane(slopes, float(np.mean([loss for loss, _ in found])))

    def _slopes(self, example: int, weights: FloatArray) -> tuple[float, FloatArray]:
        rows, relevant = self._rows[example], self._relevant[example]
        selected = self._task.worst_at(rows.scores(weights), relevant, self._rescaling)
        loss = self._task.loss(relevant, selected)
        slopes = rows.pull_back((relevant.astype(np.float64) - selected) / self._task.unit)
        return loss, loss * slopes if self._rescaling == "slack" else slopes
