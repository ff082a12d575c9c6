"""A table of words: each distinct run of bytes gets the next number, in the order of first sight.

``slots`` is an open-addressing table, its length a power of two at least twice the number of words. A slot holds the
MurmurHash3 of a word in its high and the number of the word + 1 in its low 32 bits, so that one look is enough to tell
most other words; 0 is free. Words are packed: word w is ``arena[starts[w]:starts[w + 1]]``. The caller makes room for
as many new words and bytes as there can be.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.murmur import SEED, murmur

NUMBER = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)


# Unsigned positions spare a test for negative ones at every byte.
@njit(cache=True, inline="always")
def _same(data, start, arena, at, end):
    """Whether the word ``arena[at:end]`` is the one that starts in the data."""
    while at < end:
        if data[start] != arena[at]:
            return False
        start += ONE
        at += ONE
    return True


@njit(cache=True)
def number_words(data, begins, ends, slots, arena, starts, n_words, codes):
    """Write the number of each word ``data[begins[t]:ends[t]]`` into ``codes``; return how many words are known now."""
    mask = np.uint64(slots.shape[0] - 1)
    for t in range(ends.shape[0]):
        start, length = np.uint64(begins[t]), np.uint64(ends[t] - begins[t])
        tag = np.uint64(murmur(data, begins[t], ends[t], SEED))
        slot = tag & mask
        while True:
            entry = slots[slot]
            if entry == 0:
                slots[slot] = tag << HALF | np.uint64(n_words + 1)
                at = np.uint64(starts[n_words])
                for i in range(length):
                    arena[at + i] = data[start + i]
                starts[n_words + 1] = starts[n_words] + np.int64(length)
                codes[t] = n_words
                n_words += 1
                break
            if entry >> HALF == tag:
                word = (entry & NUMBER) - ONE
                at, end = np.uint64(starts[word]), np.uint64(starts[word + ONE])
                if end - at == length and _same(data, start, arena, at, end):
                    codes[t] = word
                    break
            slot = (slot + ONE) & mask
    return n_words


@njit(cache=True)
def move_slots(old, slots):
    """Put the words of one table into an empty, larger one."""
    mask = np.uint64(slots.shape[0] - 1)
    for entry in old:
        if entry != 0:
            slot = (entry >> HALF) & mask
            while slots[slot] != 0:
                slot = (slot + ONE) & mask
            slots[slot] = entry
