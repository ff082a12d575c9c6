"""Measures of a labelling of a whole set (Joachims 2005): their losses, and the labelling that violates most.

Labellings are coded 0 and 1: the score of a labelling is the sum of the scores of the rows it selects, divided by the
measure's unit, the number of rows that a loss of 1 stands for (k, n+ or n). So a margin of about 1 is what counts for
all of them, however many rows there are. (In the +-1 coding of SVMperf a flipped row moves the score by twice as much:
its problem with C is the one here with 4 C, for a unit of 1.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError, LabelError, UnknownName
from riffler.losses.pairwise import PairwiseHinge, PreferencePairs
from riffler.metrics.at_k import check_k, resolve_k
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.structured.contingency import Tables, largest


@dataclass(frozen=True, slots=True, eq=False)
class Violation:
    """The worst output at some scores: its loss, and what each row's score counts in score(truth) - score(output)."""

    loss: float
    moves: FloatArray


Oracle = Callable[[FloatArray], Violation]


class Measure(Protocol):
    """A loss between the true labels of a set and another output, whose worst case is found exactly."""

    @property
    def name(self) -> str:
        """As in the table of names."""
        ...

    def oracle(self, labels: ArrayLike, rescaling: str = "margin") -> Oracle:
        """Give the function of the scores that finds the most violating output for these labels."""
        ...


class LabelMeasure(ABC):
    """A measure whose loss depends only on how many relevant rows (a) and others (b) are selected."""

    __slots__ = ()

    def unit(self, n_relevant: int, n_rows: int) -> float:
        """Give the number of rows that a loss of 1 stands for."""
        return float(n_relevant)

    def n_selected(self, n_relevant: int, n_rows: int) -> int | None:
        """Give how many rows a labelling selects; None where it may be any number."""
        return None

    @abstractmethod
    def table_loss(self, a: Any, b: Any, n_relevant: int, n_rows: int) -> Any:  # noqa: ANN401 - numbers or arrays
        """Give the loss where a relevant rows and b others are selected."""

    def loss(self, y: ArrayLike, other: ArrayLike) -> float:
        """Give what the labelling ``other`` costs where ``y`` is true: from 0 to 1, and 0 for y itself."""
        truth, selected = as_relevant(y), as_relevant(other)
        if len(truth) != len(selected):
            raise LabelError(f"The truth labels {len(truth)} rows, the output {len(selected)}. Label the same rows.")
        if np.array_equal(truth, selected):
            return 0.0
        a, b = int(np.count_nonzero(selected & truth)), int(np.count_nonzero(selected & ~truth))
        return float(self.table_loss(a, b, int(np.count_nonzero(truth)), len(truth)))

    def most_violating(self, scores: FloatArray, labels: ArrayLike, rescaling: str = "margin") -> BoolArray:
        """Give the labelling that violates the margin most; the truth, where none violates it."""
        relevant = as_relevant(labels)
        n_relevant, n_rows = int(np.count_nonzero(relevant)), len(relevant)
        unit, n_selected = self.unit(n_relevant, n_rows), self.n_selected(n_relevant, n_rows)

        def loss(a: IntArray, b: IntArray) -> FloatArray:
            found: FloatArray = self.table_loss(a, b, n_relevant, n_rows)
            return found

        tables = Tables(scores, relevant, unit)
        if n_selected is None:
            return tables.selecting_any(loss, rescaling)[0]
        selected, height = tables.selecting(n_selected, loss, rescaling)
        return selected if height > 0 else relevant

    def oracle(self, labels: ArrayLike, rescaling: str = "margin") -> Oracle:
        """Give the function of the scores that finds the most violating labelling."""
        relevant = need_relevant(labels)
        unit = self.unit(int(np.count_nonzero(relevant)), len(relevant))

        def worst(scores: FloatArray) -> Violation:
            selected = self.most_violating(scores, relevant, rescaling)
            return Violation(self.loss(relevant, selected), (relevant.astype(np.float64) - selected) / unit)

        return worst


