"""A matrix in blocks of rows that need not fit into memory: arrays, memory-mapped files, or what opens at first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from riffler.errors import InputError
from riffler.records import IntArray, Matrix, is_sparse, n_bytes


class BlockSource(Protocol):
    """Rows that are opened when they are first needed; pickled where another process shall open them."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def open(self) -> Matrix:
        """Return the rows, dense or CSR; raise where they are damaged."""
        ...


Block: TypeAlias = "Matrix | BlockSource"


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
            block = source.open() if hasattr(source, "open") else source
            if tuple(block.shape) != tuple(source.shape):
                raise InputError(
                    f"Block {number} was said to have shape {source.shape} and has {block.shape}. Make the index anew."
                )
            if number and is_sparse(block) != self.is_sparse:
                kinds = ("dense", "sparse")
                raise InputError(
                    f"Blocks must be all dense or all sparse; block {number} is {kinds[is_sparse(block)]}, "
                    f"the first one is {kinds[self.is_sparse]}."
                )
            self._opened[number] = block
        return self._opened[number]

    def __iter__(self) -> Iterator[tuple[int, int, Matrix]]:
        """Yield (first row, end, block)."""
        for number, (start, stop) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            yield int(start), int(stop), self.block(number)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, numbers: IntArray) -> Matrix:
        """Gather some rows into one matrix in memory, in the order given."""
        numbers = np.asarray(numbers, dtype=np.int64)
        if numbers.size == 0:
            return self.block(0)[numbers]
        home = np.searchsorted(self.starts, numbers, side="right") - 1
        order = np.argsort(home, kind="stable")
        used, first = np.unique(home[order], return_index=True)
        parts = np.split(order, first[1:])
        chosen = zip(used.tolist(), parts, strict=True)
        pieces = [self.block(at)[numbers[part] - self.starts[at]] for at, part in chosen]
        if len(pieces) == 1:
            return pieces[0]
        places = np.argsort(order, kind="stable")
        if not self.is_sparse:
            return np.concatenate(pieces)[places]
        from scipy import sparse

        return sparse.vstack(pieces, format="csr")[places]


def block_of_rows(block: Matrix, start: int, stop: int) -> Matrix:
    """Return some rows of a block in its own memory; slicing a CSR matrix would copy them."""
    if not is_sparse(block):
        return block[start:stop]
    from scipy import sparse

    first, last = block.indptr[start], block.indptr[stop]
    part = sparse.csr_matrix((stop - start, block.shape[1]), dtype=block.dtype)
    part.data, part.indices = block.data[first:last], block.indices[first:last]
    part.indptr = block.indptr[start : stop + 1] - first
    return part
