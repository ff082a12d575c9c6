"""Who reads what just now: a document that somebody holds is given to nobody else, unless several shall read it.

A hold ends with an answer, when its holder leaves, or when nothing was heard of the holder for ten minutes; then the
document goes back to the queue. Time is told by the clock of the database, which all servers share. One that was set
back makes nobody wait for long: a hold of the future counts as one that ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, exists, func, select, update
from sqlalchemy.orm import Session

from riffler.errors import AnswerConflict
from riffler.review.database import clock_column, lock_review, n_inserted, now
from riffler.review.queue import Queued
from riffler.review.schema import Document, LedgerRow, Suggestion
from riffler.review.schema_team import HoldRow, ScreeningRow
from riffler.review.screening import OPINION_STANDS, opinion_of
from riffler.review.standing import STANDS

HOLD_SECONDS = 600.0
"""Who was not heard of for so long has left."""

RENEWED_EVERY = 30.0
TRIES = 20  # to take what others take at the same moment

_IS_ANSWERED = exists().where(LedgerRow.document_id == Suggestion.document_id, STANDS)
_IS_HELD = exists().where(HoldRow.document_id == Suggestion.document_id)
_IS_SCREENED = exists().where(ScreeningRow.document_id == Suggestion.document_id)
_WAITS = (Suggestion.shown_to.is_(None), Suggestion.place >= 0, ~_IS_ANSWERED, ~_IS_SCREENED)
"""Of a suggestion: it may be given to somebody, unless somebody holds its document."""

_IS_OVER = exists().where(LedgerRow.document_id == HoldRow.document_id, STANDS) | exists().where(
    ScreeningRow.document_id == HoldRow.document_id, ScreeningRow.state != "waiting"
)
"""Of a hold: others have answered meanwhile, such as after it ran out."""

UNSEEN = {"synchronize_session": False}  # no object of the session is of these rows


@dataclass(frozen=True, slots=True)
class Queue:
    """What is ready to be given out, and what is not any more.

    n_waiting : documents that nobody has
    n_ahead : documents that are held for later, and may still be exchanged for better ones
    n_in_hand : documents that are being read, or were read by some and wait for others
    is_read_from : somebody is there
    """

    n_waiting: int
    n_ahead: int
    n_in_hand: int
    is_read_from: bool


@dataclass(frozen=True, slots=True)
class _Held:
    """A hold: whether its document is on a screen, when its holder was last heard of, and whether others answered."""

    is_shown: bool
    renewed_at: float
    is_over: bool


def take_documents(session: Session, review_id: int, person: int, n: int, at: float) -> list[Queued]:
    """Return what somebody is to read next, at most n, and hold it for them from this moment on.

    First what is on their screen, so that a page that is loaded again shows the same document; then what waits for one
    more reader; then what the search proposes. What they held and have not seen is exchanged where there is better.

    Many may do so at once, each for themselves: see :func:`lock_to_take`. Of two who want the same fresh document the
    second looks again.
    """
    held = _look(session, review_id, person, at)
    n_wanted = n - sum(one.is_shown and not one.is_over for one in held.values())
    half_read = _half_read(session, review_id, person, n_wanted) if n_wanted > 0 else {}
    _hold(session, review_id, person, _but(half_read, held), at)
    fresh = _take_fresh(session, review_id, person, n_wanted - len(half_read), held, at)
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
    return _held_by(session, review_id, person)[:n]


def lock_to_take(session: Session, review_id: int) -> None:
    """Wait for others where they could get in each other's way: holds have run out, or documents are half read.

    Else the keys of the holds keep two from taking the same, and nobody waits.
    """
    is_old = func.abs(HoldRow.renewed_at - clock_column(session)) > HOLD_SECONDS
    expired = exists().where(HoldRow.review_id == review_id, is_old)
    half_read = exists().where(ScreeningRow.review_id == review_id, ScreeningRow.state == "waiting")
    if session.scalar(select(expired | half_read)):
        lock_review(session, review_id)


def show_document(session: Session, review_id: int, person: int, suggestion_id: int) -> None:
    """Write down that a document which somebody holds is on their screen."""
    held = update(HoldRow).where(*_mine(review_id, person), HoldRow.suggestion_id == suggestion_id)
    shown = held.values(is_shown=True).returning(HoldRow.document_id).execution_options(**UNSEEN)
    if session.execute(shown).one_or_none() is None:
        raise AnswerConflict(f"Suggestion {suggestion_id} was given to somebody else. Ask for the next again.")
    first = update(Suggestion).where(Suggestion.id == suggestion_id, Suggestion.shown_to.is_(None))
    values = {"shown_at": func.coalesce(Suggestion.shown_at, now()), "shown_to": person}
    session.execute(first.values(values).execution_options(**UNSEEN))


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


def queue_now(session: Session, review_id: int) -> Queue:
    """Return what is ready to be given out, and what is not any more."""
    waiting = select(func.count()).where(Suggestion.review_id == review_id, *_WAITS, ~_IS_HELD).select_from(Suggestion)
    half_read = select(func.count()).select_from(ScreeningRow).where(*_unsettled(review_id))
    holds = select(func.count().filter(~HoldRow.is_shown), func.count().filter(HoldRow.is_shown), _n_recent(session))
    ahead = holds.add_columns(waiting.scalar_subquery(), half_read.scalar_subquery())
    found = session.execute(ahead.select_from(HoldRow).where(HoldRow.review_id == review_id)).one()
    n_ahead, n_read, n_recent, n_waiting, n_half_read = found
    return Queue(n_waiting, n_ahead, n_read + n_half_read, n_recent > 0)


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
    session.execute(delete(HoldRow).where(HoldRow.document_id == document_id, HoldRow.reviewer_id == person))


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
        back = (Suggestion.id.in_(numbers), ~_IS_ANSWERED)
        session.execute(update(Suggestion).where(*back).values(shown_to=None).execution_options(**UNSEEN))


def _unsettled(review_id: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return ScreeningRow.review_id == review_id, ScreeningRow.state != "settled"


def _mine(review_id: int, person: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return HoldRow.review_id == review_id, HoldRow.reviewer_id == person


def _n_held(session: Session, whose: tuple[ColumnElement[bool], ...]) -> int:
    return session.scalar(select(func.count()).select_from(HoldRow).where(*whose)) or 0


def _held_by(session: Session, review_id: int, person: int) -> list[Queued]:
    """Return what somebody holds: what was on the screen first, the rest as it stands in the queue."""
    rows = session.execute(
        select(Suggestion, Document.name)
        .join_from(HoldRow, Suggestion, Suggestion.id == HoldRow.suggestion_id)
        .join(Document, Document.id == HoldRow.document_id)
        .where(*_mine(review_id, person), ~_IS_OVER)
        .order_by(HoldRow.is_shown.desc(), case((HoldRow.is_shown, HoldRow.taken_at)), Suggestion.place, Suggestion.id)
    )
    return [Queued(row.id, name, row.origin, row.why, row.score, row.shown_at) for row, name in rows]


def _look(session: Session, review_id: int, person: int, at: float) -> dict[int, _Held]:
    """Return what somebody holds, by document; what ran out, theirs or others', is given back first."""
    is_old = func.abs(HoldRow.renewed_at - at) > HOLD_SECONDS
    rows = session.execute(
        select(HoldRow.document_id, HoldRow.reviewer_id, HoldRow.is_shown, HoldRow.renewed_at, _IS_OVER)
        .where(HoldRow.review_id == review_id)
        .where((HoldRow.reviewer_id == person) | is_old)
    ).all()
    found = {
        (document, who): _Held(is_shown, renewed_at, is_over) for document, who, is_shown, renewed_at, is_over in rows
    }
    if any(abs(one.renewed_at - at) > HOLD_SECONDS for one in found.values()):
        return_expired(session, review_id, at)
    return {
        document: one
        for (document, who), one in found.items()
        if who == person and abs(one.renewed_at - at) <= HOLD_SECONDS
    }