class _OfTheTop(LabelMeasure):
    """A measure of labellings that select a given number of rows, and lose the same by each wrong one."""

    __slots__ = ()

    def most_violating(self, scores: FloatArray, labels: ArrayLike, rescaling: str = "margin") -> BoolArray:
        """Give the most violating labelling: the k largest of score + 1 for rows that are not relevant."""
        if rescaling == "slack":
            return super().most_violating(scores, labels, rescaling)
        relevant = as_relevant(labels)
        n_relevant, n_rows = int(np.count_nonzero(relevant)), len(relevant)
        n_selected = self.n_selected(n_relevant, n_rows)
        assert n_selected is not None  # of all subclasses
        selected = largest(scores + ~relevant, n_selected)
        height = self.unit(n_relevant, n_rows) * self.loss(relevant, selected)
        height += float(scores[selected].sum() - scores[relevant].sum())
        return selected if height > 0 else relevant


@dataclass(frozen=True, slots=True)
class PrecisionAtK(_OfTheTop):
    """1 - precision at k of labellings that select k rows; k is a number of rows, or a share of the relevant ones.

    >>> PrecisionAtK(2).loss([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """

    k: int | float
    name = "precision"

    def __post_init__(self) -> None:
        check_k(self.k)

    def unit(self, n_relevant: int, n_rows: int) -> float:
        """Count in parts of the top."""
        return float(self.n_selected(n_relevant, n_rows))

    def n_selected(self, n_relevant: int, n_rows: int) -> int:
        """Select k rows."""
        return _top(self.k, n_relevant, n_rows)

    def table_loss(self, a: Any, b: Any, n_relevant: int, n_rows: int) -> Any:  # noqa: ANN401
        """Give the share of the top that is not relevant."""
        return b / self.n_selected(n_relevant, n_rows)


@dataclass(frozen=True, slots=True)
class RecallAtK(_OfTheTop):
    """1 - recall at k of labellings that select k rows; k is a number of rows, or a share of the relevant ones.

    >>> RecallAtK(3).loss([1, 1, 0, 0], [1, 0, 1, 1])
    0.5
    """

    k: int | float
    name = "recall"

    def __post_init__(self) -> None:
        check_k(self.k)

    def n_selected(self, n_relevant: int, n_rows: int) -> int:
        """Select k rows."""
        return _top(self.k, n_relevant, n_rows)

    def table_loss(self, a: Any, b: Any, n_relevant: int, n_rows: int) -> Any:  # noqa: ANN401
        """Give the share of the relevant rows that is not selected."""
        return 1.0 - a / n_relevant


@dataclass(frozen=True, slots=True)
class BreakEven(_OfTheTop):
    """1 - precision where as many rows are selected as are relevant: precision and recall are the same there (PRBEP).

    >>> BreakEven().loss([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """

    name = "prbep"

    def n_selected(self, n_relevant: int, n_rows: int) -> int:
        """Select as many rows as are relevant."""
        return n_relevant

    def table_loss(self, a: Any, b: Any, n_relevant: int, n_rows: int) -> Any:  # noqa: ANN401
        """Give the share of the selected rows that is not relevant."""
        return b / n_relevant


@dataclass(frozen=True, slots=True)
class F1(LabelMeasure):
    """1 - F1, the harmonic mean of precision and recall: 2 a / (a + b + n+).

    >>> F1().loss([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """

    name = "f1"

    def table_loss(self, a: Any, b: Any, n_relevant: int, n_rows: int) -> Any:  # noqa: ANN401
        """Give 1 - F1; concave in b."""
        return 1.0 - 2.0 * a / (a + b + n_relevant)


