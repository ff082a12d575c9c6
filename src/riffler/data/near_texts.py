"""Pairs of nearly equal texts without comparing all with all: least hashes in bands, then the exact similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.records import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

RUN = 3
"""Words in a run; texts are compared by their sets of runs."""
N_HASHES = 120
MISS = 1e-4
"""The probability that a pair at the threshold is no candidate is at most this."""
BLOCK = 4096


def band_width(threshold: float) -> int:
    """Hashes in a band: as many as allow a pair of Jaccard similarity ``threshold`` to be missed with ``MISS`` at most.

    A pair of similarity s agrees in a band of r hashes with probability s^r, and in none of N/r bands with
    (1 - s^r)^(N/r). Wide bands have fewer false candidates.

    >>> band_width(0.9), band_width(0.5)
    (6, 2)
    """
    widths = [width for width in range(1, N_HASHES + 1) if N_HASHES % width == 0]
    return max(width for width in widths if width == 1 or (1 - threshold**width) ** (N_HASHES // width) <= MISS)


class Signatures:
    """The least hashes of each text, one 32-bit number for each of ``N_HASHES`` hash functions."""

    def __init__(self, n_texts: int, threshold: float) -> None:
        self.width = band_width(threshold)
        self._least = np.empty((n_texts, N_HASHES), dtype=np.uint32)
        self._seeds = np.random.default_rng(0).integers(0, 2**32, N_HASHES, dtype=np.uint32)

    def add(self, start: int, texts: pl.Series) -> None:
        """Set the signatures of the texts from row ``start`` on."""
        from riffler._fast.minhash import least_hashes

        hashes, places = shingle_sets_of(texts)
        least_hashes(hashes, places, self._seeds, self._least[start : start + len(texts)])

    def keys(self, band: int, rows: IntArray) -> NDArray[np.uint64]:
        """One key a row, equal where all hashes of the band are."""
        from riffler._fast.minhash import band_keys

        keys = np.empty(len(rows), dtype=np.uint64)
        band_keys(self._least[rows, band * self.width : (band + 1) * self.width], 0, self.width, keys)
        return keys

    @property
    def n_bands(self) -> int:
        """How many bands there are."""
        return N_HASHES // self.width


def near_pairs(
    signatures: Signatures, rows: IntArray, texts_of: Callable[[IntArray], pl.Series], threshold: float
) -> tuple[IntArray, FloatArray]:
    """Pairs among ``rows`` whose similarity is at least the threshold, enough to hold each group together.

    ``texts_of`` gives the comparable texts of rows: they are read again for the candidates alone, so that the sets of
    all texts need not be kept.
    """
    from riffler._fast.minhash import join_equal_keys

    rows = rows[_has_company(signatures, rows)]
    hashes, places = _sets_of_rows(rows, texts_of)
    parents = np.arange(len(rows))
    links = np.empty((len(rows), 2), dtype=np.int64)
    similarities = np.empty(len(rows))
    n_links = 0
    for band in range(signatures.n_bands):
        keys = signatures.keys(band, rows)
        order = np.argsort(keys, kind="stable")
        n_links = join_equal_keys(order, keys, hashes, places, threshold, parents, links, similarities, n_links)
    return rows[links[:n_links]], similarities[:n_links]


def shingle_sets_of(texts: pl.Series) -> tuple[NDArray[np.uint64], IntArray]:
    """The set of word runs of each text, as sorted hashes and where each text's begin."""
    from riffler._fast.minhash import shingle_sets

    data = np.frombuffer("".join(texts).encode("utf-8"), dtype=np.uint8)
    starts = np.concatenate([[0], np.cumsum(texts.str.len_bytes().to_numpy(), dtype=np.int64)])
    hashes = np.empty(len(data), dtype=np.uint64)
    places = np.empty(len(texts) + 1, dtype=np.int64)
    if len(texts):
        shingle_sets(data, starts, RUN, hashes, places)
    else:
        places[0] = 0
    return hashes[: places[-1]], places


def _has_company(signatures: Signatures, rows: IntArray) -> NDArray[np.bool_]:
    """Whether a row shares a key with another in any band."""
    company = np.zeros(len(rows), dtype=bool)
    for band in range(signatures.n_bands):
        keys = signatures.keys(band, rows)
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        company |= counts[inverse] > 1
    return company


def _sets_of_rows(
    rows: IntArray, texts_of: Callable[[IntArray], pl.Series]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    blocks = [shingle_sets_of(texts_of(rows[start : start + BLOCK])) for start in range(0, len(rows), BLOCK)]
    sizes = [np.diff(places) for _, places in blocks]
    places = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]) if sizes else np.zeros(1)
    hashes = np.concatenate([hashes for hashes, _ in blocks]) if blocks else np.empty(0, dtype=np.uint64)
    return hashes, places.astype(np.int64)
