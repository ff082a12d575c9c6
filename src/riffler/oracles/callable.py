"""Labels from a function: a person at a prompt, an experiment, a service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from riffler.errors import InputError
from riffler.ledger import UNKNOWN, Item
from riffler.oracles.base import Cost, Oracle, checked_answer


class CallableOracle(Oracle):
    """Answer by calling ``f(item)``, once for each item that is asked for.

    ``f`` returns 1, 0, or None for "don't know". With ``votes`` above 1 a noisy ``f`` is asked that often about each
    item, each vote at the full cost, and the majority counts; a tie is "don't know".

    >>> oracle = CallableOracle(lambda item: item % 2)
    >>> oracle.ask([3, 4]).tolist(), oracle.n_asked
    ([1, 0], 2)
    """

    def __init__(
        self, f: Callable[[Item], object], *, cost: Cost = 1.0, budget: float | None = None, votes: int = 1
    ) -> None:
        super().__init__(cost=cost, budget=budget)
        if not callable(f):
            raise InputError(f"f must be a function of an item, got {f!r}.")
        if not (isinstance(votes, int) and votes >= 1):
            raise InputError(f"votes must be a whole number of at least 1, got {votes!r}.")
        self._f = f
        self._votes = votes
        self._cast: dict[Item, list[int]] = {}  # votes of items at which f failed midway: they are not asked for again

    @property
    def n_asked(self) -> int:
        """Questions put so far, each vote counted."""
        return self.ledger.n_asked * self._votes

    def _reveal(self, items: list[Item]) -> Iterator[object]:
        for item in items:
            cast = self._cast.setdefault(item, [])
            while len(cast) < self._votes:
                cast.append(checked_answer(self._f(item), item))
            yield majority(self._cast.pop(item))

    def _price(self, item: Item) -> float:
        return super()._price(item) * self._votes


def majority(votes: list[int]) -> int:
    """Give the answer with the most votes, "don't know" where two share the first place.

    >>> majority([1, 0, 1]), majority([1, 0]), majority([-1, 0])
    (1, -1, 0)
    """
    counts = Counter(vote for vote in votes if vote != UNKNOWN).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return UNKNOWN
    return counts[0][0]