def _n_recent(session: Session) -> ColumnElement[int]:
    return func.count().filter(func.abs(HoldRow.renewed_at - clock_column(session)) <= HOLD_SECONDS)


def _half_read(session: Session, review_id: int, person: int, n: int) -> dict[int, int | None]:
    """Select documents that wait for one more reader, who must be another one; the first opened first."""
    here, is_same = LedgerRow.document_id == ScreeningRow.document_id, LedgerRow.reviewer_id - person == 0
    readers = select(func.count()).where(HoldRow.document_id == ScreeningRow.document_id, ~_for_later(person))
    is_mine = exists().where(here, is_same, OPINION_STANDS) | exists().where(
        HoldRow.document_id == ScreeningRow.document_id, HoldRow.reviewer_id == person, HoldRow.is_shown
    )
    rows = session.execute(
        select(ScreeningRow.document_id, ScreeningRow.suggestion_id)
        .where(ScreeningRow.review_id == review_id, ScreeningRow.state == "waiting")
        .where(ScreeningRow.first_reader_id.is_distinct_from(person))  # at once: who reads ahead has thousands of these
        .where(ScreeningRow.n_opinions + readers.scalar_subquery() < ScreeningRow.needed)
        .where(~is_mine, ~exists().where(here, STANDS))
        .order_by(ScreeningRow.opened_at, ScreeningRow.document_id)
        .limit(n)
    )
    return dict(rows.all())


def _fresh(session: Session, review_id: int, person: int, n: int) -> dict[int, int | None]:
    """Select what the search proposes and nobody reads, the first first; a document may wait there twice."""
    is_anothers = exists().where(HoldRow.document_id == Suggestion.document_id, ~_for_later(person))
    rows = session.execute(
        select(Suggestion.document_id, func.min(Suggestion.id))
        .where(Suggestion.review_id == review_id, *_WAITS, ~is_anothers)
        .group_by(Suggestion.document_id)
        .order_by(func.min(Suggestion.place), func.min(Suggestion.id))
        .limit(n)
    )
    return dict(rows.all())


def _take_fresh(
    session: Session, review_id: int, person: int, n: int, held: Mapping[int, _Held], at: float
) -> dict[int, int | None]:
    """Hold what the search proposes and nobody reads, and return it; what is held already is proposed as well."""
    if n <= 0:
        return {}
    for _ in range(TRIES):
        found = _fresh(session, review_id, person, n)
        wanted = _but(found, held)
        rows = [_values(review_id, person, document, by, at) for document, by in wanted.items()]
        if n_inserted(session, HoldRow, rows) == len(rows):
            break  # else others were quicker, and what they hold is proposed no more
    return found


def _but(found: Mapping[int, int | None], held: Mapping[int, _Held]) -> dict[int, int | None]:
    return {document: by for document, by in found.items() if document not in held}


def _for_later(person: int) -> ColumnElement[bool]:
    """Of a hold: it is somebody's own, and they have not seen its document."""
    return (HoldRow.reviewer_id == person) & ~HoldRow.is_shown


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
