"""Random numbers keyed by (seed, round, item): the same whatever the order or the company of the items."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def mixed_bits(seed, step, item):
    """A repeatable random key for (seed, step, item): the finaliser of splitmix64."""
    x = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    # the state of an epoch holds its step as a float; a negative float has no defined unsigned value, an integer has
    x += np.uint64(np.int64(step)) * np.uint64(0xD1B54A32D192ED03) + np.uint64(item)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


@njit(cache=True)
def uniform(seed, step, item):
    """A number in [0, 1) for (seed, step, item)."""
    return float(mixed_bits(seed, step, item) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True)
def uniforms(seed, step, items, out):
    """Write a number in [0, 1) for each item into ``out``."""
    for a in range(items.shape[0]):
        out[a] = uniform(seed, step, items[a])
