"""Tables of 64-bit keys with a number each, in open addressing: 0 marks a free slot, and stands for no key."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.draws import mixed_bits
from riffler._fast.murmur import murmur

FIRST_SEED, SECOND_SEED = 0, 0x9747B28C  # part of the format of collections on disk: never changed


@njit(cache=True, nogil=True)
def hash_ids(data, starts, ends, out):
    """Write 64 bits of each id ``data[starts[i]:ends[i]]``: two murmur hashes; never 0."""
    for i in range(starts.shape[0]):
        high = np.uint64(murmur(data, starts[i], ends[i], np.uint32(FIRST_SEED)))
        low = np.uint64(murmur(data, starts[i], ends[i], np.uint32(SECOND_SEED)))
        key = high << np.uint64(32) | low
        out[i] = key if key != np.uint64(0) else np.uint64(1)


@njit(cache=True, inline="always")
def _slot(key, keys):
    slot = np.int64(mixed_bits(0, 0, key) & np.uint64(keys.shape[0] - 1))
    while keys[slot] != key and keys[slot] != np.uint64(0):
        slot = (slot + 1) & (keys.shape[0] - 1)
    return slot


@njit(cache=True, nogil=True)
def insert_new(new, first, number, keys, numbers):
    """Put keys from place ``first`` on into a table, with ``number`` + place; stop at one that is there already.

    Return its place (the number of keys if there is none) and the number it has.
    """
    for i in range(first, new.shape[0]):
        slot = _slot(new[i], keys)
        if keys[slot] == new[i]:
            return i, np.int64(numbers[slot])
        keys[slot] = new[i]
        numbers[slot] = number + i
    return new.shape[0], np.int64(-1)


@njit(cache=True, nogil=True)
def count_keys(new, keys, numbers, n_so_far):
    """Count keys in a table, and write for each how often it has come, itself included; return how many are new."""
    n_new = 0
    for i in range(new.shape[0]):
        slot = _slot(new[i], keys)
        if keys[slot] != new[i]:
            keys[slot] = new[i]
            numbers[slot] = 0
            n_new += 1
        numbers[slot] += 1
        n_so_far[i] = numbers[slot]
    return n_new


@njit(cache=True, nogil=True)
def move_keys(keys, numbers, new_keys, new_numbers):
    """Move all keys to a larger, empty table."""
    for slot in range(keys.shape[0]):
        if keys[slot] != np.uint64(0):
            to = _slot(keys[slot], new_keys)
            new_keys[to] = keys[slot]
            new_numbers[to] = numbers[slot]


@njit(cache=True, nogil=True)
def find_keys(wanted, keys, numbers, found):
    """Write the number of each key, -1 where the table does not have it."""
    for i in range(wanted.shape[0]):
        slot = _slot(wanted[i], keys)
        found[i] = np.int64(numbers[slot]) if keys[slot] == wanted[i] else -1
