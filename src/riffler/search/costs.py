"""What a mistake about each row costs the classifier: more for the few relevant ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riffler.errors import InputError
from riffler.ledger import RELEVANT
from riffler.records import FloatArray, IntArray


class Costs(Protocol):
    """Gives every row of a fit its price."""

    def of(self, labels: IntArray, n_presumed: int) -> FloatArray:
        """Return the price of each labelled row, then of each presumed one."""
        ...


@dataclass(frozen=True, slots=True)
class SideCosts:
    """A price for each side: relevant * n / n_relevant for each of the relevant rows, fixed prices for the others.

    So the relevant rows together weigh as much as all n labelled rows would, and the others count one by one: the more
    irrelevant ones are known, the more they say.

    >>> SideCosts(relevant=0.1, irrelevant=0.02, presumed=0.01).of(np.array([1, 0, 0, 0]), 1)
    array([0.4 , 0.02, 0.02, 0.02, 0.01])
    """

    relevant: float = 0.1
    irrelevant: float = 0.025
    presumed: float = 0.0125

    def __post_init__(self) -> None:
        _check(relevant=self.relevant, irrelevant=self.irrelevant, presumed=self.presumed)

    def of(self, labels: IntArray, n_presumed: int) -> FloatArray:
        """Return the price of each labelled row, then of each presumed one."""
        relevant = labels == RELEVANT
        prices = np.full(labels.size + n_presumed, self.presumed)
        each = self.relevant * labels.size / max(int(relevant.sum()), 1)
        prices[: labels.size] = np.where(relevant, each, self.irrelevant)
        return prices


@dataclass(frozen=True, slots=True)
class BalancedCosts:
    """Prices with a mean of C; the irrelevant rows together weigh as much as the relevant ones / ratio, as in ASReview.

    >>> BalancedCosts(C=1.0, ratio=1.0).of(np.array([1, 0, 0]), 0)
    array([1.5 , 0.75, 0.75])
    """

    C: float = 0.11
    ratio: float = 9.8

    def __post_init__(self) -> None:
        _check(C=self.C, ratio=self.ratio)

    def of(self, labels: IntArray, n_presumed: int) -> FloatArray:
        """Return the price of each labelled row, then of each presumed one."""
        relevant = np.concatenate([labels == RELEVANT, np.zeros(n_presumed, dtype=bool)])
        n_relevant, n_others = int(relevant.sum()), int((~relevant).sum())
        if n_relevant == 0 or n_others == 0:
            return np.full(relevant.size, self.C)
        weights = np.where(relevant, 1.0, n_relevant / (self.ratio * n_others))
        balanced: FloatArray = self.C * weights * (relevant.size / weights.sum())
        return balanced


@dataclass(frozen=True, slots=True)
class EqualCosts:
    """The same price for every row: plain logistic regression or SVM.

    >>> EqualCosts(C=2.0).of(np.array([1, 0]), 1)
    array([2., 2., 2.])
    """

    C: float = 1.0

    def __post_init__(self) -> None:
        _check(C=self.C)

    def of(self, labels: IntArray, n_presumed: int) -> FloatArray:
        """Return the price of each labelled row, then of each presumed one."""
        return np.full(labels.size + n_presumed, self.C)


def _check(**prices: float) -> None:
    for name, value in prices.items():
        if not value > 0:
            raise InputError(f"{name} must be above 0, got {value!r}.")
