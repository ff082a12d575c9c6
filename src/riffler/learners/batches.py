"""Cutting a training set into mini-batches that are mixed, balanced, and still read the memory in order.

Rows in random order cost a cache miss each: four to ten times a plain pass. So each class is cut into runs of
neighbouring rows, the runs are shuffled, and every batch gets its even share of each class; data that come sorted by
label make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riffler.features.blocked_rows import BlockedRows, bytes_of
from riffler.features.blocks import RowBlocks, identity_scaling
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

RUN_BYTES = 65_536  # long enough for the hardware to read ahead
MIN_ROWS = 500
POSITIVES_PER_BATCH = 50
RUNS_PER_BATCH = 8


@dataclass(frozen=True, slots=True)
class Batches:
    """Batch b holds the rows ``order[starts[b]:stops[b]]``."""

    order: IntArray
    starts: IntArray
    stops: IntArray

    @property
    def n_rows(self) -> int:
        """Rows of all batches."""
        return int((self.stops - self.starts).sum())

    def shuffled(self, rng: np.random.RandomState) -> Batches:
        """Return the same batches in another order."""
        order = rng.permutation(len(self.starts))
        return Batches(self.order, self.starts[order], self.stops[order])

    def pieces(self, most_rows: int) -> Iterator[Batches]:
        """Yield the same batches in the same order, as many at a time as have at most so many rows, or one."""
        first, n_rows = 0, 0
        for at, size in enumerate((self.stops - self.starts).tolist()):
            if n_rows and n_rows + size > most_rows:
                yield Batches(self.order, self.starts[first:at], self.stops[first:at])
                first, n_rows = at, 0
            n_rows += size
        yield Batches(self.order, self.starts[first:], self.stops[first:])

    def gathered(self) -> tuple[IntArray, Batches]:
        """Return the rows of these batches, one after the other, and the batches of rows so gathered."""
        lengths = self.stops - self.starts
        stops = np.cumsum(lengths)
        rows = np.concatenate([self.order[start:stop] for start, stop in zip(self.starts, self.stops, strict=True)])
        return rows, Batches(np.arange(len(rows), dtype=np.int32), stops - lengths, stops)


def one_batch(n_rows: int) -> Batches:
    """All rows as they come, as a single batch."""
    return Batches(np.arange(n_rows, dtype=np.int32), np.array([0]), np.array([n_rows]))


def mixed_batches(X: Matrix, labels: IntArray, batch_size: int | None, rng: np.random.RandomState) -> Batches:
    """Cut the rows into balanced batches of about ``batch_size`` rows (None: enough for about 50 positives)."""
    n_rows = X.shape[0]
    run = max(1, round(RUN_BYTES / max(1.0, _row_bytes(X))))
    if batch_size is None:
        share = max(float(np.count_nonzero(labels > 0)) / n_rows, 1e-12)
        batch_size = int(min(n_rows, max(MIN_ROWS, np.ceil(POSITIVES_PER_BATCH / share), RUNS_PER_BATCH * run)))
    # a given batch size is kept: then the runs give way
    run = max(1, min(run, batch_size // RUNS_PER_BATCH))
    n_batches = max(1, round(n_rows / batch_size))
    parts = [np.array_split(_shuffled_runs(rows, run, rng), n_batches) for rows in _by_class(labels)]
    # the shorter parts of one class meet the longer ones of the other, so that batches are equally long
    pieces = [np.concatenate((mine, other)) for mine, other in zip(parts[0], reversed(parts[1]), strict=True)]
    lengths = np.array([len(piece) for piece in pieces])
    stops = np.cumsum(lengths)
    return Batches(np.concatenate(pieces).astype(np.int32), stops - lengths, stops)


def mean_square(X: Matrix, weight: FloatArray) -> float:
    """Weighted mean of the squared row norms: the natural unit of step sizes."""
    if is_sparse(X) or isinstance(X, BlockedRows):  # by blocks: the squares of all entries would be as large as X
        return float(RowBlocks(X, identity_scaling(X.shape[1])).mean_squares(weight).sum()) or 1.0
    return float(np.average(np.einsum("ij,ij->i", X, X), weights=weight)) or 1.0


def _by_class(labels: IntArray) -> tuple[IntArray, IntArray]:
    return np.flatnonzero(labels > 0), np.flatnonzero(labels <= 0)


def _shuffled_runs(rows: IntArray, run: int, rng: np.random.RandomState) -> IntArray:
    n_runs = -(-len(rows) // run)
    if n_runs <= 1:
        return rows
    order = rng.permutation(n_runs)
    padded = np.full(n_runs * run, -1, dtype=rows.dtype)
    padded[: len(rows)] = rows
    mixed = padded.reshape(n_runs, run)[order].ravel()
    return mixed[mixed >= 0]


def _row_bytes(X: Matrix) -> float:
    return bytes_of(X) / float(X.shape[0])
