"""The reviews of the search benchmark: which sets, in what order their records lie, and which two a run starts from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from riffler.data import Collection, load_collection
from riffler.errors import LabelError, UnknownName

RECALLS = (0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class ReviewSet:
    """A screening set by its name among the public data sets, or the rows of it that have a value in a column."""

    title: str
    name: str
    column: str | None = None
    value: str = ""


SETS = (
    ReviewSet("nagtegaal2019", "screening-nagtegaal2019"),
    ReviewSet("bannach-brown2019", "screening-bannach-brown2019"),
    ReviewSet("kitchenham2010", "screening-kitchenham2010"),
    ReviewSet("proton-beam", "screening-proton-beam"),
    # relevant: included in the end, not only after reading the abstract
    ReviewSet("cohen-ACEInhibitors", "cohen2006", "review", "ACEInhibitors"),
    ReviewSet("cohen-AtypicalAntipsychotics", "cohen2006", "review", "AtypicalAntipsychotics"),
    ReviewSet("cohen-CalciumChannelBlockers", "cohen2006", "review", "CalciumChannelBlockers"),
    # the five topics with most relevant records among those with at least 1,000 records
    ReviewSet("clef-CD007394", "clef-tar-2017", "topic", "CD007394"),
    ReviewSet("clef-CD010438", "clef-tar-2017", "topic", "CD010438"),
    ReviewSet("clef-CD010632", "clef-tar-2017", "topic", "CD010632"),
    ReviewSet("clef-CD009372", "clef-tar-2017", "topic", "CD009372"),
    ReviewSet("clef-CD009786", "clef-tar-2017", "topic", "CD009786"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Review:
    """One run to be made: the records in the order of its seed, their labels, the rows of its two priors."""

    title: str
    seed: int
    collection: Collection
    labels: NDArray[np.int8]
    relevant_prior: int
    irrelevant_prior: int

    @property
    def priors(self) -> tuple[int, int]:
        """Rows that are labelled before the first question: a relevant one and an irrelevant one."""
        return self.relevant_prior, self.irrelevant_prior

    @property
    def n_relevant(self) -> int:
        """How many records are relevant."""
        return int(self.labels.sum())


def sets_called(titles: Sequence[str]) -> tuple[ReviewSet, ...]:
    """The sets of the given titles, in the order of ``SETS``; all of them where none is given.

    >>> [one.value for one in sets_called(["clef-CD009786"])]
    ['CD009786']
    """
    known = {one.title: one for one in SETS}
    for title in titles:
        if title not in known:
            raise UnknownName.among("review set", title, known)
    return tuple(one for one in SETS if not titles or one.title in titles)


def review_of(one: ReviewSet, seed: int) -> Review:
    """The run of a seed on a set; every policy and every peer starts from the same two priors.

    Some files list the relevant records first. A method that leaves records of equal score (those without any text, or
    twins) in the order of the file would then profit, so each seed has an order of its own.
    """
    whole = _whole(one)
    collection = whole.take(sorted(range(whole.n_items), key=_lot(whole, seed, "order")))
    if collection.labels is None or (collection.labels < 0).any():
        raise LabelError(f"{one.title}: a run needs the label of every record, and some are not known.")
    first = sorted(_with_text(collection), key=_lot(collection, seed, "prior"))  # nobody starts from an empty record
    labels = collection.labels
    return Review(
        title=one.title,
        seed=seed,
        collection=collection,
        labels=labels,
        relevant_prior=next(row for row in first if labels[row] == 1),
        irrelevant_prior=next(row for row in first if labels[row] == 0),
    )


def labels_at_recall(answers: Sequence[int], n_relevant: int) -> dict[str, int]:
    """Labels paid until each share of all relevant records was found, ``answers`` being in asking order.

    The priors stand first in ``answers`` and count twice: as labels paid and, the relevant one, as found.

    >>> labels_at_recall([1, 0, 1, 0, 1, 1, 1], n_relevant=5)
    {'0.8': 6, '0.9': 7, '0.95': 7, '0.99': 7, '1.0': 7}
    """
    n_paid = np.flatnonzero(np.asarray(answers) == 1) + 1  # at the first, second, ... relevant record
    if len(n_paid) != n_relevant:
        raise LabelError(f"A run must go on until all {n_relevant:,} relevant records are found; {len(n_paid):,} were.")
    return {f"{recall}": int(n_paid[math.ceil(recall * n_relevant - 1e-9) - 1]) for recall in RECALLS}


@lru_cache(maxsize=len(SETS))
def _whole(one: ReviewSet) -> Collection:
    return load_collection(one.name, where=None if one.column is None else {one.column: one.value})


def _with_text(collection: Collection) -> list[int]:
    return [row for row, text in enumerate(collection.texts) if text.strip()]


def _lot(collection: Collection, seed: int, purpose: str) -> Callable[[int], bytes]:
    """A random number for each row that depends on the seed and the id alone, whatever the library versions."""
    return lambda row: sha256(f"{seed}/{purpose}/{collection.ids[row]}".encode()).digest()
