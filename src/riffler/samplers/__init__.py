"""Which labels below the cut to ask for: one file an idea. The family's one name table is here."""

from __future__ import annotations

from collections.abc import Callable

from riffler.errors import UnknownName
from riffler.samplers.base import Below, Sampler, WeightedSampler, budgeted
from riffler.samplers.decaying import Exponential, Inverse, Uniform
from riffler.samplers.sequential import Sequential

SAMPLERS: dict[str, Callable[[], Sampler]] = {
    "exponential": Exponential,
    "inverse": Inverse,
    "sequential": Sequential,
    "uniform": Uniform,
}

__all__ = [
    "SAMPLERS",
    "Below",
    "Exponential",
    "Inverse",
    "Sampler",
    "Sequential",
    "Uniform",
    "WeightedSampler",
    "budgeted",
    "sampler_from",
]


def sampler_from(given: str | Sampler) -> Sampler:
    """Return the sampler itself, or the one that has this name."""
    if not isinstance(given, str):
        return given
    if given not in SAMPLERS:
        raise UnknownName.among("sampler", given, SAMPLERS)
    return SAMPLERS[given]()
