"""What every engine does with blocks of rows, wherever they lie: map, sum, score, keep the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from riffler.errors import InputError
from riffler.features.blocked_rows import Block, BlockedRows
from riffler.records import BoolArray, FloatArray, IntArray, Matrix, is_sparse

Part = TypeVar("Part")
Work = Callable[..., Part]
"""Called with a block and, for each column that was passed, the entries of the block's rows; it changes neither."""


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """Rows of the highest scores, best first, and their scores."""

    rows: IntArray
    scores: FloatArray


class Engine(Protocol):
    """Blocks of feature rows, numbered through from 0, and where the heavy steps on them run.

    Scores and the best rows are the same, bit for bit, on every engine and for any blocks; sums for the same blocks, as
    far as the work gives the same. Of dense rows only among processors of one kind: in what order these are summed
    depends on how much a processor adds at once; sparse rows are summed in their own.
    """

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        ...

    @property
    def n_columns(self) -> int:
        """Columns of every block."""
        ...

    @property
    def blank_rows(self) -> BoolArray:
        """Which rows have no feature at all."""
        ...

    def map(self, work: Work[Part], *columns: Any) -> list[Part]:  # noqa: ANN401 - arrays of any kind
        """Apply a function to every block and its part of each column."""
        ...

    def sum(self, work: Work[FloatArray], *columns: Any) -> FloatArray:  # noqa: ANN401 - arrays of any kind
        """Add up what a function makes of every block and its part of each column."""
        ...

    def scores(self, weights: FloatArray, intercept: float = 0.0) -> FloatArray:
        """Score every row."""
        ...

    def best(
        self,
        weights: FloatArray,
        n: int,
        excluded: BoolArray | IntArray | None = None,
        intercept: float = 0.0,
        ties: IntArray | None = None,
    ) -> Best:
        """Return the n rows of the highest scores that are not excluded, without an array of all scores.

        excluded : which rows, a boolean for each, or their numbers
        ties : of equal scores the row with the lower number here comes first, or the earlier row without them; never
            to be changed once an engine has seen it
        """
        ...

    def rows(self, numbers: IntArray) -> Matrix:
        """Gather some rows, in the order given."""
        ...

    def close(self) -> None:
        """Let go of what runs elsewhere."""
        ...


class BlockHolder:
    """What engines share: the blocks as this process has them, and checks of what is asked."""

    def __init__(self, blocks: Sequence[Block] | BlockedRows) -> None:
        self._blocked = blocks if isinstance(blocks, BlockedRows) else BlockedRows(blocks)
        self.n_rows, self.n_columns = self._blocked.shape
        self.starts: IntArray = self._blocked.starts

    @property
    def blocks(self) -> tuple[Matrix, ...]:
        """The blocks, opened if need be."""
        return tuple(block for _, _, block in self._blocked)

    @cached_property
    def blank_rows(self) -> BoolArray:
        """Which rows have no feature at all."""
        return np.concatenate([blank_of(block) for _, _, block in self._blocked])

    def rows(self, numbers: IntArray) -> Matrix:
        """Gather some rows, in the order given."""
        return self._blocked[numbers]

    def close(self) -> None:
        """Let go of what runs elsewhere: nothing does."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def blank_of(block: Matrix) -> BoolArray:
    """Tell which rows of a block have no feature at all."""
    none: BoolArray = np.diff(block.indptr) == 0 if is_sparse(block) else ~np.any(block, axis=1)
    return none


def checked_weights(weights: FloatArray, intercept: float, n_columns: int) -> FloatArray:
    """Return finite weights, one for each column; single precision is kept, anything else becomes double."""
    dtype = np.float32 if weights.dtype == np.float32 else np.float64
    given: FloatArray = np.ascontiguousarray(weights, dtype=dtype)
    if given.shape != (n_columns,):
        raise InputError(f"weights must have shape ({n_columns},), one for each column; got {given.shape}.")
    if not (np.isfinite(given).all() and np.isfinite(intercept)):
        raise InputError("weights and intercept must be finite; rows cannot be put in order by NaN or infinity.")
    return given


def checked_columns(columns: tuple[Any, ...], n_rows: int) -> None:
    """Raise unless every column has an entry for each row."""
    for column in columns:
        if len(column) != n_rows:
            raise InputError(f"A column must have an entry for each of the {n_rows:,} rows, got {len(column):,}.")


def part_of_columns(columns: Sequence[Any], start: int, stop: int) -> tuple[Any, ...]:
    """Return some rows of columns, arrays in one layout: work that adds them up rounds by how they lie in memory.

    >>> (part,) = part_of_columns([np.arange(6.0)[::-1]], 1, 4)
    >>> part, part.flags.c_contiguous
    (array([4., 3., 2.]), True)
    """
    parts = (column[start:stop] for column in columns)
    return tuple(np.ascontiguousarray(one) if type(one) in (np.ndarray, np.memmap) else one for one in parts)


def excluded_numbers(excluded: BoolArray | IntArray | None, n_rows: int) -> IntArray:
    """Return the sorted numbers of the excluded rows, however they are given.

    >>> excluded_numbers(np.array([True, False, True]), 3), excluded_numbers(np.array([2, 0]), 3)
    (array([0, 2]), array([0, 2]))
    """
    if excluded is None:
        return np.empty(0, dtype=np.int64)
    if excluded.dtype == bool:
        if excluded.shape != (n_rows,):
            raise InputError(f"excluded must have one boolean for each of {n_rows:,} rows, got shape {excluded.shape}.")
        return np.flatnonzero(excluded)
    numbers = np.asarray(excluded, dtype=np.int64)
    if numbers.size > 1 and not (np.diff(numbers) > 0).all():
        numbers = np.unique(numbers)
    if numbers.size and not (numbers[0] >= 0 and numbers[-1] < n_rows):
        raise InputError(f"excluded rows must be 0 to {n_rows - 1:,}; got {numbers[0]:,} to {numbers[-1]:,}.")
    return numbers


def checked_ties(ties: IntArray | None, n_rows: int) -> IntArray:
    """Return the ranks by which ties are broken, none where rows come in their own order."""
    if ties is None:
        return np.empty(0, dtype=np.int64)
    if ties.shape != (n_rows,) or ties.dtype.kind not in "iu":
        raise InputError(f"ties must be a whole number for each of {n_rows:,} rows, got {ties.dtype} of {ties.shape}.")
    return ties
