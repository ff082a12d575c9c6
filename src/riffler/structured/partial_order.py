"""Ranking of good rows before bad ones with the partial-order feature map, for AP, NDCG, MRR, precision and ROC area.

phi(x, order) is the mean over the pairs (good, bad) of x_good - x_bad where the good row comes first, else of 0. Only
pairs of a good and a bad row count: rows of one kind may stand in any order. The order that violates most is found by
dynamic programming over the good rows (Yue et al. 2007 and Chakrabarti et al. 2008 have the same problem).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.records import BoolArray, FloatArray, IntArray, Matrix
from riffler.structured.by_cuts import ByCuts
from riffler.structured.cutting_plane import Plane
from riffler.structured.measures import as_relevant
from riffler.structured.order_losses import OrderLoss
from riffler.structured.problem import Cut
from riffler.structured.query_rows import QueryRows, need_one_matrix_each
from riffler.structured.row_products import RowProducts, finite_scores


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Rows in an order, the first first, and what each row counts in the joint features where that is known."""

    order: IntArray
    counts: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class PartialOrder:
    """Rank the good rows (label 1) of each query before the bad ones (label 0); outputs are ``Ordered``.

    loss_name : "ap", "auc", "mrr", "ndcg" or "precision"
    n : places that ndcg and precision look at; None for all
    pairs : what the share of swapped pairs counts beside the loss

    >>> task = PartialOrder("ap")
    >>> task.argmax(np.array([[0.0], [2.0], [1.0]]), np.array([1.0])).order
    array([1, 2, 0])
    """

    loss_name: str = "ap"
    n: int | None = None
    pairs: float = 0.0

    def __post_init__(self) -> None:
        self._loss()  # raises where it cannot be used

    def joint_feature(self, x: Matrix, y: Any) -> FloatArray:  # noqa: ANN401 - labels, or an order
        """Give the mean of x_good - x_bad over the pairs in order."""
        counts = y.counts if isinstance(y, Ordered) else _counts_of_truth(need_both_kinds(y, "x"))
        if counts is None:
            raise InputError("A predicted order has no joint features: it is not known which of its rows are good.")
        return RowProducts(x).pull_back(counts)

    def loss(self, y: ArrayLike, other: Any) -> float:  # noqa: ANN401 - labels, or an order
        """Give the loss of an order where these labels are true."""
        if is_the_truth(y, other):
            return 0.0
        good = need_both_kinds(y, "y")
        places = np.flatnonzero(good[other.order])
        return self._loss().of_cuts(places - np.arange(len(places)), int(np.count_nonzero(~good)))

    def argmax(self, x: Matrix, weights: FloatArray) -> Ordered:
        """Order the rows by their scores."""
        return by_score(x, weights, "x")

    def loss_augmented_argmax(self, x: Matrix, y: ArrayLike, weights: FloatArray) -> Ordered:
        """Give the order that violates the margin most."""
        good = need_both_kinds(y, "y")
        scores = RowProducts(x).scores(weights)
        moves: FloatArray = np.zeros(len(good))
        OrderExamples.of_labels([good]).worst(self._loss(), scores, moves)
        return Ordered(_merged(scores, good, moves), _counts_of_truth(good) - moves)

    def problem(self, X: Sequence[Matrix], Y: Sequence[ArrayLike], rescaling: str) -> PartialOrders:
        """Give all queries as a problem."""
        if rescaling != "margin":
            raise InputError('PartialOrder has no oracle for slack rescaling. Use rescaling="margin".')
        return PartialOrders(self._loss(), X, Y)

    def argmax_of_all(self, X: Sequence[Matrix], weights: FloatArray) -> list[Any]:
        """Order the rows of every query."""
        return orders_of_all(X, weights)

    def _loss(self) -> OrderLoss:
        return OrderLoss(self.loss_name, self.n, self.pairs)


