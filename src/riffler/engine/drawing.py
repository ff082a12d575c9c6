"""Stretches of rows that workers of one machine draw from one list: who is done early takes from the others.

Cores are not equally fast at every moment: were rows shared out beforehand, each step would wait for the slower one.
The list is a small file that all of them map; a stretch is taken once the number of the step stands in its place. There
is no lock: two that take the same stretch at once both work on it, and what is there twice is dropped afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.engine.mapped import MappedArray
from riffler.engine.scratch import Scratch, told_if_tidied_up

LONG = 100_000  # bytes that are sent to each worker in less time than they are written and mapped


class DrawingList:
    """The list, as who asks keeps it: every step has a number of its own. Beside it lie arrays that all need."""

    def __init__(self, n_stretches: int) -> None:
        self._n_stretches, self._step = n_stretches, 0
        self._scratch = Scratch()

    def told(self, *all_of: Any) -> tuple[Any, ...]:  # noqa: ANN401 - arrays and numbers
        """What all workers are told in a step, where long arrays are files that they read: quicker than to send them.

        They are written over those of the step before: its answers have come, or are not waited for any more.
        """
        return tuple(self._written_if_long(f"told {at}", one) for at, one in enumerate(all_of))

    def _written_if_long(self, name: str, one: Any) -> Any:  # noqa: ANN401 - an array or a number
        if not isinstance(one, np.ndarray) or one.nbytes <= LONG:
            return one
        return MappedArray(str(self._scratch.written_over(name, one)), one.dtype.str, one.shape, 0)

    def hands(self, parts: Sequence[Sequence[range]]) -> list[Hand]:
        """Begin a step, and give each worker a hand to draw with; ``parts`` are the stretches that each begins with."""
        self._step += 1
        path = self._scratch.file("taken", np.zeros(self._n_stretches, dtype=np.uint32))
        return [Hand(str(path), self._step, drawing_order(parts, number)) for number in range(len(parts))]

    def shared(self, name: str, array: NDArray[Any]) -> MappedArray:
        """Write an array once, for all workers to map."""
        path = str(self._scratch.file(name, array)) if array.size else None  # nothing cannot be mapped
        return MappedArray(path, array.dtype.str, array.shape, 0)

    def forget(self, name: str) -> None:
        """Remove an array; who has it mapped keeps it."""
        self._scratch.remove(name)

    def close(self) -> None:
        """Remove the list and all arrays."""
        self._scratch.close()


@dataclass(frozen=True, slots=True)
class Hand:
    """Draws from a list in a step, in an order of its own; it travels to a worker."""

    path: str
    step: int
    order: tuple[range, ...]

    def __call__(self, n_stretches: int) -> Iterator[int]:
        """Yield stretches that nobody has drawn, and mark them."""
        with told_if_tidied_up():
            taken = np.memmap(self.path, dtype=np.uint32, mode="r+", shape=(n_stretches,))
        for stretch in chain.from_iterable(self.order):
            if taken[stretch] != self.step:
                taken[stretch] = self.step
                yield stretch


def drawing_order(parts: Sequence[Sequence[range]], number: int) -> tuple[range, ...]:
    """Say in what order one of several draws: its own part from the beginning, then those of others from their ends.

    >>> parts = [[range(0, 2), range(4, 6)], [range(2, 4)]]
    >>> [list(map(list, drawing_order(parts, number))) for number in (0, 1)]
    [[[0, 1], [4, 5], [3, 2]], [[2, 3], [5, 4], [1, 0]]]
    """
    others = [*parts[number + 1 :], *parts[:number]]
    return (*parts[number], *(stretches[::-1] for part in others for stretches in reversed(part)))
