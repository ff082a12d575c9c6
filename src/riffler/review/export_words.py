"""What the ledger says of each document in the end: its verdict, note and tags, who said it and when."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from riffler.review.schema import LedgerRow, Reviewer
from riffler.review.standing import IS_NOTE, standing_answers


@dataclass(frozen=True, slots=True)
class LastWord:
    """What holds for one document; without an answer the verdict is None."""

    verdict: str | None = None
    origin: str | None = None  # how it came to be asked
    answered_at: str | None = None
    seconds: float | None = None
    reviewer: str | None = None
    note: str = ""
    tags: tuple[str, ...] = ()


def last_words(session: Session, review_id: int) -> dict[int, LastWord]:
    """Return what holds now, by the number of the document; documents of which nothing is said are left out."""
    words = _answers(session, review_id)
    for number, note in _notes(session, review_id):
        words[number] = replace(words.get(number, LastWord()), note=note)
    for number, tag in _tags(session, review_id):
        word = words.get(number, LastWord())
        words[number] = replace(word, tags=(*word.tags, tag))
    return words


def _answers(session: Session, review_id: int) -> dict[int, LastWord]:
    held = standing_answers(review_id).subquery()
    ends = (
        select(held.c.document_id, func.min(held.c.id).label("first_id"), func.max(held.c.id).label("last_id"))
        .group_by(held.c.document_id)
        .subquery()
    )
    first, last = aliased(LedgerRow), aliased(LedgerRow)
    found = session.execute(
        select(last.document_id, last.verdict, first.origin, last.answered_at, last.seconds, Reviewer.name)
        .join_from(ends, first, first.id == ends.c.first_id)
        .join(last, last.id == ends.c.last_id)
        .join(Reviewer, Reviewer.id == last.reviewer_id)
    )
    return {
        number: LastWord(verdict, origin, moment, seconds, person)
        for number, verdict, origin, moment, seconds, person in found
    }


def _notes(session: Session, review_id: int) -> list[tuple[int, str]]:
    about = (LedgerRow.review_id == review_id) & IS_NOTE
    last = select(func.max(LedgerRow.id)).where(about).group_by(LedgerRow.document_id)
    found = session.execute(select(LedgerRow.document_id, LedgerRow.note).where(LedgerRow.id.in_(last)))
    return [(number, note) for number, note in found if note]


def _tags(session: Session, review_id: int) -> list[tuple[int, str]]:
    about = (LedgerRow.review_id == review_id) & LedgerRow.kind.in_(("tag", "untag"))
    last = select(func.max(LedgerRow.id)).where(about).group_by(LedgerRow.document_id, LedgerRow.note)
    found = session.execute(
        select(LedgerRow.document_id, LedgerRow.note)
        .where(LedgerRow.id.in_(last), LedgerRow.kind == "tag")
        .order_by(LedgerRow.note)
    )
    return [(number, tag) for number, tag in found]
