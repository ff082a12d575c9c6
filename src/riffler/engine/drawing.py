"""Stretches of rows that workers of one machine draw from one list: who is done early takes from the others.

Cores are not equally fast at every moment: were rows shared out beforehand, each step would wait for the slower one.
The list is a small file that all of them map; a stretch is taken once the number of the step stands in its place. There
is no lock: two that take the same stretch at once both work on it, and what is there twice is dropped afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.engine.mapped import MappedArray
from riffler.errors import EngineError


class DrawingList:
    """The list, as who asks keeps it: every step has a number of its own. Beside it lie arrays that all need."""

    def __init__(self, n_stretches: int) -> None:
        self._n_stretches, self._step = n_stretches, 0
        self._folder = _new_folder()

    def hands(self, parts: Sequence[Sequence[range]]) -> list[Hand]:
        """Begin a step, and give each worker a hand to draw with; ``parts`` are the stretches that each begins with."""
        self._step += 1
        path = self._file("taken", np.zeros(self._n_stretches, dtype=np.uint32))
        return [Hand(path, self._step, drawing_order(parts, number)) for number in range(len(parts))]

    def shared(self, name: str, array: NDArray[Any]) -> MappedArray:
        """Write an array once, for all workers to map."""
        path = self._file(name, array) if array.size else None  # nothing cannot be mapped
        return MappedArray(path, array.dtype.str, array.shape, 0)

    def forget(self, name: str) -> None:
        """Remove an array; who has it mapped keeps it."""
        (Path(self._folder.name) / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the list and all arrays."""
        self._folder.cleanup()

    def _file(self, name: str, array: NDArray[Any]) -> str:
        if not Path(self._folder.name).exists():  # somebody tidied up
            self._folder.cleanup()
            self._folder = _new_folder()
        path = Path(self._folder.name) / name
        if not path.exists():
            with _writing():
                array.tofile(path)
        return str(path)


@dataclass(frozen=True, slots=True)
class Hand:
    """Draws from a list in a step, in an order of its own; it travels to a worker."""

    path: str
    step: int
    order: tuple[range, ...]

    def __call__(self, n_stretches: int) -> Iterator[int]:
        """Yield stretches that nobody has drawn, and mark them."""
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


def _new_folder() -> TemporaryDirectory[str]:
    with _writing():
        return TemporaryDirectory(prefix="riffler-", ignore_cleanup_errors=True)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        told = f"The folder of temporary files cannot be written to ({error}). Make room, or set TMPDIR to another."
        raise EngineError(told) from error
