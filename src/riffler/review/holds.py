"""Who reads what just now: a document that somebody holds is given to nobody else, unless several shall read it.

A hold ends with an answer, when its holder leaves, or when nothing was heard of the holder for ten minutes; then the
document goes back to the queue. Time is told by the clock of the database, which all servers share. One that was set
back makes nobody wait for long: a hold of the future counts as one that ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, exists, func, select, update
from sqlalchemy.orm import Session

from riffler.errors import AnswerConflict
from riffler.review.database import insert_new, lock_review, now
from riffler.review.hold_questions import (
    END,
    FRESH,
    HALF_READ,
    HELD,
    HELD_BY,
    HOLD_SECONDS,
    IS_ANSWERED,
    MUST_WAIT,
    QUEUE_NOW,
    SHOW,
    SHOWN_FIRST,
    UNSEEN,
)
from riffler.review.queue import Queued
from riffler.review.schema import Document, LedgerRow, Suggestion
from riffler.review.schema_team import HoldRow, ScreeningRow
from riffler.review.screening import opinion_of

RENEWED_EVERY = 30.0
TRIES = 20  # to take what others take at the same moment


@dataclass(frozen=True, slots=True)
class Queue:
    """What is ready to be given out, and what is not any more.

    n_waiting : documents that nobody has
    n_ahead : documents that are held for later, and may still be exchanged for better ones
    n_in_hand : documents that are being read, or were read by some and wait for others
    is_read_from : somebody is there
    n_members : people who may come; nobody where one reads alone
    """

    n_waiting: int
    n_ahead: int
    n_in_hand: int
    is_read_from: bool
    n_members: int


@dataclass(frozen=True, slots=True)
class _Held:
    """A hold: whether its document is on a screen, when its holder was last heard of, and whether others answered."""

    is_shown: bool
    renewed_at: float
    is_over: bool


def take_documents(
    session: Session, review_id: int, person: int, n: int, at: float, *, alone: bool = True
) -> list[Queued]:
    """Return what somebody is to read next, at most n, and hold it for them from this moment on.

    First what is on their screen, so that a page that is loaded again shows the same document; then what waits for one
    more reader; then what the search proposes. What they held and have not seen is exchanged where there is better.

    alone : :func:`lock_to_take` has waited for others. Else many may do so at once, and of two who want the same fresh
        document the second looks again.
    """
    whose = {"review": review_id, "person": person}
    if alone:
        return_expired(session, review_id, at)
    held = {row[0]: _Held(row[1], row[2], row[3]) for row in session.execute(HELD, whose)}
    n_wanted = n - sum(one.is_shown and not one.is_over for one in held.values())
    half_read = _half_read(session, whose, n_wanted) if alone else {}
    _hold(session, review_id, person, _but(half_read, held), at)
    fresh = _take_fresh(session, whose, n_wanted - len(half_read), held, at)
    given_back = [
        document
        for document, one in held.items()
        if one.is_over or not (one.is_shown or document in half_read or document in fresh)
    ]
    if given_back:
        session.execute(delete(HoldRow).where(*_mine(review_id, person), HoldRow.document_id.in_(given_back)))
    if any(abs(one.renewed_at - at) > RENEWED_EVERY for one in held.values()):  # at most so often: pages ask often
        renewed = update(HoldRow).where(*_mine(review_id, person)).values(renewed_at=at)
        session.execute(renewed.execution_options(**UNSEEN))
    return [Queued(*row) for row in session.execute(HELD_BY, whose)][:n]


def lock_to_take(session: Session, review_id: int) -> bool:
    """Wait for others where they could get in each other's way: holds have run out, or documents are half read.

    Return whether that is so. Else the keys of the holds keep two from taking the same, and nobody waits.
    """
    must_wait = bool(session.scalar(MUST_WAIT, {"review": review_id}))
    if must_wait:
        lock_review(session, review_id)
    return must_wait


def show_document(session: Session, review_id: int, person: int, suggestion_id: int) -> None:
    """Write down that a document which somebody holds is on their screen."""
    of = {"review": review_id, "person": person, "suggestion": suggestion_id, "moment": now()}
    if session.execute(SHOW, of).one_or_none() is None:
        raise AnswerConflict(f"Suggestion {suggestion_id} was given to somebody else. Ask for the next again.")
    session.execute(SHOWN_FIRST, of)


def hold_again(session: Session, review_id: int, person: int, document_id: int, at: float) -> int | None:
    """Let somebody who took an answer back hold the document again, and return how it was suggested, if it was.

    Where all the readers that it may have hold it, nobody more does.
    """
    screening = session.get(ScreeningRow, document_id)
    answer = select(LedgerRow.suggestion_id).where(LedgerRow.document_id == document_id)
    suggestion_id = session.scalar(
        answer.where(LedgerRow.suggestion_id.is_not(None)).order_by(LedgerRow.id.desc()).limit(1)
    )
    needed = 1 if screening is None else screening.needed - screening.n_opinions
    if is_holding(session, document_id, person) or opinion_of(session, document_id, person) is not None:
        return suggestion_id
    if suggestion_id is not None and _n_held(session, (HoldRow.document_id == document_id,)) < needed:
        _hold(session, review_id, person, {document_id: suggestion_id}, at, is_shown=True)
    return suggestion_id


def offer_again(session: Session, document_id: int) -> None:
    """Let a document whose answer was taken back wait where it waited before, unless somebody holds it."""
    is_held = exists().where(HoldRow.document_id == document_id)
    back = (Suggestion.document_id == document_id, ~IS_ANSWERED, ~is_held)
    session.execute(update(Suggestion).where(*back).values(shown_to=None).execution_options(**UNSEEN))


def queue_now(session: Session, review_id: int) -> Queue:
    """Return what is ready to be given out, and what is not any more."""
    n_waiting, n_ahead, n_read, n_there, n_half_read, n_members = session.execute(
        QUEUE_NOW, {"review": review_id}
    ).one()
    return Queue(n_waiting, n_ahead, n_read + n_half_read, n_there > 0, n_members)


def names_in_hand(session: Session, review_id: int) -> set[str]:
    """Return the ids of documents that are being read, or were read by some and wait for others."""
    half_read = select(ScreeningRow.document_id).where(*_unsettled(review_id))
    being_read = select(HoldRow.document_id).where(HoldRow.review_id == review_id, HoldRow.is_shown)
    return set(session.scalars(select(Document.name).where(Document.id.in_(half_read.union(being_read)))))


def n_held_by_others(session: Session, review_id: int, person: int) -> int:
    """Count the documents that others than somebody hold, and that one reader is enough for."""
    is_screened = exists().where(ScreeningRow.document_id == HoldRow.document_id)
    return _n_held(session, (HoldRow.review_id == review_id, HoldRow.reviewer_id != person, ~is_screened))


def is_read(session: Session, review_id: int, at: float) -> bool:
    """Tell whether somebody reads in a review."""
    recent = (HoldRow.review_id == review_id, func.abs(HoldRow.renewed_at - at) <= HOLD_SECONDS)
    return session.scalar(select(HoldRow.slot).where(*recent).limit(1)) is not None


def is_holding(session: Session, document_id: int, person: int) -> bool:
    """Tell whether somebody holds a document."""
    mine = select(HoldRow.slot).where(HoldRow.document_id == document_id, HoldRow.reviewer_id == person)
    return session.scalar(mine) is not None


def end_hold(session: Session, document_id: int, person: int) -> None:
    """Let go of a document whose reader has answered."""
    session.execute(END, {"document": document_id, "person": person})


def return_held(session: Session, review_id: int, person: int) -> None:
    """Give back everything that somebody holds: they leave, or were removed."""
    _return(session, and_(*_mine(review_id, person)))


def return_expired(session: Session, review_id: int, at: float) -> None:
    """Give back what is held by people of whom nothing was heard for too long."""
    _return(session, (HoldRow.review_id == review_id) & (func.abs(HoldRow.renewed_at - at) > HOLD_SECONDS))


def _return(session: Session, whose: ColumnElement[bool]) -> None:
    """End holds; what was shown and has no answer waits again, where it waited before."""
    gone = session.execute(delete(HoldRow).where(whose).returning(HoldRow.suggestion_id)).scalars().all()
    numbers = [number for number in gone if number is not None]
    if numbers:
        back = (Suggestion.id.in_(numbers), ~IS_ANSWERED)
        session.execute(update(Suggestion).where(*back).values(shown_to=None).execution_options(**UNSEEN))


def _unsettled(review_id: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return ScreeningRow.review_id == review_id, ScreeningRow.state != "settled"


def _mine(review_id: int, person: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return HoldRow.review_id == review_id, HoldRow.reviewer_id == person


def _n_held(session: Session, whose: tuple[ColumnElement[bool], ...]) -> int:
    return session.scalar(select(func.count()).select_from(HoldRow).where(*whose)) or 0


def _half_read(session: Session, whose: Mapping[str, int], n: int) -> dict[int, int | None]:
    return dict(session.execute(HALF_READ, {**whose, "most": n}).all()) if n > 0 else {}


def _take_fresh(
    session: Session, whose: Mapping[str, int], n: int, held: Mapping[int, _Held], at: float
) -> dict[int, int | None]:
    """Hold what the search proposes and nobody reads, and return it; what is held already is proposed as well."""
    if n <= 0:
        return {}
    taken = set[int]()
    for _ in range(TRIES):
        found: dict[int, int | None] = dict(session.execute(FRESH, {**whose, "most": n}).all())
        wanted = {document: by for document, by in _but(found, held).items() if document not in taken}
        rows = [_values(whose["review"], whose["person"], document, by, at) for document, by in wanted.items()]
        taken |= insert_new(session, HoldRow, rows)
        if taken >= wanted.keys():
            break  # else others were quicker, and what they hold is proposed no more
    return found


def _but(found: Mapping[int, int | None], held: Mapping[int, _Held]) -> dict[int, int | None]:
    return {document: by for document, by in found.items() if document not in held}


def _hold(
    session: Session,
    review_id: int,
    person: int,
    found: Mapping[int, int | None],
    at: float,
    *,
    is_shown: bool = False,
) -> None:
    """Let somebody hold documents, each by its suggestion, in the lowest slot that is free."""
    if not found:
        return
    taken = session.execute(select(HoldRow.document_id, HoldRow.slot).where(HoldRow.document_id.in_(found))).all()
    for document_id, suggestion_id in found.items():
        slots = {slot for other, slot in taken if other == document_id}
        slot = min(set(range(len(slots) + 1)) - slots)
        values = _values(review_id, person, document_id, suggestion_id, at) | {"slot": slot, "is_shown": is_shown}
        session.add(HoldRow(**values))
    session.flush()


def _values(review_id: int, person: int, document_id: int, suggestion_id: int | None, at: float) -> dict[str, Any]:
    return {
        "document_id": document_id,
        "slot": 0,
        "review_id": review_id,
        "reviewer_id": person,
        "suggestion_id": suggestion_id,
        "taken_at": at,
        "renewed_at": at,
        "is_shown": False,
    }
