"""What holds now: answers that were not undone, and the last of them for each document.

The answers about a document are a stack. The first says how the document came to be asked; the last says what it is;
an undo takes the last one off.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.orm import Session, aliased

from riffler.errors import UnknownName
from riffler.ledger import IRRELEVANT, RELEVANT, UNKNOWN
from riffler.review.schema import VERDICTS, Document, LedgerRow

ANSWERS = {"relevant": RELEVANT, "irrelevant": IRRELEVANT, "maybe": UNKNOWN, "skip": UNKNOWN}
"""What each verdict is to the search: "maybe" and "skip" are unresolved, and count as relevant and missed."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is said of a document now."""

    document: str
    verdict: str
    first_id: int  # in the ledger: how it came to be asked
    last_id: int  # in the ledger: what it is
    origin: str
    asked_at: str

    @property
    def answer(self) -> int:
        """The verdict as the search knows it: 1, 0 or -1."""
        return ANSWERS[self.verdict]


def check_verdict(verdict: str) -> None:
    """Refuse a verdict that nobody knows."""
    if verdict not in VERDICTS:
        raise UnknownName.among("verdict", verdict, VERDICTS)


def standing_answers(review_id: int) -> Select[LedgerRow]:
    """Select the answers that were not undone."""
    undo = aliased(LedgerRow)
    return select(LedgerRow).where(
        LedgerRow.review_id == review_id,
        LedgerRow.kind == "answer",
        ~exists().where(undo.undoes_id == LedgerRow.id),
    )


def standings(session: Session, review_id: int, *about: ColumnElement[bool]) -> list[Standing]:
    """Return what is said of the documents that have an answer, in the order in which they were first asked.

    ``about`` are conditions on the document of an answer, where not all are wanted.
    """
    held = standing_answers(review_id).where(*about).subquery()
    ends = (
        select(held.c.document_id, func.min(held.c.id).label("first_id"), func.max(held.c.id).label("last_id"))
        .group_by(held.c.document_id)
        .subquery()
    )
    first, last = aliased(LedgerRow), aliased(LedgerRow)
    found = session.execute(
        select(Document.name, last.verdict, first.id, last.id, first.origin, first.answered_at)
        .join_from(ends, Document, Document.id == ends.c.document_id)
        .join(first, first.id == ends.c.first_id)
        .join(last, last.id == ends.c.last_id)
        .order_by(first.id)
    )
    return [
        Standing(name, verdict or "", first_id, last_id, origin or "", moment)  # answers have both: see the schema
        for name, verdict, first_id, last_id, origin, moment in found
    ]


def count_verdicts(session: Session, review_id: int) -> dict[str, int]:
    """Count the documents by what holds for them; those without an answer are "unread"."""
    held = standing_answers(review_id).subquery()
    last = select(func.max(held.c.id)).group_by(held.c.document_id)
    found = session.execute(
        select(LedgerRow.verdict, func.count()).where(LedgerRow.id.in_(last)).group_by(LedgerRow.verdict)
    )
    counts = {**dict.fromkeys(VERDICTS, 0), **{verdict or "": n for verdict, n in found}}
    asked = select(func.count(Document.id)).where(Document.review_id == review_id, Document.twin_of.is_(None))
    return {**counts, "unread": (session.scalar(asked) or 0) - sum(counts.values())}


def last_answer(session: Session, review_id: int, document_id: int) -> LedgerRow | None:
    """Return the answer that holds for a document, if it has one."""
    answers = standing_answers(review_id).where(LedgerRow.document_id == document_id)
    return session.scalars(answers.order_by(LedgerRow.id.desc()).limit(1)).first()
