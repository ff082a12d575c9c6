"""One batch on its way through a learner: who is in it, what was predicted, what has been asked so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riffler.errors import InputError
from riffler.ledger import IRRELEVANT, RELEVANT, Item, Round
from riffler.oracles.base import Oracle
from riffler.records import BoolArray, FloatArray, IntArray, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What happened to one batch.

    predicted : rows of the batch, best first
    asked, answers, probability : rows in asking order; 1, 0 or -1 for "don't know"; the chance each had to be asked
    precision : share of relevant rows among the predicted ones whose label was learned; NaN if none was
    floor : least chance of any row of the batch to be asked; 0 where a row could not have been
    cut : the budget ended before everything drawn was asked
    """

    round: int
    predicted: IntArray
    asked: IntArray
    answers: IntArray
    probability: FloatArray
    precision: float
    floor: float
    cut: bool

    @property
    def n_asked(self) -> int:
        """Labels that this batch used."""
        return len(self.asked)


@dataclass(eq=False)
class OpenBatch:
    """A batch while it is worked on; asking records in the oracle's ledger, nothing else changes."""

    X: Matrix
    items: Sequence[Item]
    oracle: Oracle
    round: int
    scores: FloatArray
    predicted: IntArray
    draws: FloatArray  # a number in [0, 1) for each row, keyed by seed, round and item
    cut: bool = False
    top_floor: float | None = None  # least chance of a predicted row, where it is better than that of any row
    memo: Any = None  # what a learner wants to hand from asking to learning
    _asked: list[IntArray] = field(default_factory=list)
    _answers: list[IntArray] = field(default_factory=list)
    _probability: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.in_top: BoolArray = np.zeros(len(self.items), dtype=bool)
        self.in_top[self.predicted] = True

    def ask(self, rows: IntArray, probability: FloatArray | float, origin: str) -> IntArray:
        """Ask about rows of this batch; where the budget ends, the answers are those of the first rows only."""
        probability = np.broadcast_to(np.asarray(probability, dtype=float), rows.shape)
        items = [self.items[row] for row in rows.tolist()]
        n = self.oracle.n_affordable(items)
        self.cut |= n < len(items)
        rows, probability = rows[:n], probability[:n]
        answers = self.oracle.ask(
            items[:n], round=self.round, origin=origin, in_top=self.in_top[rows], probability=probability
        )
        self._asked.append(rows)
        self._answers.append(answers)
        self._probability.append(probability)
        return answers

    @property
    def asked(self) -> IntArray:
        """Rows asked so far."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._asked])

    @property
    def answers(self) -> IntArray:
        """Answers so far, one per asked row."""
        return np.concatenate([np.empty(0, dtype=np.int8), *self._answers])

    @property
    def probability(self) -> FloatArray:
        """Inclusion probability of each asked row."""
        return np.concatenate([np.empty(0), *self._probability])

    def not_asked(self) -> IntArray:
        """Rows that were not asked yet."""
        left = np.ones(len(self.items), dtype=bool)
        left[self.asked] = False
        return np.flatnonzero(left)

    def close(self, floor: float) -> Step:
        """Write the round into the ledger and say what happened."""
        floor = 0.0 if self.cut else floor
        n_rows = len(self.items)
        top_floor = None if self.cut else self.top_floor
        asked, answers = self.asked, self.answers
        self.oracle.ledger.close_round(
            Round(self.round, n_rows, len(self.predicted), floor, self.cut, top_floor, len(asked))
        )
        self.oracle.n_offered += n_rows
        in_top = answers[self.in_top[asked]]
        n_known = int(np.count_nonzero(in_top == RELEVANT) + np.count_nonzero(in_top == IRRELEVANT))
        precision = float(np.count_nonzero(in_top == RELEVANT)) / n_known if n_known else float("nan")
        return Step(self.round, self.predicted, asked, answers, self.probability, precision, floor, self.cut)


def named_items(items: Sequence[Item] | None, n_rows: int, oracle: Oracle) -> Sequence[Item]:
    """Return the names of a batch's rows: as given, or numbered on from the batches the oracle has seen."""
    if items is None:
        return range(oracle.n_offered, oracle.n_offered + n_rows)
    # plain Python values, whatever array they came out of: 7 and np.int64(7) are one item
    named: list[Item] = [item.item() if isinstance(item, np.generic) else item for item in items]
    if len(named) != n_rows:
        raise InputError(f"items must name each row of the batch: got {len(named)} names for {n_rows} rows.")
    if len(set(named)) != n_rows:
        raise InputError("items names a row twice: every row of a batch needs a name of its own.")
    return named


def draw_keys(items: Sequence[Item]) -> IntArray:
    """Turn names into whole numbers that random draws are keyed by; texts and huge numbers by MurmurHash3."""
    if isinstance(items, range):
        return np.arange(items.start, items.stop, dtype=np.int64)
    if all(isinstance(item, int) and -(2**63) <= item < 2**63 for item in items):
        return np.asarray(items, dtype=np.int64)
    from sklearn.utils import murmurhash3_32

    return np.array([murmurhash3_32(str(item), seed=0, positive=True) for item in items], dtype=np.int64)


def top_rows(scores: FloatArray, n_top: int, draws: FloatArray) -> IntArray:
    """Return the rows of the ``n_top`` highest scores, best first; equal scores in the order of their draws.

    >>> top_rows(np.array([1.0, 3.0, 1.0, 2.0]), 3, draws=np.array([0.9, 0.1, 0.2, 0.3])).tolist()
    [1, 3, 2]
    """
    n = scores.size
    cut = np.partition(scores, n - n_top)[n - n_top] if n_top < n else -np.inf
    rows = np.flatnonzero(scores >= cut)
    best: IntArray = rows[np.lexsort((draws[rows], -scores[rows]))][:n_top]
    return best
