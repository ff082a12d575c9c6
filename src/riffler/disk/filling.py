"""Fill partitions: documents are counted by several threads while the next are read and the last ones are written."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np

from riffler.disk.options import IndexOptions
from riffler.disk.partition_writing import CountedPiece
from riffler.disk.parts import Piece
from riffler.disk.reading import Place

Count = Callable[[Piece], CountedPiece]
Close = Callable[[list[CountedPiece], Place], None]


class Filling:
    """Cuts documents into partitions, whatever the pieces they come in.

    ``count`` is called in several threads, ``close`` in one, with a full partition and the place behind it. One
    partition is written while the next is filled; no more are in memory.
    """

    def __init__(self, options: IndexOptions, count: Count, close: Close, n_jobs: int) -> None:
        self._options, self._count, self._close, self._n_jobs = options, count, close, n_jobs
        self._counters, self._writer = ThreadPoolExecutor(n_jobs), ThreadPoolExecutor(1)
        self._waiting: list[Future[CountedPiece]] = []
        self._open: deque[Future[CountedPiece]] = deque()
        self._writing: Future[None] | None = None
        self._n_items = self._n_bytes = 0
        self._place = Place()

    def __enter__(self) -> Filling:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        self._counters.shutdown(cancel_futures=kind is not None)
        self._writer.shutdown(cancel_futures=kind is not None)

    def add(self, piece: Piece, place: Place) -> None:
        """Add documents; ``place`` is where they begin."""
        if self._writing is not None and self._writing.done():
            self._writing.result()  # an error is told here, not when the next partition is full
        while piece.n_items:
            n, n_bytes = self._fitting(piece)
            self._wait_for_a_counter()
            self._waiting.append(self._counters.submit(self._count, piece.slice(0, n)))
            self._open.append(self._waiting[-1])
            self._n_items += n
            self._n_bytes += n_bytes
            self._place = place = place.after(n)
            piece = piece.slice(n, piece.n_items - n)
            if self._n_items >= self._options.n_items or self._n_bytes >= self._options.n_bytes:
                self._hand_over()

    def finish(self) -> None:
        """Write what is left, and wait until it is written."""
        if self._waiting:
            self._hand_over()
        if self._writing is not None:
            self._writing.result()

    def _fitting(self, piece: Piece) -> tuple[int, int]:
        """Documents of the piece that go into this partition, and their bytes."""
        sizes = np.cumsum(piece.sizes())
        n = int(np.searchsorted(sizes, self._options.n_bytes - self._n_bytes)) + 1  # with the one that makes it full
        n = min(n, piece.n_items, self._options.n_items - self._n_items)
        return n, int(sizes[n - 1])

    def _wait_for_a_counter(self) -> None:
        while self._open and self._open[0].done():
            self._open.popleft()
        if len(self._open) > self._n_jobs + 1:
            self._open.popleft().result()

    def _hand_over(self) -> None:
        if self._writing is not None:
            self._writing.result()
        self._writing = self._writer.submit(self._write, self._waiting, self._place)
        self._waiting, self._n_items, self._n_bytes = [], 0, 0

    def _write(self, counted: list[Future[CountedPiece]], place: Place) -> None:
        self._close([one.result() for one in counted], place)
