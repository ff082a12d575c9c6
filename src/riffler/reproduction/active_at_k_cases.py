"""What is run: a way of buying labels, a way in which rows arrive, and k. Records that can be keys of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riffler.evaluation.active_runs import ActiveRun
from riffler.learners import ACTIVE_RANKERS, active_ranker_from_name
from riffler.learners.active import ActiveRanker
from riffler.learners.active_at_k import PaperReadings
from riffler.samplers import Exponential, Inverse, Sampler, sampler_from
from riffler.scorers import Kernel, Rbf

SCHEMES = ("sequential", "exponential", "inverse", "uniform")
"""The paper's algorithms 1 to 4, in its order."""

PERCEPTRON, TOP_K = "active-perceptron-at-k", "active-top-k"


@dataclass(frozen=True, slots=True)
class Way:
    """One way of buying labels, every choice made; ``reach`` is the temperature, or b of the inverse."""

    sampler: str = "exponential"
    reach: float | None = None
    n_queries: str = "mistakes"
    balance: str = "mean"
    kernel: str = "linear"
    gamma: float | None = None
    scaling: str = "standard"
    readings: PaperReadings = PaperReadings()  # noqa: RUF009 - frozen
    method: str = PERCEPTRON

    @property
    def name(self) -> str:
        """What it is called in tables and charts: by its sampler, if it is the paper's learner."""
        return self.sampler if self.method == PERCEPTRON else self.method

    def learner(self, k: int, seed: int) -> ActiveRanker:
        """Build the learner; settings that it does not have are left out."""
        params: dict[str, Any] = {"k": k, "kernel": self._kernel(), "scaling": self.scaling, "random_state": seed}
        if self.method == PERCEPTRON:
            params |= {"sampler": self._sampler(), "n_queries": self.n_queries}
            params |= {"balance": self.balance, "readings": self.readings}
        ranker: ActiveRanker = active_ranker_from_name(self.method, **params)
        return ranker

    def _sampler(self) -> Sampler:
        if self.reach is None:
            return sampler_from(self.sampler)
        return {"exponential": Exponential, "inverse": Inverse}[self.sampler](self.reach)

    def _kernel(self) -> str | Kernel:
        return self.kernel if self.gamma is None else Rbf(self.gamma)


@dataclass(frozen=True, slots=True)
class Feed:
    """How rows arrive.

    data : name of the problem
    share : of positives, to which they are thinned; None leaves them as they are
    n_rows : size of a random sample of the rows; None takes all
    order : one of ``riffler.reproduction.active_at_k_feeds.ORDERS``
    flipped : share of the answers that are wrong
    log_base : of the logarithm of the number of rows that says how many batches there are
    held_out : share of the rows that never arrive
    """

    data: str
    share: float | None = None
    n_rows: int | None = None
    order: str = "random"
    flipped: float = 0.0
    log_base: float = math.e
    held_out: float = 0.1


@dataclass(frozen=True, slots=True)
class Case:
    """A cell of a table: what it holds are the runs of some seeds."""

    feed: Feed
    way: Way
    k: int


Results = Mapping[Case, Sequence[ActiveRun]]
"""The runs of each case, in the order of their seeds."""


def with_all_schemes(feed: Feed, k: int, way: Way | None = None) -> list[Case]:
    """Give the case of each of the paper's four schemes.

    >>> [case.way.name for case in with_all_schemes(Feed("cod-rna"), 50)]
    ['sequential', 'exponential', 'inverse', 'uniform']
    """
    return [Case(feed, replace(way or Way(), sampler=scheme), k) for scheme in SCHEMES]


def with_our_own(feed: Feed, k: int, kernel: str) -> list[Case]:
    """Give the case of our own learner, where this installation has one."""
    return [Case(feed, Way("", kernel=kernel, method=TOP_K), k)] if TOP_K in ACTIVE_RANKERS else []


def precisions(runs: Sequence[ActiveRun]) -> list[float]:
    """Mean precision over the batches from the second on, run by run."""
    return [run.mean_precision for run in runs]


def held_out(runs: Sequence[ActiveRun]) -> list[float]:
    """Precision of the last state on the held-out rows, run by run."""
    return [run.held_out_precision for run in runs]


def labels(runs: Sequence[ActiveRun]) -> list[float]:
    """All labels bought, run by run."""
    return [float(run.n_labels) for run in runs]


def labels_below(runs: Sequence[ActiveRun]) -> list[float]:
    """Labels bought of rows below the top k, run by run."""
    return [float(run.n_asked_below[-1]) for run in runs]


def unsteadiness(runs: Sequence[ActiveRun]) -> list[float]:
    """Standard deviation of the precision over the batches from the second on, run by run."""
    return [float(np.std(run.precision[1:])) for run in runs]


def paired(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Mean of the differences over the seeds, and its 95 % interval (Student's t).

    >>> [round(value, 2) for value in paired([1.0, 2.0, 3.0], [0.0, 1.0, 1.0])]
    [1.33, -0.1, 2.77]
    """
    from scipy.stats import t

    gains = np.asarray(one) - np.asarray(other)
    mean = float(gains.mean())
    if len(gains) < 2:
        return mean, mean, mean
    half = float(t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / math.sqrt(len(gains)))
    return mean, mean - half, mean + half
