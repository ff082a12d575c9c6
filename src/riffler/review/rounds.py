"""The search's own ledger, kept beside what people said: which answers it took in together, and what it met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session, aliased

from riffler.ledger import Entry, Event, Ledger
from riffler.review.database import now
from riffler.review.schema import Document, EventRow, LedgerRow, Stratum, Taken
from riffler.review.standing import Standing, standing_answers, standings

SETTINGS_CHANGED = "settings"
FEW = 1000
_UNDONE = aliased(LedgerRow)
PRIOR_COST = 0.0  # what was known before cost nothing


@dataclass(frozen=True, slots=True)
class Revision:
    """Changes with everything that a running search cannot take in, so that it has to be rebuilt."""

    n_strata: int
    last_change: int  # in the ledger: an undo or a correction
    n_settings: int  # how often the settings were changed


def revision(session: Session, review_id: int) -> Revision:
    """Return the revision of this moment."""
    last = select(func.max(LedgerRow.id)).where(LedgerRow.review_id == review_id)
    of_answer = exists().where(_UNDONE.id == LedgerRow.undoes_id, _UNDONE.kind == "answer")  # no opinion was learned
    settings = (EventRow.review_id == review_id) & (EventRow.name == SETTINGS_CHANGED)
    parts = (
        select(func.count(Stratum.id)).where(Stratum.review_id == review_id),
        last.where(LedgerRow.undoes_id.is_not(None), of_answer),  # two questions: each has an index
        last.where(LedgerRow.origin == "correction"),
        select(func.count(EventRow.id)).where(settings),
    )
    n_strata, undo, correction, n_settings = session.execute(select(*(one.scalar_subquery() for one in parts))).one()
    return Revision(n_strata, max(undo or 0, correction or 0), n_settings)


def taken_ledger(session: Session, review_id: int) -> Ledger:
    """Return the ledger that a search is replayed from: what it took in and still holds, in its rounds.

    A corrected document stands where it was first asked, with its last answer; an undone one is left out. Rounds
    that lost all their entries are closed up.
    """
    held = {one.first_id: one for one in standings(session, review_id)}
    rows = session.scalars(select(Taken).where(Taken.review_id == review_id).order_by(Taken.round, Taken.place))
    ledger, numbers = Ledger(), list[int]()
    for number, group in groupby((row for row in rows if row.ledger_id in held), key=lambda row: row.round):
        for row in group:
            ledger.append(_entry(held[row.ledger_id], row, len(numbers)))
        numbers.append(number)
    for event in _search_events(session, review_id):
        ledger.note(replace(event, round=sum(number < event.round for number in numbers)))
    return ledger


def pending_entries(session: Session, review_id: int) -> list[Entry]:
    """Return the answers that the search has not taken in, in the order in which they came."""
    new = standing_answers(review_id).where(
        LedgerRow.origin != "correction",  # so it is the first about its document
        ~exists().where(Taken.ledger_id == LedgerRow.id),
    )
    documents = new.with_only_columns(LedgerRow.document_id).scalar_subquery()
    return [
        Entry(one.document, 0, one.origin, False, 1.0, one.answer, _cost(one.origin), one.asked_at)
        for one in standings(session, review_id, LedgerRow.document_id.in_(documents))
    ]


def record_rounds(session: Session, review_id: int, entries: Sequence[Entry], events: Iterable[Event]) -> None:
    """Write down what the search took in since the last time, and what happened beside it.

    The rounds get numbers of their own: after an undo the search counts fewer than there were.
    """
    held = {one.document: one.first_id for one in standings(session, review_id, _about(review_id, entries))}
    last = session.scalar(select(func.max(Taken.round)).where(Taken.review_id == review_id))
    base = 0 if last is None else last + 1
    numbers = sorted({entry.round for entry in entries})
    for event in events:
        at = base + sum(number < event.round for number in numbers)
        session.add(EventRow(review_id=review_id, at=now(), name=event.name, round=at, details={}))
    for place, entry in enumerate(entries):
        if entry.item in held:  # else it was undone meanwhile, and the search will be rebuilt
            session.add(
                Taken(
                    review_id=review_id,
                    ledger_id=held[str(entry.item)],
                    round=base + numbers.index(entry.round),
                    place=place,
                    origin=entry.origin,
                    probability=entry.probability,
                    cost=entry.cost,
                )
            )


def _about(review_id: int, entries: Sequence[Entry]) -> ColumnElement[bool] | None:
    """Return the condition that picks the documents of a few entries; None for many: looked for among all."""
    names = {str(entry.item) for entry in entries}
    if len(names) > FEW:
        return None
    named = select(Document.id).where(Document.review_id == review_id, Document.name.in_(names))
    return LedgerRow.document_id.in_(named)


def _entry(said: Standing, row: Taken, number: int) -> Entry:
    return Entry(said.document, number, row.origin, False, row.probability, said.answer, row.cost, said.asked_at)


def _cost(origin: str) -> float:
    return PRIOR_COST if origin == "prior" else 1.0


def _search_events(session: Session, review_id: int) -> list[Event]:
    rows = session.scalars(
        select(EventRow)
        .where(EventRow.review_id == review_id, EventRow.round.is_not(None))
        .order_by(EventRow.round, EventRow.id)
    )
    return [Event(row.round, row.name) for row in rows if row.round is not None]
