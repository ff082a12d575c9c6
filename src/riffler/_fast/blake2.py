"""BLAKE2b with a key and 8 bytes of digest (RFC 7693) of many short texts: what hashlib gives, without a call for each.

Texts are packed: text i is ``data[ends[i - 1]:ends[i]]``. The loops read bytes, so the order of bytes of the machine
makes no difference.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 128
N_ROUNDS = 12

IV = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    dtype=np.uint64,
)  # fmt: skip

SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    dtype=np.uint64,  # unsigned places spare a test for negative ones
)


@njit(cache=True, inline="always")
def _turned(x, n_bits):
    return (x >> np.uint64(n_bits)) | (x << np.uint64(64 - n_bits))


@njit(cache=True, inline="always")
def _mix(a, b, c, d, x, y):
    a = a + b + x
    d = _turned(d ^ a, 32)
    c = c + d
    b = _turned(b ^ c, 24)
    a = a + b + y
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 63)
    return a, b, c, d


@njit(cache=True, nogil=True)
def _compress(h, m, n_bytes, is_last):
    """Take one block of sixteen words into the state; ``n_bytes`` counts everything so far."""
    v0, v1, v2, v3, v4, v5, v6, v7 = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    v8, v9, v10, v11, v12, v13, v14, v15 = IV[0], IV[1], IV[2], IV[3], IV[4], IV[5], IV[6], IV[7]
    v12 ^= np.uint64(n_bytes)
    if is_last:
        v14 = ~v14
    for number in range(N_ROUNDS):
        s = SIGMA[number]
        v0, v4, v8, v12 = _mix(v0, v4, v8, v12, m[s[0]], m[s[1]])
        v1, v5, v9, v13 = _mix(v1, v5, v9, v13, m[s[2]], m[s[3]])
        v2, v6, v10, v14 = _mix(v2, v6, v10, v14, m[s[4]], m[s[5]])
        v3, v7, v11, v15 = _mix(v3, v7, v11, v15, m[s[6]], m[s[7]])
        v0, v5, v10, v15 = _mix(v0, v5, v10, v15, m[s[8]], m[s[9]])
        v1, v6, v11, v12 = _mix(v1, v6, v11, v12, m[s[10]], m[s[11]])
        v2, v7, v8, v13 = _mix(v2, v7, v8, v13, m[s[12]], m[s[13]])
        v3, v4, v9, v14 = _mix(v3, v4, v9, v14, m[s[14]], m[s[15]])
    h[0] ^= v0 ^ v8
    h[1] ^= v1 ^ v9
    h[2] ^= v2 ^ v10
    h[3] ^= v3 ^ v11
    h[4] ^= v4 ^ v12
    h[5] ^= v5 ^ v13
    h[6] ^= v6 ^ v14
    h[7] ^= v7 ^ v15


@njit(cache=True, nogil=True)
def _words(data, start, stop, m):
    """Read at most a block of bytes as little-endian words, the rest 0."""
    m[:] = np.uint64(0)
    for at in range(start, stop):
        place = at - start
        m[place >> 3] |= np.uint64(data[at]) << np.uint64(8 * (place & 7))


@njit(cache=True, nogil=True)
def keyed_digests(data, ends, key, out):
    """Write the digest of each text under a key of 1 to 64 bytes, read as a big-endian number."""
    h, first, m = np.empty(8, np.uint64), np.empty(8, np.uint64), np.empty(16, np.uint64)
    first[:] = IV
    first[0] ^= np.uint64(0x01010008) ^ np.uint64(key.shape[0] << 8)
    _words(key, 0, key.shape[0], m)
    bare = first.copy()
    _compress(bare, m, BLOCK, True)  # of a text without a byte the key is the last block
    _compress(first, m, BLOCK, False)
    start = 0
    for i in range(ends.shape[0]):
        stop = ends[i]
        h[:] = bare if start == stop else first
        at = start
        while at < stop:
            end = min(at + BLOCK, stop)
            _words(data, at, end, m)
            _compress(h, m, BLOCK + end - start, end == stop)
            at = end
        word, number = h[0], np.uint64(0)
        for _ in range(8):
            number = (number << np.uint64(8)) | (word & np.uint64(255))
            word >>= np.uint64(8)
        out[i] = number
        start = stop
