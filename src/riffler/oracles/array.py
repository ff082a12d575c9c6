"""Labels that are known already, revealed one by one as they are asked for."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError, LabelError
from riffler.ledger import Item
from riffler.oracles.base import Cost, Oracle

SIGNS_IN_A_ROW = 30  # answers of -1 without a single 0 that make one wonder


class ArrayOracle(Oracle):
    """Answer from an array: item i is ``y[i]``; a label is read only when it is asked for.

    Batches that come without names are numbered in the order of their arrival, so ``y`` may be the labels of one batch
    (an oracle a batch) or of the whole stream. NaN and -1 stand for "don't know".

    >>> oracle = ArrayOracle([0, 1, 1, 0], budget=3)
    >>> oracle.ask([2, 0]).tolist(), oracle.ask([2]).tolist(), oracle.n_asked, oracle.remaining
    ([1, 0], [1], 2, 1.0)
    """

    def __init__(self, y: ArrayLike, *, cost: Cost = 1.0, budget: float | None = None) -> None:
        super().__init__(cost=cost, budget=budget)
        self._labels = np.asanyarray(y)  # what counts or hides its elements goes on doing so
        self._told: Counter[tuple[bool, bool]] = Counter()  # answers by (is 1, is -1)
        if self._labels.ndim != 1:
            raise LabelError(f"y must have one dimension, one label per item; got shape {self._labels.shape}.")

    def _reveal(self, items: list[Item]) -> Iterator[object]:
        for item in items:
            if not isinstance(item, int | np.integer) or not 0 <= item < len(self._labels):
                raise InputError(
                    f"Item {item!r} was asked for, and y has {len(self._labels)} labels, numbered from 0. Pass the "
                    "labels of all batches in order, or name the rows of a batch with step(..., items=...)."
                )
            label = self._labels[item]
            self._look_for_signs(label)
            yield label

    def _look_for_signs(self, label: object) -> None:
        """Warn once if the answers so far are 1 and -1 alone: then -1 is hardly meant as "don't know"."""
        self._told[bool(label == 1), bool(label == -1)] += 1
        signs_only = self._told[True, False] > 0 and self._told[False, False] == 0
        if label == -1 and signs_only and self._told[False, True] == SIGNS_IN_A_ROW:
            warnings.warn(
                f'{SIGNS_IN_A_ROW} labels of y are -1, which stands for "don\'t know" and teaches nothing, and none '
                "is 0. If -1 means irrelevant here, pass ArrayOracle((y > 0).astype(int)).",
                UserWarning,
                stacklevel=2,
            )
