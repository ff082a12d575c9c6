"""A matrix in blocks of rows that need not fit into memory: arrays, memory-mapped files, or what opens at first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from riffler.errors import InputError
from riffler.records import IntArray, Matrix, is_sparse, n_bytes


class BlockSource(Protocol):
    """Rows that are opened when they are first needed; pickled where another process shall open them.

    One whose rows are mapped may have ``check_unchanged()``, which is called before each pass over them.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def open(self) -> Matrix:
        """Return the rows, dense or CSR; raise where they are damaged."""
        ...


Block: TypeAlias = "Matrix | BlockSource"

STRETCH_BYTES = 4_000_000  # of chosen rows that are gathered at a time
GATHERED_BYTES = 64_000_000  # of chosen rows that are gathered at once


class BlockedRows:
    """Blocks of rows as one matrix, numbered through from 0; a block is opened once, and then kept open.

    Parameters
    ----------
    blocks : dense arrays or CSR matrices (memory-mapped ones stay on disk), or objects with ``shape`` and ``open``
        All of the same columns, and either all dense or all sparse.

    >>> X = BlockedRows([np.eye(2), np.ones((1, 2))])
    >>> X.shape, X[np.array([2, 0])].tolist()
    ((3, 2), [[1.0, 1.0], [1.0, 0.0]])
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        if not len(blocks):
            raise InputError("Blocked rows need at least one block of rows, got none.")
        widths = {int(block.shape[1]) for block in blocks}
        if len(widths) > 1:
            raise InputError(f"All blocks must have the same columns; got blocks of {sorted(widths)} columns.")
        self.sources: tuple[Block, ...] = tuple(blocks)
        self._opened: dict[int, Matrix] = {}
        self.starts: IntArray = np.cumsum([0, *(int(block.shape[0]) for block in blocks)])
        self.shape = int(self.starts[-1]), widths.pop()

    @property
    def n_blocks(self) -> int:
        """Blocks, empty ones included."""
        return len(self.sources)

    @property
    def dtype(self) -> Any:  # noqa: ANN401 - NumPy's own
        """Type of the values of the first block; the others are expected to have the same."""
        return self.block(0).dtype

    @property
    def is_sparse(self) -> bool:
        """Whether the blocks are CSR matrices."""
        return is_sparse(self.block(0))

    @property
    def n_bytes(self) -> int:
        """Bytes of all blocks, wherever they lie."""
        return sum(n_bytes(block) for _, _, block in self)

    def block(self, number: int) -> Matrix:
        """Return a block, opened if need be."""
        if number not in self._opened:
            source = self.sources[number]
            block: Matrix = source.open() if hasattr(source, "open") else source
            if tuple(block.shape) != tuple(source.shape):
                raise InputError(
                    f"Block {number} was said to have shape {source.shape} and has {block.shape}. Make the index anew."
                )
            if is_sparse(block) and block.format != "csr":  # the compiled loops would read its arrays as rows
                raise InputError(f"Sparse blocks must be CSR, block {number} is {block.format.upper()}. Call .tocsr().")
            if number and is_sparse(block) != self.is_sparse:
                kinds = ("dense", "sparse")
                raise InputError(
                    f"Blocks must be all dense or all sparse; block {number} is {kinds[is_sparse(block)]}, "
                    f"the first one is {kinds[self.is_sparse]}."
                )
            self._opened[number] = block
        elif (check := getattr(self.sources[number], "check_unchanged", None)) is not None:
            check()
        return self._opened[number]

    def __iter__(self) -> Iterator[tuple[int, int, Matrix]]:
        """Yield (first row, end, block)."""
        for number, (start, stop) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            yield int(start), int(stop), self.block(number)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, numbers: IntArray) -> Matrix:
        """Gather some rows into one matrix in memory, in the order given."""
        numbers = checked_numbers(numbers, self.shape[0])
        if numbers.size == 0:
            return self.block(0)[numbers]
        home = np.searchsorted(self.starts, numbers, side="right") - 1
        order = np.argsort(home, kind="stable")
        used, first = np.unique(home[order], return_index=True)
        places = dict(zip(used.tolist(), np.split(order, first[1:]), strict=True))
        inside = numbers - self.starts[home]
        return self._gathered_csr(inside, places) if self.is_sparse else self._gathered_array(inside, places)

    def _gathered_array(self, inside: IntArray, places: dict[int, IntArray]) -> Matrix:
        """Gather rows, by their numbers in their blocks; ``places`` has, for each block, where its rows shall stand."""
        out = np.empty((inside.size, self.shape[1]), dtype=self.dtype)
        for number, at in places.items():
            out[at] = self.block(number)[inside[at]]
        return out

    def _gathered_csr(self, inside: IntArray, places: dict[int, IntArray]) -> Matrix:
        """Gather rows, each copied once."""
        from scipy import sparse

        from riffler._fast.rows import copy_rows

        starts: IntArray = np.zeros(inside.size + 1, dtype=np.int64)
        for number, at in places.items():
            indptr = self.block(number).indptr
            starts[1 + at] = indptr[inside[at] + 1] - indptr[inside[at]]
        np.cumsum(starts, out=starts)
        out: Matrix = sparse.csr_matrix((inside.size, self.shape[1]), dtype=self.dtype)
        out.data = np.empty(starts[-1], dtype=self.dtype)
        out.indices = np.empty(starts[-1], dtype=self.block(0).indices.dtype)
        out.indptr = starts.astype(out.indices.dtype) if starts[-1] < 2**31 else starts
        for number, at in places.items():
            block = self.block(number)
            copy_rows(block.data, block.indices, block.indptr, inside[at], starts[at], out.data, out.indices)
        return out


class ChosenRows(BlockedRows):
    """Some rows of a blocked matrix as another one, gathered a stretch at a time whenever they are read."""

    def __init__(self, X: BlockedRows, numbers: IntArray) -> None:
        step = max(1, int(STRETCH_BYTES * X.shape[0] // max(X.n_bytes, 1)))
        super().__init__([_Chosen(X, numbers[at : at + step]) for at in range(0, numbers.size, step)])
        self._whole, self._numbers = X, numbers

    @property
    def dtype(self) -> Any:  # noqa: ANN401 - NumPy's own
        """Type of the values."""
        return self._whole.dtype

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return self._whole.is_sparse

    @property
    def n_bytes(self) -> int:
        """Bytes of the rows, about, were they gathered at once."""
        return int(self._whole.n_bytes * (self._numbers.size / max(self._whole.shape[0], 1)))

    def block(self, number: int) -> Matrix:
        """Gather a stretch; it is not kept."""
        return self.sources[number].open()

    def __getitem__(self, numbers: IntArray) -> Matrix:
        """Gather some rows into one matrix in memory, in the order given."""
        return self._whole[self._numbers[numbers]]


class _Chosen:
    """A stretch of chosen rows."""

    def __init__(self, X: BlockedRows, numbers: IntArray) -> None:
        self._X, self._numbers = X, numbers
        self.shape = len(numbers), X.shape[1]

    def open(self) -> Matrix:
        """Gather the rows."""
        return self._X[self._numbers]


def checked_numbers(numbers: IntArray, n_rows: int) -> IntArray:
    """Return row numbers; a mask, or a row that is not there, would be taken for other rows.

    >>> checked_numbers(np.array([2, 0]), 3)
    array([2, 0])
    """
    given = np.asarray(numbers)
    if given.dtype == np.bool_:
        raise InputError("Rows in blocks are named by their numbers, got a mask. Pass np.flatnonzero(mask).")
    if given.size and not (given.min() >= 0 and given.max() < n_rows):
        raise InputError(
            f"Row numbers must be from 0 to {n_rows - 1:,}, got numbers from {given.min():,} to {given.max():,}."
        )
    return given.astype(np.int64, copy=False)


def rows_of(X: Matrix | BlockedRows, numbers: IntArray) -> Matrix | BlockedRows:
    """Return some rows: of a blocked matrix gathered at once where they are few, else whenever they are read."""
    if not isinstance(X, BlockedRows) or X.n_bytes * numbers.size <= GATHERED_BYTES * X.shape[0]:
        return X[numbers]
    return ChosenRows(X, numbers)


def has_sparse_rows(X: Matrix | BlockedRows) -> bool:
    """Tell whether the rows of a matrix, blocked or not, are sparse."""
    return X.is_sparse if isinstance(X, BlockedRows) else is_sparse(X)


def bytes_of(X: Matrix | BlockedRows) -> int:
    """Bytes of a matrix, blocked or not."""
    return X.n_bytes if isinstance(X, BlockedRows) else n_bytes(X)


def whole_blocks(X: Matrix | BlockedRows) -> Iterator[tuple[int, int, Matrix]]:
    """Yield (first row, end, block); a matrix in memory is one block."""
    if isinstance(X, BlockedRows):
        yield from X
    else:
        yield 0, X.shape[0], X
