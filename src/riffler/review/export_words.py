"""What the ledger says of each document in the end: its verdict, note and tags, who said it and when."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from riffler.review.notes import held_notes, held_tags
from riffler.review.schema import LedgerRow, Reviewer
from riffler.review.screening import IS_BLIND
from riffler.review.standing import first_and_last, standing_answers


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
    here = (LedgerRow.review_id == review_id) & ~IS_BLIND  # who still has to read a document may see this
    for number, note in session.execute(held_notes(here)):
        if note:
            words[number] = replace(words.get(number, LastWord()), note=note)
    for number, tag in session.execute(held_tags(here)):
        word = words.get(number, LastWord())
        words[number] = replace(word, tags=(*word.tags, tag))
    return words


def _answers(session: Session, review_id: int) -> dict[int, LastWord]:
    ends = first_and_last(standing_answers(review_id))
    first, last = aliased(LedgerRow), aliased(LedgerRow)
    found = session.execute(
        select(last.document_id, last.verdict, first.origin, last.answered_at, last.seconds, Reviewer.name)
        .join_from(ends, first, first.id == ends.c.first)
        .join(last, last.id == ends.c.last)
        .join(Reviewer, Reviewer.id == last.reviewer_id)
    )
    return {
        number: LastWord(verdict, origin, moment, seconds, person)
        for number, verdict, origin, moment, seconds, person in found
    }
