"""Count words and pairs of neighbouring words, and write weighted sparse rows of them.

Texts are runs of word numbers: text t is ``codes[bounds[t]:bounds[t + 1]]``, -1 is a word that is not known. A pair is
the key ``first << 32 | second``. ``singles`` and ``pairs`` hold the column of the word at each place and of the pair
that begins there, -1 for none; ``pairs`` is empty where pairs do not count.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import math

import numpy as np
from numba import njit

from riffler._fast.draws import mixed_bits

FREE = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, inline="always")
def _key(first, second):
    return np.uint64(first) << np.uint64(32) | np.uint64(second)


@njit(cache=True, inline="always")
def _top_bits(x, n_bits):
    """The highest bits of x; two shifts, since one by 64 has no defined result."""
    return np.int64((x >> np.uint64(1)) >> np.uint64(63 - n_bits))


@njit(cache=True, inline="always")
def _slot_of(key, keys, slot):
    """Where a key stands in an open-addressing table, or the free slot where it belongs."""
    while keys[slot] != key and keys[slot] != FREE:
        slot = (slot + 1) & (keys.shape[0] - 1)
    return slot


@njit(cache=True)
def count_texts(bounds, singles, pairs, first_text, last_seen, n_texts):
    """Add to ``n_texts`` the number of texts that each column is in; ``last_seen`` remembers the last of them."""
    for text in range(bounds.shape[0] - 1):
        here = first_text + text
        for p in range(bounds[text], bounds[text + 1]):
            column = singles[p]
            if column >= 0 and last_seen[column] != here:
                last_seen[column] = here
                n_texts[column] += 1
            if pairs.shape[0] > 0:
                column = pairs[p]
                if column >= 0 and last_seen[column] != here:
                    last_seen[column] = here
                    n_texts[column] += 1


@njit(cache=True)
def count_pairs(codes, bounds, usable, part, part_bits, slot_bits, keys, n_texts, n_times, last_seen):
    """Count the pairs of usable words that fall into one part of all pairs, in a table of 2^slot_bits slots.

    The highest bits of the mixed key say the part, the next ones the slot.
    """
    for text in range(bounds.shape[0] - 1):
        for p in range(bounds[text], bounds[text + 1] - 1):
            if not (usable[codes[p]] and usable[codes[p + 1]]):
                continue
            key = _key(codes[p], codes[p + 1])
            mixed = mixed_bits(0, 0, key)
            if _top_bits(mixed, part_bits) != part:
                continue
            slot = _slot_of(key, keys, _top_bits(mixed << np.uint64(part_bits), slot_bits))
            if keys[slot] == FREE:
                keys[slot] = key
                last_seen[slot] = -1
                n_texts[slot] = 0
                n_times[slot] = 0
            n_times[slot] += 1
            if last_seen[slot] != text:
                last_seen[slot] = text
                n_texts[slot] += 1


@njit(cache=True)
def fill_pairs(pairs, slot_bits, keys, numbers):
    """Put pairs 0, 1, ... into an empty table of 2^slot_bits slots, more than there are pairs."""
    for i in range(pairs.shape[0]):
        slot = _slot_of(pairs[i], keys, _top_bits(mixed_bits(0, 0, pairs[i]), slot_bits))
        keys[slot] = pairs[i]
        numbers[slot] = i


@njit(cache=True)
def find_pairs(codes, bounds, slot_bits, keys, numbers, offset, out):
    """Write ``offset`` + the number of the pair that begins at each place, -1 where there is no known one."""
    for text in range(bounds.shape[0] - 1):
        for p in range(bounds[text], bounds[text + 1]):
            out[p] = -1
            if p + 1 < bounds[text + 1] and codes[p] >= 0 and codes[p + 1] >= 0:
                key = _key(codes[p], codes[p + 1])
                slot = _slot_of(key, keys, _top_bits(mixed_bits(0, 0, key), slot_bits))
                if keys[slot] == key:
                    out[p] = offset + numbers[slot]


@njit(cache=True, nogil=True)
def write_rows(bounds, singles, pairs, idf, sublinear, unit_length, counts, indices, values, row_ends, at):
    """Append one sparse row a text, columns rising, from place ``at`` on; return the place after the last entry.

    An entry is (1 + log count, or the count) * idf; rows are divided by their length on request. ``counts`` has a zero
    for each column before and after.
    """
    for text in range(bounds.shape[0] - 1):
        start = at
        for p in range(bounds[text], bounds[text + 1]):
            column = singles[p]
            if column >= 0:
                if counts[column] == 0:
                    indices[at] = column
                    at += 1
                counts[column] += 1
            if pairs.shape[0] > 0:
                column = pairs[p]
                if column >= 0:
                    if counts[column] == 0:
                        indices[at] = column
                        at += 1
                    counts[column] += 1
        indices[start:at].sort()
        square = 0.0
        for e in range(start, at):
            column = indices[e]
            count = counts[column]
            counts[column] = 0
            weight = float(count) * idf[column]
            if sublinear:
                weight = idf[column] if count == 1 else (1.0 + math.log(count)) * idf[column]
            values[e] = weight
            square += weight * weight
        if unit_length and square > 0.0:
            scale = 1.0 / math.sqrt(square)
            for e in range(start, at):
                values[e] *= scale
        row_ends[text] = at
    return at
