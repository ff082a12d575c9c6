"""The heavy steps of a search on this machine: threads take stretches of rows, one pass, nothing as long as all rows.

Every stretch is scored by the one compiled row loop, and the order of the best is total, so neither the blocks nor the
number of threads make a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import numpy as np

from riffler.cores import n_cores
from riffler.engine.base import (
    Best,
    BlockHolder,
    Part,
    Work,
    checked_columns,
    checked_ties,
    checked_weights,
    excluded_numbers,
    part_of_columns,
)
from riffler.engine.candidates import Candidates
from riffler.engine.fixed_sum import Node, joined, total_of
from riffler.errors import InputError
from riffler.features.blocked_rows import Block, BlockedRows
from riffler.records import BoolArray, FloatArray, IntArray

STRETCH = 16_384  # rows scored at a time: their scores stay in the cache

Result = TypeVar("Result")
Stretch: TypeAlias = tuple[int, int, Any]
"""First row, end, and the rows for the compiled loops."""
Turns: TypeAlias = Callable[[int], Iterable[int]]
"""Told how many stretches there are, says which are worked on and in what order; ``range`` says all of them."""


class LocalEngine(BlockHolder):
    """Blocks of feature rows, numbered through from 0, in memory or mapped into it.

    blocks : dense arrays, CSR matrices, or objects that open them, all of the same columns
    threads : None for as many as this process may use cores

    >>> engine = LocalEngine([np.eye(2), np.ones((1, 2))])
    >>> engine.scores(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0, 3.0]
    >>> engine.best(np.array([1.0, 2.0]), n=1, excluded=np.array([False, False, True])).rows.tolist()
    [1]
    """

    def __init__(self, blocks: Sequence[Block] | BlockedRows, threads: int | None = None) -> None:
        super().__init__(blocks)
        if threads is not None and threads < 1:
            raise InputError(f"threads must be at least 1 or None, got {threads!r}.")
        self.threads = n_cores() if threads is None else threads

    def map(self, work: Work[Part], *columns: Any) -> list[Part]:  # noqa: ANN401 - arrays of any kind
        """Apply a function to every block and its part of each column."""
        return list(self._parts(work, columns))

    def sum(self, work: Work[FloatArray], *columns: Any) -> FloatArray:  # noqa: ANN401 - arrays of any kind
        """Add up what a function makes of every block and its part of each column."""
        return total_of(self.nodes(work, *columns))

    def nodes(self, work: Work[FloatArray], *columns: Any, first: int = 0) -> list[Node]:  # noqa: ANN401
        """Add up as far as the tree of sums goes, where these are the blocks from ``first`` on of a longer list."""
        parts = self._parts(work, columns)
        return joined(Node(first + at, 1, np.asarray(part)) for at, part in enumerate(parts))

    def scores(self, weights: FloatArray, intercept: float = 0.0) -> FloatArray:
        """Score every row."""
        from riffler._fast.rows import scores_of_all

        weights = checked_weights(weights, intercept, self.n_columns)
        scores = np.empty(self.n_rows)

        def write(stretches: Iterator[Stretch]) -> None:
            for start, stop, rows in stretches:
                out = scores[start:stop]
                scores_of_all(rows, stop - start, weights, out)
                out += intercept

        self._share_out(write)
        return scores

    def best(
        self,
        weights: FloatArray,
        n: int,
        excluded: BoolArray | IntArray | None = None,
        intercept: float = 0.0,
        ties: IntArray | None = None,
    ) -> Best:
        """Return the n rows of the highest scores that are not excluded."""
        weights = checked_weights(weights, intercept, self.n_columns)
        skipped, ranks = excluded_numbers(excluded, self.n_rows), checked_ties(ties, self.n_rows)
        return self.candidates(weights, n, skipped, intercept, ranks).best(n)

    def candidates(
        self,
        weights: FloatArray,
        n: int,
        skipped: IntArray,
        intercept: float,
        ranks: IntArray,
        turns: Turns = range,
    ) -> Candidates:
        """Return rows among which the n best are, with what puts them in order; `best` has checked the arguments.

        turns : of the stretches that are scored here; who asks sees to it that others score the rest
        """
        from riffler._fast.rows import scores_of_all
        from riffler._fast.top_rows import keep_top

        room = max(0, min(n, self.n_rows - skipped.size))
        if room == 0:
            return Candidates.none()

        def keep(stretches: Iterator[Stretch]) -> Candidates:
            scores, kept, size = np.empty(min(STRETCH, self.n_rows)), Candidates.room_for(room), 0
            for start, stop, rows in stretches:
                values = scores[: stop - start]
                scores_of_all(rows, stop - start, weights, values)
                values += intercept
                skipped_here = skipped[np.searchsorted(skipped, start) :]
                size = keep_top(values, start, skipped_here, ranks, kept.scores, kept.ties, kept.rows, size)
            return kept.first(size)

        return Candidates.together(self._share_out(keep, turns))

    def _share_out(self, work: Callable[[Iterator[Stretch]], Result], turns: Turns = range) -> list[Result]:
        """Let each thread work through stretches of rows that no other has taken."""
        stretches = _Taken(self._stretches(turns))
        n_threads = min(self.threads, -(-self.n_rows // STRETCH))
        if n_threads <= 1:
            return [work(stretches)]
        with ThreadPoolExecutor(n_threads, thread_name_prefix="riffler-engine") as pool:
            return list(pool.map(work, [stretches] * n_threads))

    def _stretches(self, turns: Turns) -> Iterator[Stretch]:
        from riffler._fast.rows import as_rows, part_of_rows

        ends = stretch_ends(self.starts)
        opened, rows = -1, None
        for number in turns(int(ends[-1])):
            block = int(np.searchsorted(ends, number, side="right"))
            if block != opened:
                opened, rows = block, as_rows(self._blocked.block(block))
            first, end = int(self.starts[block]), int(self.starts[block + 1])
            start = first + STRETCH * (number - int(ends[block - 1]) if block else number)
            stop = min(start + STRETCH, end)
            yield start, stop, part_of_rows(rows, start - first, stop - first)

    def _parts(self, work: Work[Part], columns: tuple[Any, ...]) -> Iterator[Part]:
        """Yield what the blocks give, in their order; few of them are under way at a time."""
        checked_columns(columns, self.n_rows)
        jobs = ((block, part_of_columns(columns, start, stop)) for start, stop, block in self._blocked)
        if self.threads == 1 or self._blocked.n_blocks == 1:
            yield from (work(block, *parts) for block, parts in jobs)
            return
        with ThreadPoolExecutor(self.threads, thread_name_prefix="riffler-engine") as pool:
            waiting: list[Future[Part]] = []
            waiting += [pool.submit(work, block, *parts) for block, parts in islice(jobs, self.threads)]
            while waiting:
                done = waiting.pop(0).result()
                waiting += [pool.submit(work, block, *parts) for block, parts in islice(jobs, 1)]
                yield done


class _Taken(Iterator[Stretch]):
    """An iterator that several threads share; a block that opens is opened once."""

    def __init__(self, stretches: Iterator[Stretch]) -> None:
        self._stretches, self._lock = stretches, Lock()

    def __next__(self) -> Stretch:
        with self._lock:
            return next(self._stretches)


def stretch_ends(starts: IntArray) -> IntArray:
    """Say how many stretches there are up to the end of each block; none reaches from one block into the next.

    >>> stretch_ends(np.array([0, 10, 10, STRETCH + 11]))
    array([1, 1, 3])
    """
    ends: IntArray = np.cumsum(-(-np.diff(starts) // STRETCH))
    return ends
