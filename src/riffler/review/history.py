"""What was said, the latest first, and the notes and tags that hold."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from riffler.review.schema import Document, LedgerRow, Reviewer
from riffler.review.screening import hidden_from
from riffler.review.standing import REPLACED, STANDS


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which lines are wanted; None and "" let everything pass.

    holding : only answers that were neither undone nor corrected, or only those that were
    words : part of a title or a note
    before : number of a line; only older ones
    viewer : number of who looks, from whom is hidden what others said of a document that waits for one more reader
    """

    document: str | None = None
    reviewer: str | None = None
    kind: str | None = None
    verdict: str | None = None
    origin: str | None = None
    holding: bool | None = None
    words: str = ""
    before: int | None = None
    n: int = 50
    viewer: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One thing that was said."""

    id: int
    document: str
    title: str
    reviewer: str
    kind: str
    verdict: str | None
    origin: str | None
    undoes: int | None
    why: str
    note: str
    answered_at: str
    seconds: float | None
    holds: bool  # an answer that was neither undone nor corrected
    decided: str | None = None  # how an answer followed from the opinions of several


def read_history(session: Session, review_id: int, wanted: HistoryFilter) -> list[HistoryLine]:
    """Return the lines that pass, the latest first, at most n."""
    holds = and_(STANDS, ~REPLACED)
    found = (
        select(LedgerRow, Document.name, Document.title, Reviewer.name, holds.label("holds"))
        .join(Document, Document.id == LedgerRow.document_id)
        .join(Reviewer, Reviewer.id == LedgerRow.reviewer_id)
        .where(LedgerRow.review_id == review_id)
        .order_by(LedgerRow.id.desc())
        .limit(wanted.n)
    )
    exact = {
        Document.name: wanted.document,
        Reviewer.name: wanted.reviewer,
        LedgerRow.kind: wanted.kind,
        LedgerRow.verdict: wanted.verdict,
        LedgerRow.origin: wanted.origin,
    }
    found = found.where(*(column == value for column, value in exact.items() if value is not None))
    if wanted.holding is not None:
        found = found.where(LedgerRow.kind == "answer", holds if wanted.holding else ~holds)
    if wanted.words:
        part = wanted.words
        found = found.where(
            Document.title.icontains(part, autoescape=True) | LedgerRow.note.icontains(part, autoescape=True)
        )
    if wanted.viewer is not None:
        found = found.where(~hidden_from(wanted.viewer))
    if wanted.before is not None:
        found = found.where(LedgerRow.id < wanted.before)
    return [_line(row, name, title, who, bool(now)) for row, name, title, who, now in session.execute(found)]


def _line(row: LedgerRow, name: str, title: str, who: str, holds: bool) -> HistoryLine:
    return HistoryLine(
        id=row.id,
        document=name,
        title=title,
        reviewer=who,
        kind=row.kind,
        verdict=row.verdict,
        origin=row.origin,
        undoes=row.undoes_id,
        why=row.why,
        note=row.note,
        answered_at=row.answered_at,
        seconds=row.seconds,
        holds=holds,
        decided=row.decided,
    )
