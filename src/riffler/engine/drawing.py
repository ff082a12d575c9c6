"""Stretches of rows that workers of one machine draw from one list: who is done early takes from the others.

Cores are not equally fast at every moment: were rows shared out beforehand, each step would wait for the slower one.
The list is a small file that all of them map; a stretch is taken once the number of the step stands in its place. There
is no lock: two that take the same stretch at once both work on it, and what is there twice is dropped afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np


class DrawingList:
    """The list, as who asks keeps it: every step has a number of its own."""

    def __init__(self, n_stretches: int) -> None:
        self._folder = TemporaryDirectory(prefix="riffler-", ignore_cleanup_errors=True)
        self._path = Path(self._folder.name) / "taken"
        self._path.write_bytes(bytes(4 * n_stretches))
        self._step = 0

    def hands(self, n: int) -> list[Hand]:
        """Begin a step, and give each of n workers a hand to draw with."""
        self._step += 1
        return [Hand(str(self._path), self._step, number, n) for number in range(n)]

    def close(self) -> None:
        """Remove the list."""
        self._folder.cleanup()


@dataclass(frozen=True, slots=True)
class Hand:
    """One of ``n_hands`` that draw from a list in a step; it travels to a worker."""

    path: str
    step: int
    number: int
    n_hands: int

    def __call__(self, n_stretches: int) -> Iterator[int]:
        """Yield stretches that nobody has drawn, and mark them."""
        taken = np.memmap(self.path, dtype=np.uint32, mode="r+", shape=(n_stretches,))
        for stretch in drawing_order(n_stretches, self.number, self.n_hands):
            if taken[stretch] != self.step:
                taken[stretch] = self.step
                yield stretch


def drawing_order(n_stretches: int, number: int, n_hands: int) -> Iterator[int]:
    """Yield all stretches: a hand's own part from its beginning, then the parts of the others from their ends.

    >>> list(drawing_order(6, 0, 2)), list(drawing_order(6, 1, 2))
    ([0, 1, 2, 5, 4, 3], [3, 4, 5, 2, 1, 0])
    """
    cuts = [n_stretches * at // n_hands for at in range(n_hands + 1)]
    yield from range(cuts[number], cuts[number + 1])
    for at in range(number + 1, number + n_hands):
        other = at % n_hands
        yield from range(cuts[other + 1] - 1, cuts[other] - 1, -1)