@dataclass(frozen=True, slots=True, eq=False)
class OrderExamples:
    """Queries as lists of rows, bad ones first, and what each counts."""

    rows: IntArray
    starts: IntArray  # (n_examples, 2): where its rows begin and end
    n_good: IntArray
    share: FloatArray

    @classmethod
    def of_labels(cls, labels: Sequence[BoolArray]) -> OrderExamples:
        """One example a query, each counting alike."""
        ends = np.cumsum([len(one) for one in labels])
        begins = ends - np.array([len(one) for one in labels])
        rows = np.concatenate([b + np.argsort(one, kind="stable") for b, one in zip(begins, labels, strict=True)])
        n_good = np.array([np.count_nonzero(one) for one in labels])
        return cls(rows, np.column_stack([begins, ends]), n_good, np.full(len(labels), 1.0 / len(labels)))

    def worst(self, loss: OrderLoss, scores: FloatArray, moves: FloatArray) -> float:
        """Add what each row counts in score(truth) - score(worst order) to ``moves``; give the mean loss."""
        from riffler._fast.partial_order import worst_orders

        longest = int(np.max(self.starts[:, 1] - self.starts[:, 0]))
        worth, n_places = loss.worth(longest), loss.n_places(longest)
        examples = self.rows, self.starts, self.n_good, self.share
        return float(worst_orders(scores, *examples, loss.code, worth, n_places, loss.pair_weight, moves))


class PartialOrders(ByCuts):
    """Queries of good and bad rows, each one example."""

    def __init__(self, loss: OrderLoss, X: Sequence[Matrix], Y: Sequence[ArrayLike]) -> None:
        self._loss, self._queries = loss, QueryRows(X, Y)
        labels = [need_both_kinds(y, f"Query {number}") for number, y in enumerate(Y)]
        self._all = OrderExamples.of_labels(labels)
        self._single = [OrderExamples.of_labels([good]) for good in labels]
        self.n_examples, self.n_weights = len(labels), self._queries.n_columns

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Give the cut of the most violating order of one query."""
        rows = self._queries.of(example)
        moves: FloatArray = np.zeros(rows.n_rows)
        loss = self._single[example].worst(self._loss, rows.scores(weights), moves)
        slopes = rows.pull_back(moves)
        places: IntArray = np.flatnonzero(slopes)
        return Cut(places, slopes[places], loss)

    def plane(self, weights: FloatArray) -> Plane:
        """Give the mean of the cuts."""
        rows = self._queries.all
        moves: FloatArray = np.zeros(rows.n_rows)
        loss = self._all.worst(self._loss, rows.scores(weights), moves)
        return Plane(rows.pull_back(moves), loss)


def by_score(x: Matrix, weights: FloatArray, whose: str) -> Ordered:
    """Order rows by their scores, the highest first."""
    return Ordered(np.argsort(-finite_scores(x, weights, whose), kind="stable"))


def orders_of_all(X: Sequence[Matrix], weights: FloatArray) -> list[Any]:
    """Order the rows of every query by their scores."""
    need_one_matrix_each(X, "query")
    return [by_score(x, weights, f"Query {number}") for number, x in enumerate(X)]


def is_the_truth(y: ArrayLike, other: Any) -> bool:  # noqa: ANN401 - labels, or an order
    """Tell labels, which must be the true ones, from an order, which must be of as many rows."""
    n_rows = len(np.asarray(y))
    if isinstance(other, Ordered):
        if len(other.order) != n_rows:
            raise InputError(f"The order is of {len(other.order)} rows, there are {n_rows} labels. Label each row.")
        return False
    if not np.array_equal(np.asarray(y), np.asarray(other)):
        raise InputError(
            f"An output is an Ordered, as predict gives it, or the true labels themselves; got {type(other).__name__}. "
            "Pass Ordered(numbers of the rows, the first first)."
        )
    return True


def need_both_kinds(labels: ArrayLike, whose: str) -> BoolArray:
    """Give labels 0 and 1 as truth values; raises unless both are there."""
    good = as_relevant(labels)
    if good.all() or not good.any():
        raise InputError(
            f"{whose} has rows of one kind only, so there is nothing to put in order. Leave such queries out."
        )
    return good


def _counts_of_truth(good: BoolArray) -> FloatArray:
    n_good = int(np.count_nonzero(good))
    return np.where(good, 1.0 / n_good, -1.0 / (len(good) - n_good))


def _merged(scores: FloatArray, good: BoolArray, moves: FloatArray) -> IntArray:
    """Give the order that the moves describe: of each kind the best scored first."""
    upper, lower = (rows[np.argsort(-scores[rows], kind="stable")] for rows in map(np.flatnonzero, (good, ~good)))
    cuts = np.sort(np.rint(moves[upper] * (len(upper) * len(lower))).astype(np.int64))
    order = np.empty(len(good), dtype=np.int64)
    places = np.arange(len(upper)) + cuts
    order[places] = upper
    order[np.delete(np.arange(len(good)), places)] = lower
    return order
