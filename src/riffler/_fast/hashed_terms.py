"""Words straight to hashed columns, without a table of words: stop words are known by their hash and compared."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.murmur import SEED, murmur


@njit(cache=True, nogil=True)
def fill_stop_words(data, starts, slots):
    """Put the numbers of words, from 1 on, into an empty table of a power of two slots, more than there are words."""
    for w in range(starts.shape[0] - 1):
        slot = murmur(data, starts[w], starts[w + 1], SEED) & np.uint32(slots.shape[0] - 1)
        while slots[slot] != 0:
            slot = (slot + np.uint32(1)) & np.uint32(slots.shape[0] - 1)
        slots[slot] = w + 1


@njit(cache=True, inline="always")
def _equal(data, start, stop, other, other_start, other_stop):
    if stop - start != other_stop - other_start:
        return False
    for i in range(stop - start):  # noqa: SIM110 - a loop is what is compiled
        if data[start + i] != other[other_start + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def hash_terms(data, starts, ends, n_tokens, stop_data, stop_starts, stop_slots, mask, columns):
    """Write the column of each word that is no stop word, one behind the other, and move starts and ends likewise.

    ``n_tokens`` has the number of words of each text, before and after. Return how many words are left.
    """
    kept = 0
    token = 0
    for text in range(n_tokens.shape[0]):
        before = kept
        for _ in range(n_tokens[text]):
            start, stop = starts[token], ends[token]
            token += 1
            h = murmur(data, start, stop, SEED)
            slot = h & np.uint32(stop_slots.shape[0] - 1)
            is_stop = False
            while stop_slots[slot] != 0 and not is_stop:
                w = stop_slots[slot] - 1
                is_stop = _equal(data, start, stop, stop_data, stop_starts[w], stop_starts[w + 1])
                slot = (slot + np.uint32(1)) & np.uint32(stop_slots.shape[0] - 1)
            if not is_stop:
                starts[kept] = start
                ends[kept] = stop
                columns[kept] = h & mask
                kept += 1
        n_tokens[text] = kept - before
    return kept