@dataclass(frozen=True, slots=True)
class ErrorRate(LabelMeasure):
    """Share of rows labelled wrongly; its structural hinge is the mean of the hinges of the rows.

    >>> ErrorRate().loss([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """

    name = "error"

    def unit(self, n_relevant: int, n_rows: int) -> float:
        """Count all rows."""
        return float(n_rows)

    def table_loss(self, a: Any, b: Any, n_relevant: int, n_rows: int) -> Any:  # noqa: ANN401
        """Give the share of relevant rows left out, and of others selected."""
        return (n_relevant - a + b) / n_rows

    def most_violating(self, scores: FloatArray, labels: ArrayLike, rescaling: str = "margin") -> BoolArray:
        """Give the most violating labelling: each row by itself, as the margin of its score says."""
        if rescaling == "slack":
            # explicit: a dataclass with slots is made anew, and super() without arguments names the old one
            return LabelMeasure.most_violating(self, scores, labels, rescaling)
        relevant = as_relevant(labels)
        selected: BoolArray = np.where(relevant, scores >= 1, scores > -1)
        return selected


@dataclass(frozen=True, slots=True)
class RocArea:
    """1 - area under the ROC curve: the share of pairs (relevant, other) in the wrong order.

    An output is an order, not a labelling: its violation is that of all pairs with a margin below 1, in O(n log n).

    >>> RocArea().oracle([1, 1, 0])(np.array([2.0, 0.5, 0.0])).loss
    0.5
    """

    name = "auc"

    def loss(self, y: ArrayLike, other: ArrayLike) -> float:
        """Give the share of pairs that the scores ``other`` put in the wrong order; ties count half."""
        return 1.0 - PreferencePairs(need_relevant(y)).share_in_order(np.asarray(other, dtype=np.float64))

    def oracle(self, labels: ArrayLike, rescaling: str = "margin") -> Oracle:
        """Give the function of the scores that finds the most violating order."""
        if rescaling != "margin":
            raise InputError('ROC area has no oracle for slack rescaling. Use rescaling="margin".')
        hinge = PairwiseHinge(PreferencePairs(need_relevant(labels)))

        def worst(scores: FloatArray) -> Violation:
            found = hinge.at(scores)
            return Violation(max(0.0, found.value - float(found.slope @ scores)), -found.slope)

        return worst


MEASURES: dict[str, Callable[[int | float], Measure]] = {
    "auc": lambda k: RocArea(),
    "error": lambda k: ErrorRate(),
    "f1": lambda k: F1(),
    "prbep": lambda k: BreakEven(),
    "precision": PrecisionAtK,
    "recall": RecallAtK,
}
"""The measures by name; k counts for precision and recall only."""


def measure_from_name(name: str, k: int | float = 0.25) -> Any:  # noqa: ANN401 - a measure, by name
    """Make the measure of that name.

    >>> measure_from_name("precision", k=10)
    PrecisionAtK(k=10)
    """
    if name not in MEASURES:
        raise UnknownName.among("measure", name, MEASURES)
    return MEASURES[name](k)


def as_relevant(labels: ArrayLike) -> BoolArray:
    """Give labels 0 and 1 as truth values."""
    given = np.asarray(labels)
    if given.ndim == 1 and given.dtype == np.bool_:
        return given
    if given.ndim != 1 or not ((given == 0) | (given == 1)).all():
        raise LabelError("The labels of a set are one row of 0 and 1 (or False and True). Map the relevant class to 1.")
    marked: BoolArray = given == 1
    return marked


def need_relevant(labels: ArrayLike) -> BoolArray:
    """As ``as_relevant``, but at least one must be."""
    relevant = as_relevant(labels)
    if not relevant.any():
        raise LabelError(f"None of the {len(relevant)} rows is relevant, so no measure is defined. Check the labels.")
    return relevant


def _top(k: int | float, n_relevant: int, n_rows: int) -> int:
    wanted = resolve_k(k, n_relevant)
    if wanted > n_rows:
        raise InputError(f"k={k} asks for {wanted} rows at the top, there are {n_rows}. Pass a smaller k.")
    return wanted
