"""What is ready to be shown: filled by the search, read by the page, and replaced as soon as a better one exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, delete, exists, insert, select, update
from sqlalchemy.orm import Session

from riffler.errors import AnswerConflict
from riffler.review.database import now
from riffler.review.documents import asked_ids
from riffler.review.remarks import reviewer_id
from riffler.review.schema import Document, LedgerRow, Reviewer, Suggestion
from riffler.review.schema_team import HoldRow
from riffler.review.standing import standing_about

LOOK_BACK = 100  # shown documents; of those before, what nobody answered is suggested anew
WITHDRAWN = -1  # place of a control document that waits for its turn to come again

WITHDRAWN_SECONDS = 30.0  # longer than anybody takes to take a document

_REPLACE = update(Suggestion).where(Suggestion.id == bindparam("number"), Suggestion.shown_to.is_(None))
_IS_HELD = exists().where(HoldRow.suggestion_id == Suggestion.id)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A document that the search wants shown, and why."""

    document: str
    origin: str
    round: int
    probability: float = 1.0
    score: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Queued:
    """A proposal in the queue; ``id`` goes back with the answer."""

    id: int
    document: str
    origin: str
    why: str
    score: float | None
    shown_at: str | None


def fill_queue(session: Session, review_id: int, proposals: Sequence[Proposal]) -> None:
    """Replace what waits; what was shown stays, for its answer says why it was.

    What is proposed again for the same reason keeps its number: a page may have fetched it already. For the same reason
    the others are withdrawn and not removed. People take documents from the queue meanwhile: what one of them was
    shown since it was looked at stays as it was.
    """
    number = asked_ids(session, review_id, [one.document for one in proposals])
    waiting = select(Suggestion.document_id, Suggestion.origin, Suggestion.id).where(
        Suggestion.review_id == review_id, Suggestion.shown_to.is_(None)
    )
    there = {(document, origin): found for document, origin, found in session.execute(waiting)}
    kept, new = list[dict[str, Any]](), list[dict[str, Any]]()
    for place, one in enumerate(proposals):
        values = _values(review_id, number[one.document], place, one)
        found = there.pop((number[one.document], one.origin), None)
        if found is None:
            new.append(values)
        else:
            kept.append({**values, "number": found})
    gone = update(Suggestion).where(Suggestion.id.in_(there.values()), Suggestion.place != WITHDRAWN)
    session.execute(gone.values(place=WITHDRAWN, made_at=now()).execution_options(synchronize_session=False))
    if kept:
        session.connection().execute(_REPLACE, kept)
    if new:
        session.execute(insert(Suggestion), new)


def sweep_queue(session: Session, review_id: int) -> None:
    """Remove what was withdrawn a while ago and nobody has seen or holds.

    Control documents stay: an answer that comes all the same must not pass for one of somebody who found the document,
    which would spoil the certificate.
    """
    before = (datetime.now(UTC) - timedelta(seconds=WITHDRAWN_SECONDS)).isoformat(timespec="milliseconds")
    is_old = (Suggestion.place == WITHDRAWN, Suggestion.made_at < before, Suggestion.origin != "control")
    unseen = (Suggestion.review_id == review_id, Suggestion.shown_to.is_(None), Suggestion.shown_at.is_(None))
    gone = delete(Suggestion).where(*unseen, *is_old, ~_IS_HELD)
    session.execute(gone.execution_options(synchronize_session=False))


def _values(review_id: int, document_id: int, place: int, one: Proposal) -> dict[str, Any]:
    return {
        "review_id": review_id,
        "document_id": document_id,
        "place": place,
        "origin": one.origin,
        "round": one.round,
        "probability": one.probability,
        "score": one.score,
        "why": one.why,
        "made_at": now(),
    }


def upcoming(session: Session, review_id: int, reviewer: str, n: int) -> list[Queued]:
    """Return what is to be shown next, at most n: first what the reviewer was shown and has not answered.

    So a page that is loaded again shows the same document.
    """
    answered = standing_about(LedgerRow.document_id == Suggestion.document_id)
    waiting = (
        select(Suggestion, Document.name)
        .join(Document, Document.id == Suggestion.document_id)
        .where(Suggestion.review_id == review_id, ~answered.exists())
    )
    lately = (
        select(Suggestion.id)
        .join(Reviewer, Reviewer.id == Suggestion.shown_to)
        .where(Suggestion.review_id == review_id, Reviewer.name == reviewer)
        .order_by(Suggestion.shown_at.desc())
        .limit(LOOK_BACK)
    )
    shown = waiting.where(Suggestion.id.in_(lately)).order_by(Suggestion.shown_at.desc(), Suggestion.id.desc())
    fresh = waiting.where(Suggestion.shown_to.is_(None), Suggestion.place != WITHDRAWN).order_by(Suggestion.place)
    found: dict[str, Queued] = {}
    for wanted in (shown.limit(n), fresh.limit(2 * n)):  # of the fresh ones n may be on the screen already
        for row, name in session.execute(wanted):
            found.setdefault(name, Queued(row.id, name, row.origin, row.why, row.score, row.shown_at))
    return list(found.values())[:n]


def mark_shown(session: Session, review_id: int, reviewer: str, suggestion_id: int) -> None:
    """Write down when a suggestion was first shown, and to whom."""
    row = session.get(Suggestion, suggestion_id)
    if row is None or row.review_id != review_id or _is_replaced(row):
        raise AnswerConflict(f"Suggestion {suggestion_id} has been replaced by a better one. Ask for the next again.")
    if row.shown_to is None:
        row.shown_at, row.shown_to = row.shown_at or now(), reviewer_id(session, reviewer)


def _is_replaced(row: Suggestion) -> bool:
    return row.place == WITHDRAWN and row.shown_at is None and row.origin != "control"


def suggestion_of(session: Session, review_id: int, document: str) -> Queued | None:
    """Return the last suggestion that a document was shown by, if there was one."""
    number = asked_ids(session, review_id, [document])[document]
    shown = select(Suggestion).where(Suggestion.document_id == number, Suggestion.shown_at.is_not(None))
    row = session.scalars(shown.order_by(Suggestion.id.desc()).limit(1)).first()
    return None if row is None else Queued(row.id, document, row.origin, row.why, row.score, row.shown_at)
