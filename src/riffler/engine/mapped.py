"""Memory-mapped blocks by the names of their files: another process of a shared folder opens them by itself."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.disk.open_files import allow_more, few_enough
from riffler.errors import DataFileError
from riffler.records import Matrix, is_sparse


@dataclass(frozen=True, slots=True)
class MappedArray:
    """An array of a file; None for one without entries, which cannot be mapped."""

    path: str | None
    dtype: str
    shape: tuple[int, ...]
    offset: int

    def open(self) -> NDArray[Any]:
        """Map it again, to be read only; say what is to be done where it cannot be."""
        try:
            return self.mapped()
        except FileNotFoundError as error:
            raise DataFileError(
                f"{self.path}: no such file for the process that shall work on it. "
                "Put the collection into a folder that all workers see under the same name."
            ) from error
        except ValueError as error:
            raise DataFileError(f"{self.path}: shorter than its index says. Copy it again, or index anew.") from error

    def mapped(self) -> NDArray[Any]:
        """Map it again, to be read only."""
        if self.path is None:
            return np.empty(self.shape, dtype=self.dtype)
        with few_enough(Path(self.path)), Path(self.path).open("rb") as stream:
            allow_more(stream.fileno())
            mapped = np.memmap(stream, dtype=self.dtype, mode="r", offset=self.offset, shape=self.shape)
        return np.asarray(mapped)


@dataclass(frozen=True, slots=True)
class MappedBlock:
    """A dense block (one array) or a CSR block (values, columns, row starts) of files."""

    shape: tuple[int, int]
    arrays: tuple[MappedArray, ...]

    def open(self) -> Matrix:
        """Map it again."""
        if len(self.arrays) == 1:
            return self.arrays[0].open()
        from scipy import sparse

        dtype: Any = np.dtype(self.arrays[0].dtype)
        block = sparse.csr_matrix(self.shape, dtype=dtype)
        block.data, block.indices, block.indptr = (array.open() for array in self.arrays)
        return block


def mapped_block(block: Matrix) -> MappedBlock | None:
    """Say in which files a block lies; None where some of it is only in memory."""
    arrays = (block.data, block.indices, block.indptr) if is_sparse(block) else (block,)
    found = [_mapped_array(array) for array in arrays]
    mapped = tuple(array for array in found if array is not None)
    if len(mapped) < len(arrays) or all(array.path is None for array in mapped):
        return None
    return MappedBlock((int(block.shape[0]), int(block.shape[1])), mapped)


def _mapped_array(array: NDArray[Any]) -> MappedArray | None:
    if array.size == 0:
        return MappedArray(None, array.dtype.str, array.shape, 0)
    root: Any = array
    while isinstance(root, np.ndarray) and not (isinstance(root, np.memmap) and isinstance(root.base, mmap.mmap)):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None or not array.flags.c_contiguous:
        return None
    if root.mode == "c":  # what was changed here is not in the file
        return None
    offset = root.offset + array.ctypes.data - root.ctypes.data
    return MappedArray(str(Path(root.filename).resolve()), array.dtype.str, array.shape, offset)
