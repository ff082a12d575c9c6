"""Losses of an order of good and bad rows, by the number of bad rows ahead of each good one (its cut).

=========  ===============================================================================================
precision  share of the places 1..n that bad rows take from good ones
ndcg       1 - DCG at n by that of the best order, with gain 1 for a good row and 1 / log2(1 + place)
mrr        1 - 1 / place of the first good row
ap         1 - average precision
auc        share of the pairs (good, bad) in the wrong order
=========  ===============================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from riffler.errors import InputError, UnknownName
from riffler.records import FloatArray, IntArray

LOSSES = ("ap", "auc", "mrr", "ndcg", "precision")


@dataclass(frozen=True, slots=True)
class OrderLoss:
    """One of the losses, to which the share of swapped pairs can be added.

    name : one of LOSSES; n : the places that ndcg and precision look at (None: all); pairs : what the share of swapped
    pairs counts beside it

    >>> OrderLoss("ap").of_cuts(np.array([0, 1]), n_bad=3)  # good, bad, good, ...
    0.166...
    """

    name: str
    n: int | None = None
    pairs: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise UnknownName.among("loss of an order", self.name, LOSSES)
        need_places(self.n)
        pairs: Any = self.pairs
        if not isinstance(pairs, Real) or not 0 <= float(pairs) < np.inf:
            raise InputError(f"pairs must be 0 or above, got {self.pairs!r}. Pass a finite number.")

    @property
    def pair_weight(self) -> float:
        """What the share of swapped pairs counts, all told."""
        return self.pairs + (1.0 if self.name == "auc" else 0.0)

    @property
    def code(self) -> int:
        """The kind of loss in the compiled loops."""
        from riffler._fast.partial_order import AVERAGE_PRECISION, BY_PLACE, FIRST_ONLY

        return {"ap": AVERAGE_PRECISION, "mrr": FIRST_ONLY}.get(self.name, BY_PLACE)

    def n_places(self, n_rows: int) -> int:
        """Give the number of places that the loss looks at, pairs apart."""
        if self.name in ("auc", "mrr"):
            return 1
        return n_rows if self.name == "ap" or self.n is None else min(self.n, n_rows)

    def worth(self, n_rows: int) -> FloatArray:
        """Give what a good row is worth at each place, best place first."""
        places = np.arange(1.0, n_rows + 1)
        if self.name in ("auc", "ap"):
            found = (places <= 1).astype(np.float64) if self.name == "ap" else _only_to_divide_by(n_rows)
        elif self.name == "ndcg":
            found = 1.0 / np.log2(places + 1.0)
        else:
            found = 1.0 / places if self.name == "mrr" else np.ones(n_rows)
        if self.name in ("ndcg", "precision"):
            found[self.n_places(n_rows) :] = 0.0
        return found

    def of_cuts(self, cuts: IntArray, n_bad: int) -> float:
        """Give the loss of an order in which ``cuts[i]`` bad rows stand ahead of good row i."""
        n_good = len(cuts)
        place = np.arange(n_good)
        swapped = float(cuts.sum()) / (n_good * n_bad)
        total = self.pair_weight * swapped
        if self.name == "ap":
            return total + float(np.mean(cuts / (place + 1.0 + cuts)))
        if self.name == "auc":
            return total
        worth = self.worth(n_good + n_bad)
        counted = place[:1] if self.name == "mrr" else place
        return total + float((worth[counted] - worth[counted + cuts[counted]]).sum() / worth[counted].sum())


def need_places(n: int | None) -> None:
    """Raise unless n is a number of places, or None."""
    if n is None:
        return
    if isinstance(n, bool | np.bool_) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n must be a positive integer, the places that count, or None for all, got {n!r}.")


def _only_to_divide_by(n_rows: int) -> FloatArray:
    """Places of the same worth: no order loses any of it."""
    return np.ones(n_rows)
