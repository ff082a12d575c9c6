"""MurmurHash3 (x86, 32 bits) over UTF-8 bytes: hashes that may be written to disk, the same on every machine.

Words are packed: word w is ``data[starts[w]:ends[w]]``. The loops read bytes, so the order of bytes of the machine
makes no difference.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

SEED = 0  # part of the format of everything hashed: never changed
SPACE = 32

C1 = np.uint32(0xCC9E2D51)
C2 = np.uint32(0x1B873593)


@njit(cache=True, inline="always")
def _rotated(x, n_bits):
    return np.uint32((x << np.uint32(n_bits)) | (x >> np.uint32(32 - n_bits)))


@njit(cache=True, inline="always")
def _scrambled(k):
    return np.uint32(_rotated(np.uint32(k * C1), 15) * C2)


@njit(cache=True, nogil=True)
def murmur(data, start, stop, seed):
    """Hash of the bytes ``data[start:stop]``, an unsigned number of 32 bits."""
    h = np.uint32(seed)
    n_whole = (stop - start) // 4
    for block in range(n_whole):
        p = np.uint64(start + 4 * block)  # unsigned positions spare a test for negative ones
        k = np.uint32(data[p])
        k |= np.uint32(data[p + np.uint64(1)]) << np.uint32(8)
        k |= np.uint32(data[p + np.uint64(2)]) << np.uint32(16)
        k |= np.uint32(data[p + np.uint64(3)]) << np.uint32(24)
        h = np.uint32(_rotated(np.uint32(h ^ _scrambled(k)), 13) * np.uint32(5) + np.uint32(0xE6546B64))
    tail = np.uint32(0)
    for i in range(stop - 1, start + 4 * n_whole - 1, -1):
        tail = np.uint32((tail << np.uint32(8)) | np.uint32(data[i]))
    h = np.uint32(h ^ _scrambled(tail))
    h = np.uint32(h ^ np.uint32(stop - start))
    h = np.uint32(np.uint32(h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ (h >> np.uint32(16)))


@njit(cache=True, nogil=True)
def hash_words(data, starts, ends, mask, out):
    """Write the hash of each word, cut to the bits of ``mask``, into ``out``."""
    for w in range(starts.shape[0]):
        out[w] = murmur(data, starts[w], ends[w], SEED) & mask


@njit(cache=True, nogil=True)
def hash_pairs(data, starts, ends, codes, bounds, mask, out):
    """Write the hash of "word next_word" at each place of each text into ``out``, -1 at the last word of a text."""
    longest = 0
    for w in range(starts.shape[0]):
        longest = max(longest, ends[w] - starts[w])
    joined = np.empty(2 * longest + 1, np.uint8)
    for text in range(bounds.shape[0] - 1):
        for p in range(bounds[text], bounds[text + 1]):
            if p + 1 == bounds[text + 1]:
                out[p] = -1
                continue
            length = _copy_word(data, starts[codes[p]], ends[codes[p]], joined, 0)
            joined[length] = SPACE
            length = _copy_word(data, starts[codes[p + 1]], ends[codes[p + 1]], joined, length + 1)
            out[p] = murmur(joined, 0, length, SEED) & mask


@njit(cache=True, inline="always")
def _copy_word(data, start, end, out, at):
    for p in range(start, end):
        out[at] = data[p]
        at += 1
    return at
