"""How well a search went: what recall cost, from the answers in the order in which they were asked for.

``found`` is that order: 1 where the answer was relevant, 0 elsewhere. It may end early; what lies beyond was not read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.records import FloatArray, IntArray

RECALLS = (0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """Answers in asking order, with the size of the collection and the number of its relevant items.

    >>> Discovery(np.array([1, 0, 1]), n_items=10, n_relevant=4).recall_after(2)
    0.25
    """

    found: IntArray
    n_items: int
    n_relevant: int

    def __post_init__(self) -> None:
        n_found = int(np.sum(self.found))
        if self.n_relevant < 1:
            raise InputError("Recall needs at least one relevant item, and there is none.")
        if n_found > self.n_relevant or self.found.size > self.n_items:
            raise InputError(
                f"{self.found.size} answers with {n_found} relevant ones do not fit a collection of {self.n_items} "
                f"items with {self.n_relevant} relevant ones. Pass the counts of the whole collection."
            )

    @property
    def places(self) -> IntArray:
        """How many labels had been given when each relevant item was found, first found first; from 1."""
        places: IntArray = np.flatnonzero(self.found) + 1
        return places

    @property
    def found_all(self) -> bool:
        """Whether the run found everything relevant; it ended early where it did not."""
        return self.places.size == self.n_relevant

    def recall_after(self, n_labels: int) -> float:
        """Share of the relevant items among the first ``n_labels`` answers."""
        return float(np.sum(self.found[:n_labels])) / self.n_relevant


def discovery(answers: ArrayLike, n_items: int, n_relevant: int) -> Discovery:
    """Read answers (1, 0, or -1 for "don't know") in asking order."""
    return Discovery((np.asarray(answers) == 1).astype(np.int8), n_items, n_relevant)


def n_needed(recall: float, n_relevant: int) -> int:
    """Relevant items that make up a recall.

    >>> n_needed(0.95, 40), n_needed(0.95, 41), n_needed(0.99, 40), n_needed(1.0, 40)
    (38, 39, 40, 40)
    """
    return max(1, math.ceil(recall * n_relevant - 1e-9))


def labels_at_recall(run: Discovery, recall: float) -> int | None:
    """Labels given until a recall was reached; None where the run ended before.

    >>> run = discovery([1, 0, 1, 0, 1], n_items=10, n_relevant=4)
    >>> labels_at_recall(run, 0.5), labels_at_recall(run, 0.7), labels_at_recall(run, 1.0)
    (3, 5, None)
    """
    needed, places = n_needed(recall, run.n_relevant), run.places
    return int(places[needed - 1]) if needed <= places.size else None


def work_saved(run: Discovery, recall: float = 0.95) -> float | None:
    """WSS: share of the collection left unread at a recall, less what a random order would leave.

    (n_items - labels) / n_items - (1 - recall)

    >>> work_saved(discovery([1, 1], n_items=10, n_relevant=2))
    0.75
    """
    labels = labels_at_recall(run, recall)
    return None if labels is None else (run.n_items - labels) / run.n_items - (1.0 - recall)


def found_at_share(run: Discovery, share: float = 0.1) -> float | None:
    """RRF: recall when a share of the collection has been read; None where the run ended before with some not found.

    >>> found_at_share(discovery([1, 0, 1], n_items=20, n_relevant=2))
    0.5
    >>> found_at_share(discovery([1, 1], n_items=90, n_relevant=2)), found_at_share(discovery([1, 0], 90, 2))
    (1.0, None)
    """
    n_labels = math.floor(share * run.n_items + 1e-9)
    return None if run.found.size < n_labels and not run.found_all else run.recall_after(n_labels)


def time_to_discovery(run: Discovery) -> float | None:
    """ATD: mean number of labels given when a relevant item is found; None unless all of them were.

    >>> time_to_discovery(discovery([1, 0, 1], n_items=20, n_relevant=2))
    2.0
    """
    return float(run.places.mean()) if run.found_all else None


def without_priors(run: Discovery, n_prior: int) -> Discovery | None:
    """The same run counted from the first suggestion on; None where the priors were all that is relevant.

    Neither the labels of the priors nor what they held count, and the collection is smaller by them.
    """
    n_known = int(np.sum(run.found[:n_prior]))
    if n_known == run.n_relevant:
        return None
    return Discovery(run.found[n_prior:], run.n_items - n_prior, run.n_relevant - n_known)


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over the runs: ``mean`` and ``spread`` (standard deviation) are None unless every run has a value."""

    mean: float | None
    spread: float | None
    runs: tuple[float | None, ...]


def spread_of(values: Sequence[float | None]) -> Spread:
    """Mean and standard deviation over runs.

    >>> spread_of([1, 3]).mean, spread_of([1, 3]).spread, spread_of([1, None]).mean
    (2.0, 1.0, None)
    """
    known = [float(value) for value in values if value is not None]
    if len(known) < len(values) or not known:
        return Spread(None, None, tuple(values))
    return Spread(fmean(known), pstdev(known), tuple(values))


def recall_curve(run: Discovery, labels: IntArray) -> FloatArray:
    """Recall after each of the given numbers of labels; after its end a run stays where it was.

    >>> recall_curve(discovery([1, 0, 1], n_items=20, n_relevant=2), np.array([0, 1, 2, 3, 9])).tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    curve: FloatArray = np.searchsorted(run.places, labels, side="right") / run.n_relevant
    return curve
