"""What travels, in few bytes: weights and excluded rows at every step, columns such as labels once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PackedWeights:
    """Weights of which many are 0: a model of a few thousand rows has met few of a million columns."""

    n_columns: int
    columns: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class KeptColumns:
    """Columns that a worker keeps: their name says what is in them, so that it can tell whether it has them.

    They are copies: whoever asks may go on with his own, and name and content belong together all the same.
    """

    name: str
    columns: tuple[Any, ...]


PLAIN_KINDS = "biufc"  # truth values and numbers
NO_COLUMNS = KeptColumns("", ())


def kept_columns(columns: Sequence[Any]) -> KeptColumns | None:
    """Copy columns and name them by what is in them; None where bytes alone do not say that.

    >>> first, other, again = (kept_columns([np.array(one)]) for one in ([0, 1], [1, 1], [0, 1]))
    >>> first.name == again.name, first.name == other.name, kept_columns([["a", "b"]]), kept_columns([]).name
    (True, False, None, '')
    """
    if not columns:
        return NO_COLUMNS
    if not all(type(one) in (np.ndarray, np.memmap) and one.dtype.kind in PLAIN_KINDS for one in columns):
        return None
    copies = tuple(np.array(one, order="C") for one in columns)
    content = blake2b(digest_size=16)
    for copy in copies:
        content.update(f"{copy.dtype.str} {copy.shape} ".encode())
        content.update(copy.view(np.uint8).data)
    return KeptColumns(content.hexdigest(), copies)


def packed_weights(weights: FloatArray) -> PackedWeights | FloatArray:
    """Return the weights that are not 0, or all where that is shorter."""
    columns = np.flatnonzero(weights != 0)  # ten times as fast as of the numbers themselves
    if (4 + weights.itemsize) * columns.size > weights.nbytes:
        return weights
    return PackedWeights(weights.size, columns.astype(np.uint32), weights[columns])


def unpacked_weights(weights: PackedWeights) -> FloatArray:
    """Return all weights.

    >>> unpacked_weights(PackedWeights(3, np.array([2]), np.array([3.0])))
    array([0., 0., 3.])
    """
    whole = np.zeros(weights.n_columns, dtype=weights.values.dtype)
    whole[weights.columns] = weights.values
    return whole


def packed_rows(numbers: IntArray, n_rows: int) -> NDArray[Any]:
    """Write sorted row numbers in the fewest bytes: four each, or a bit for every row.

    >>> packed_rows(np.array([1, 2]), 1000), packed_rows(np.array([0, 2]), 8)
    (array([1, 2], dtype=uint32), array([160], dtype=uint8))
    """
    if 32 * numbers.size <= n_rows:
        return numbers.astype(np.uint32)
    mask = np.zeros(n_rows, dtype=bool)
    mask[numbers] = True
    return np.packbits(mask)


def unpacked_rows(packed: NDArray[Any], n_rows: int) -> IntArray:
    """Read what :func:`packed_rows` wrote."""
    if packed.dtype == np.uint8:
        return np.flatnonzero(np.unpackbits(packed, count=n_rows))
    return packed.astype(np.int64)
