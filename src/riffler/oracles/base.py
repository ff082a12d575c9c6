"""What every oracle does: it answers, it counts, it never asks twice, and it never spends more than its budget."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import AnswerError, BudgetExhausted, InputError
from riffler.ledger import IRRELEVANT, RELEVANT, UNKNOWN, Item, Ledger
from riffler.records import BoolArray, FloatArray, IntArray

Cost = float | Callable[[Item], float]
"""The price of a label: one for all, or a function of the item."""

WORDS = {
    "1": RELEVANT, "yes": RELEVANT, "y": RELEVANT, "true": RELEVANT, "relevant": RELEVANT,
    "0": IRRELEVANT, "no": IRRELEVANT, "n": IRRELEVANT, "false": IRRELEVANT, "irrelevant": IRRELEVANT,
    "?": UNKNOWN, "unknown": UNKNOWN, "don't know": UNKNOWN, "skip": UNKNOWN,
}  # fmt: skip
"""What a person may write as an answer."""


class Oracle(ABC):
    """Answers questions and keeps the ledger of them.

    Parameters
    ----------
    cost : float or function of the item
        Price of one label.
    budget : float or None
        Most that may be spent, in units of ``cost``; None for no limit.
    """

    def __init__(self, *, cost: Cost = 1.0, budget: float | None = None) -> None:
        if budget is not None and not budget >= 0:
            raise InputError(f"budget must be at least 0 or None, got {budget!r}.")
        if not callable(cost) and not 0 <= cost < math.inf:
            raise InputError(f"cost must be a finite number of at least 0, or a function of the item, got {cost!r}.")
        self.budget = budget
        self.ledger = Ledger()
        self.n_offered = 0  # rows of the batches worked through so far: the next batch is numbered from here
        self._cost = cost

    @property
    def n_asked(self) -> int:
        """Questions put so far."""
        return self.ledger.n_asked

    @property
    def spent(self) -> float:
        """Price of everything asked so far."""
        return self.ledger.cost

    @property
    def remaining(self) -> float:
        """What is left of the budget; infinite without one."""
        return math.inf if self.budget is None else max(0.0, self.budget - self.spent)

    def n_affordable(self, items: Sequence[Item]) -> int:
        """How many of these items, from the first on, the budget still allows; known answers cost nothing."""
        if self.budget is None:
            return len(items)
        first = set(_first_places(items))
        prices = [
            self._price(item) if at in first and not self._is_paid(item) else 0.0 for at, item in enumerate(items)
        ]
        # a billionth of slack: ten labels of 0.1 cost 1
        return int(np.searchsorted(np.cumsum(prices), self.remaining * (1 + 1e-9), side="right"))

    def ask(
        self,
        items: Sequence[Item],
        *,
        round: int = 0,
        origin: str = "asked",
        in_top: ArrayLike = False,
        probability: ArrayLike = 1.0,
    ) -> IntArray:
        """Answer for each item 1 (relevant), 0 (irrelevant) or -1 (unknown), and write down what was asked.

        An item that was answered before gets the same answer at no cost. If the oracle fails midway, the answers that
        came are kept, so asking again asks only for the others.
        """
        # plain Python values, whatever array they came out of
        items = [item.item() if isinstance(item, np.generic) else item for item in items]
        if self.n_affordable(items) < len(items):
            raise BudgetExhausted(
                f"{len(items)} labels were asked for, and the {self.remaining:g} left of the budget of {self.budget:g} "
                f"pay for {self.n_affordable(items)}. Raise the budget, or ask for fewer."
            )
        tops = np.broadcast_to(np.asarray(in_top, dtype=bool), len(items))
        shares = np.broadcast_to(np.asarray(probability, dtype=float), len(items))
        first = _first_places(items)
        new = [at for at in first if not self._is_known(items[at])]
        known = [at for at in first if self._is_known(items[at]) and not self.ledger.holds(items[at], round)]
        self.ledger.record(
            [items[at] for at in known],
            round=round, origin="known", in_top=tops[known], probability=shares[known], cost=0.0,
            answers=[self._known(items[at]) for at in known],
        )  # fmt: skip
        self._put(items, new, round, origin, tops, shares)
        return np.array([self._known(item) for item in items], dtype=np.int8)

    def _put(
        self, items: list[Item], new: list[int], round: int, origin: str, tops: BoolArray, shares: FloatArray
    ) -> None:
        """Put the new questions one after the other; what was answered is recorded even if a later one fails."""
        prices = {at: self._price(items[at]) for at in new}  # a bad price must not cost answers that came
        answered: list[tuple[int, int]] = []
        try:
            for at, answer in zip(new, self._reveal([items[at] for at in new]), strict=True):
                answered.append((at, checked_answer(answer, items[at])))
        finally:
            places = [at for at, _ in answered]
            self.ledger.record(
                [items[at] for at in places],
                round=round, origin=origin, in_top=tops[places], probability=shares[places],
                answers=[answer for _, answer in answered], cost=[prices[at] for at in places],
            )  # fmt: skip

    @abstractmethod
    def _reveal(self, items: list[Item]) -> Iterator[object]:
        """Yield the answer to each of these new questions."""

    def _is_known(self, item: Item) -> bool:
        return self.ledger.answer_of(item) is not None

    def _is_paid(self, item: Item) -> bool:
        return self._is_known(item)

    def _known(self, item: Item) -> int:
        answer = self.ledger.answer_of(item)
        return UNKNOWN if answer is None else answer

    def _price(self, item: Item) -> float:
        price = float(self._cost(item)) if callable(self._cost) else self._cost
        if not 0 <= price < math.inf:
            raise InputError(f"The cost of item {item!r} must be a finite number of at least 0, got {price!r}.")
        return price


def _first_places(items: Sequence[Item]) -> list[int]:
    """Where each item stands first: a label named twice is asked for once."""
    return sorted({item: at for at, item in reversed(list(enumerate(items)))}.values())


KEPT = "Correct it and step again; the answers before it are kept."


def checked_answer(answer: object, item: Item, advice: str = KEPT) -> int:
    """Read an answer: 1/0, True/False, a word such as "yes", or None, NaN, "?" for unknown.

    ``advice`` says in the error what to do, and what became of the other answers.

    >>> [checked_answer(one, item=7) for one in (1, False, None, "yes", "?", np.float64(0.0))]
    [1, 0, -1, 1, -1, 0]
    """
    if isinstance(answer, np.generic):
        answer = answer.item()
    if answer is None or (isinstance(answer, float) and math.isnan(answer)):
        return UNKNOWN
    if isinstance(answer, str) and answer.strip().lower() in WORDS:
        return WORDS[answer.strip().lower()]
    if isinstance(answer, bool | int | float) and answer in (RELEVANT, IRRELEVANT, UNKNOWN):
        return int(answer)
    raise AnswerError(
        f"The answer about item {item!r} is {answer!r}: expected 1 or yes, 0 or no, or ?, unknown, None for "
        f"'don't know'. {advice}"
    )
