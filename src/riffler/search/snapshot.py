"""Moments of a search that it can go back to, so that a corrected answer costs the rounds since then and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riffler.ledger import Entry, Item, Ledger
from riffler.search.answers import KeptAnswers
from riffler.search.arms import Arms
from riffler.search.learner import Learner
from riffler.search.ranking import Ranking
from riffler.search.rescoring import Stage


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A search between two rounds, after the first ``n_entries`` entries and ``n_events`` events of its ledger."""

    n_entries: int
    n_events: int
    round: int
    n_control: int
    ranking: Ranking
    stage: Stage
    answers: KeptAnswers
    learner: Learner
    arms: Arms


def newest_common(kept: Sequence[Snapshot], own: Ledger, other: Ledger) -> Snapshot | None:
    """Return the newest snapshot of a search up to which another ledger tells the same as its own; None without one."""
    entries = list(other)
    n_same = next(
        (at for at, (a, b) in enumerate(zip(own, entries, strict=False)) if _told(a) != _told(b)),
        min(len(own), len(entries)),
    )
    for one in sorted(kept, key=lambda one: -one.n_entries):
        later = [event.round for event in other.events[one.n_events :]]
        later += [entry.round for entry in entries[one.n_entries : one.n_entries + 1]]
        if (
            one.n_entries <= n_same
            and other.events[: one.n_events] == own.events[: one.n_events]
            and all(number >= one.round for number in later)  # else its last round has become another
        ):
            return one
    return None


def worth_keeping(number: int, newest: int) -> bool:
    """Tell whether a snapshot shall still be kept when the ``newest`` is taken; both are counted from 1.

    Multiples of 4^j are kept until 2 * 4^j have followed: few in all, and between them none is more than five times as
    far back as what is looked for. What lies before all of them takes a replay.

    >>> [number for number in range(1, 501) if worth_keeping(number, 500)]
    [256, 384, 448, 480, 496, 499, 500]
    """
    spacing = 1
    while number % (4 * spacing) == 0:
        spacing *= 4
    return newest - number < 2 * spacing


def _told(entry: Entry) -> tuple[Item, int, str, int]:
    return entry.item, entry.round, entry.origin, entry.answer
