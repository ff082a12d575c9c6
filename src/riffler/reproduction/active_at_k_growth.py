"""How many labels are bought as the rows, and as k, grow; beside the k log n that the authors hope to prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riffler.reproduction.active_at_k_cases import (
    SCHEMES,
    Case,
    Feed,
    Results,
    Way,
    labels,
    labels_below,
    with_all_schemes,
)
from riffler.reproduction.slopes import log_slope


@dataclass(frozen=True, slots=True)
class Growth:
    """One thing that grows, n or k, while the other stays; nothing is held out, so that n counts what arrives."""

    title: str
    what: str  # "n" or "k"
    feed: Feed
    n: tuple[int, ...]
    k: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The values of what grows."""
        return self.n if self.what == "n" else self.k

    @property
    def hoped_for(self) -> list[float]:
        """k log n at each size."""
        return [k * float(np.log(n)) for n in self.n for k in self.k]

    def cases(self, scheme: str) -> list[Case]:
        """Give the cases of a scheme, size by size."""
        return [Case(self._feed(n), Way(scheme), k) for n in self.n for k in self.k]

    def all_cases(self) -> list[Case]:
        """Give the cases of all schemes."""
        return [case for n in self.n for k in self.k for case in with_all_schemes(self._feed(n), k)]

    def _feed(self, n: int) -> Feed:
        return replace(self.feed, n_rows=n, held_out=0.0)


@dataclass(frozen=True, slots=True)
class Exponents:
    """Growth of a scheme on log axes: slope and standard error of all labels, and of those below the top k."""

    growth: Growth
    scheme: str
    in_all: tuple[float, float]
    below: tuple[float, float]
    hoped_for: float


def exponents(studies: Sequence[Growth], results: Results) -> list[Exponents]:
    """Fit the slopes to the means over the seeds."""
    found = []
    for study in studies:
        hoped_for = log_slope(study.sizes, study.hoped_for)[0]
        for scheme in SCHEMES:
            runs = [results[case] for case in study.cases(scheme)]
            in_all = log_slope(study.sizes, [float(np.mean(labels(those))) for those in runs])
            # Half a label keeps a scheme that needs none below the top on the log axis.
            below = log_slope(study.sizes, [max(0.5, float(np.mean(labels_below(those)))) for those in runs])
            found.append(Exponents(study, scheme, in_all, below, hoped_for))
    return found
