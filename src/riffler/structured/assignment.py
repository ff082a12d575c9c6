"""Ranking of the documents of a query by linear assignment (Le and Smola 2007).

phi(x, order) = sum over places p of c_p * x_(document at p), with c falling, so that the best order is by score. A loss
1 - (sum over places of a_p * gain of the document at p) / ideal is linear in the assignment of documents to places, and
so is the score: the order that violates most maximises the sum of c_p * score - a_p * gain / ideal. Where c is a, that
is a sort by score - gain / ideal.

Documents of equal grade may stand in any order in the truth: each gets the mean weight of the places they share, which
is the mean of the joint features of all true orders. The hinge is convex and never below the loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError, UnknownName
from riffler.records import FloatArray, IntArray, Matrix
from riffler.structured.by_cuts import ByCuts
from riffler.structured.cutting_plane import Plane
from riffler.structured.order_losses import need_places
from riffler.structured.partial_order import Ordered, by_score, is_the_truth, orders_of_all
from riffler.structured.problem import Cut
from riffler.structured.query_rows import QueryRows
from riffler.structured.row_products import RowProducts

LOSSES = ("mrr", "ndcg", "precision")
PLACES = ("discount", "linear")


@dataclass(frozen=True, slots=True)
class Assignment:
    """Rank the documents of each query: x is a matrix, y their grades (0 or more); outputs are ``Ordered``.

    loss_name : "ndcg" (gain 2^y - 1), "precision" (of documents above grade 0), or "mrr" (one such document a query)
    n : places that ndcg and precision look at; None for all (ndcg only)
    places : what a place weighs in the score: "discount" (as in the loss), "linear" (from 1 down to 1 / length), or a
        number r > 0 (the place to the power -r)

    >>> task = Assignment("ndcg", n=2)
    >>> round(task.loss([0, 1, 0], Ordered(np.array([0, 1, 2]))), 4)
    0.3691
    """

    loss_name: str = "ndcg"
    n: int | None = None
    places: str | float = "discount"

    def __post_init__(self) -> None:
        if self.loss_name not in LOSSES:
            raise UnknownName.among("loss of an assignment", self.loss_name, LOSSES)
        need_places(self.n)
        if self.loss_name == "precision" and self.n is None:
            raise InputError("Precision needs n, the places it looks at. Pass for example n=10.")
        if isinstance(self.places, str):
            if self.places not in PLACES:
                raise UnknownName.among("weight of places", self.places, PLACES)
        elif not 0 < self.places < np.inf:
            raise InputError(f"places must be a name or a number above 0, got {self.places!r}. Pass for example 0.25.")

    def joint_feature(self, x: Matrix, y: Any) -> FloatArray:  # noqa: ANN401 - grades, or an order
        """Sum the rows by the weights of their places."""
        rows = RowProducts(x)
        if isinstance(y, Ordered):
            return rows.pull_back(_by_row(y.order, self.place_weights(rows.n_rows)))
        return rows.pull_back(self.truth_counts(y, "y"))

    def loss(self, y: ArrayLike, other: Any) -> float:  # noqa: ANN401 - grades, or an order
        """Give 1 - the measure of an order by that of the best one."""
        if is_the_truth(y, other):
            return 0.0
        gains = self.gains(y, "y")
        return max(0.0, 1.0 - float(gains[other.order] @ self.worth(len(gains))))

    def argmax(self, x: Matrix, weights: FloatArray) -> Ordered:
        """Order the rows by their scores."""
        return by_score(x, weights, "x")

    def loss_augmented_argmax(self, x: Matrix, y: ArrayLike, weights: FloatArray) -> Ordered:
        """Give the order that violates the margin most."""
        return Ordered(self.worst(RowProducts(x).scores(weights), self.gains(y, "y")))

    def problem(self, X: Sequence[Matrix], Y: Sequence[ArrayLike], rescaling: str) -> Assignments:
        """Give all queries as a problem."""
        if rescaling != "margin":
            raise InputError('Assignment has no oracle for slack rescaling. Use rescaling="margin".')
        return Assignments(self, X, Y)

    def argmax_of_all(self, X: Sequence[Matrix], weights: FloatArray) -> list[Any]:
        """Order the rows of every query."""
        return orders_of_all(X, weights)

    def worst(self, scores: FloatArray, gains: FloatArray) -> IntArray:
        """Give the most violating order: by a sort where places weigh as in the loss, else by linear assignment."""
        if self.places == "discount":
            return np.argsort(gains - scores, kind="stable")
        return self.assigned(scores, gains)

    def assigned(self, scores: FloatArray, gains: FloatArray) -> IntArray:
        """Give the most violating order by linear assignment, O(length^3), whatever the places weigh."""
        from scipy.optimize import linear_sum_assignment

        places, worth = self.place_weights(len(scores)), self.worth(len(scores))
        of_place: IntArray = linear_sum_assignment(np.outer(places, scores) - np.outer(worth, gains), maximize=True)[1]
        return of_place

    def gains(self, grades: ArrayLike, whose: str) -> FloatArray:
        """Give the gain of each document, as a share of the ideal."""
        given = _checked(grades, whose)
        relevant = given > 0
        if self.loss_name == "mrr" and np.count_nonzero(relevant) != 1:
            raise InputError(
                f"{whose} has {np.count_nonzero(relevant)} relevant documents: by assignment the reciprocal rank is "
                'that of a single one. Use PartialOrder("mrr").'
            )
        # by the greatest power, which the ideal divides out again: no grade is too large
        highest = given.max()
        gain = np.exp2(given - highest) - np.exp2(-highest) if self.loss_name == "ndcg" else relevant.astype(np.float64)
        share: FloatArray = gain / float(np.sort(gain)[::-1] @ self.worth(len(gain)))
        return share

    def worth(self, n_rows: int) -> FloatArray:
        """Give a_p, what a place counts in the measure."""
        places = np.arange(1.0, n_rows + 1)
        if self.loss_name == "mrr":
            return 1.0 / places
        if self.loss_name == "precision":
            return np.where(places <= (self.n or 1), 1.0 / (self.n or 1), 0.0)
        found: FloatArray = 1.0 / np.log2(places + 1.0)
        found[n_rows if self.n is None else self.n :] = 0.0
        return found

    def place_weights(self, n_rows: int) -> FloatArray:
        """Give c_p, what a place weighs in the score."""
        if self.places == "discount":
            return self.worth(n_rows)
        if self.places == "linear":
            return np.arange(n_rows, 0, -1.0) / n_rows
        weights: FloatArray = np.arange(1.0, n_rows + 1) ** -float(self.places)
        return weights

    def truth_counts(self, grades: ArrayLike, whose: str) -> FloatArray:
        """Give what each row counts in the joint features of the truth."""
        given = _checked(grades, whose)
        order = np.argsort(-given, kind="stable")
        _, of_block, sizes = np.unique(-given[order], return_inverse=True, return_counts=True)
        shared = np.bincount(of_block, weights=self.place_weights(len(given))) / sizes
        return _by_row(order, shared[of_block])


class Assignments(ByCuts):
    """Queries of graded documents, each one example."""

    def __init__(self, task: Assignment, X: Sequence[Matrix], Y: Sequence[ArrayLike]) -> None:
        self._task, self._queries = task, QueryRows(X, Y)
        self._gains = np.concatenate([task.gains(y, f"Query {number}") for number, y in enumerate(Y)])
        self._truth = np.concatenate([task.truth_counts(y, f"Query {number}") for number, y in enumerate(Y)])
        self.n_examples, self.n_weights = len(Y), self._queries.n_columns

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Give the cut of the most violating order of one query."""
        rows = self._queries.of(example)
        loss, moves = self._worst_of(example, rows.scores(weights))
        slopes = rows.pull_back(moves)
        places: IntArray = np.flatnonzero(slopes)
        return Cut(places, slopes[places], loss)

    def plane(self, weights: FloatArray) -> Plane:
        """Give the mean of the cuts."""
        rows, starts = self._queries.all, self._queries.starts
        scores = rows.scores(weights)
        if self._task.places == "discount":
            loss, moves = self._sorted(scores)
        else:
            found = [self._worst_of(g, scores[starts[g] : starts[g + 1]]) for g in range(self.n_examples)]
            loss, moves = sum(one for one, _ in found), np.concatenate([one for _, one in found])
        return Plane(rows.pull_back(moves) / self.n_examples, loss / self.n_examples)

    def _worst_of(self, example: int, scores: FloatArray) -> tuple[float, FloatArray]:
        rows = slice(self._queries.starts[example], self._queries.starts[example + 1])
        gains = self._gains[rows]
        order = self._task.worst(scores, gains)
        loss = max(0.0, 1.0 - float(gains[order] @ self._task.worth(len(order))))
        return loss, self._truth[rows] - _by_row(order, self._task.place_weights(len(order)))

    def _sorted(self, scores: FloatArray) -> tuple[float, FloatArray]:
        from riffler._fast.assignment import sorted_orders

        starts = self._queries.starts
        moves, order = np.empty(len(scores)), np.empty(len(scores), dtype=np.int64)
        worth = self._task.worth(int(np.diff(starts).max()))
        losses: FloatArray = sorted_orders(scores, self._gains, worth, starts, self._truth, order, moves)
        return float(losses.sum()), moves


def _by_row(order: IntArray, weights: FloatArray) -> FloatArray:
    found: FloatArray = np.empty(len(order))
    found[order] = weights
    return found


def _checked(grades: ArrayLike, whose: str) -> FloatArray:
    """Give grades as numbers; raises where they are negative, not finite, or all the same."""
    given: FloatArray = np.asarray(grades, dtype=np.float64)
    if given.ndim != 1 or not (np.isfinite(given) & (given >= 0)).all():
        raise InputError(f"{whose} must have one grade a document, each a finite number, 0 or more.")
    if len(given) == 0 or given.min() == given.max():
        raise InputError(f"{whose} has documents of one grade only, so no order is right. Leave such queries out.")
    return given
