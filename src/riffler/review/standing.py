"""What holds now: answers that were not undone, and the last of them for each document.

The answers about a document are a stack. The first says how the document came to be asked; the last says what it is;
an undo takes the last one off.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Select,
    Subquery,
    and_,
    bindparam,
    exists,
    func,
    literal,
    select,
    union,
    union_all,
)
from sqlalchemy.orm import Session, aliased

from riffler.errors import UnknownName
from riffler.ledger import IRRELEVANT, RELEVANT, UNKNOWN
from riffler.review.schema import VERDICTS, Document, LedgerRow, Stratum

ANSWERS = {"relevant": RELEVANT, "irrelevant": IRRELEVANT, "maybe": UNKNOWN, "skip": UNKNOWN}
"""What each verdict is to the search: "maybe" and "skip" are unresolved, and count as relevant and missed."""


ASKED = "asked"  # among the counts: all documents that are asked for


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


# Made once, for making them takes longer than asking the database.
_UNDO, _LATER, _UNDO_OF_LATER = aliased(LedgerRow), aliased(LedgerRow), aliased(LedgerRow)
_FIRST, _LAST = aliased(LedgerRow), aliased(LedgerRow)

NOT_UNDONE = ~exists().where(_UNDO.undoes_id == LedgerRow.id)
STANDS = and_(LedgerRow.kind == "answer", NOT_UNDONE)
"""Of a row of the ledger: it is an answer that was not undone."""

REPLACED = exists().where(
    _LATER.document_id == LedgerRow.document_id,
    _LATER.id > LedgerRow.id,
    _LATER.kind == "answer",
    ~exists().where(_UNDO_OF_LATER.undoes_id == _LATER.id),
)
"""Of an answer: a later one about the same document stands."""


def standing_answers(review_id: int) -> Select[LedgerRow]:
    """Select the answers that were not undone."""
    return select(LedgerRow).where(LedgerRow.review_id == review_id, STANDS)


def standing_about(document: ColumnElement[bool]) -> Select[LedgerRow]:
    """Select the answers about some documents that were not undone.

    A document is of one review; without a word about the review the database looks for its few answers only.
    """
    return select(LedgerRow).where(document, STANDS)


def first_and_last(answers: Select[LedgerRow]) -> Subquery:
    """Give the numbers of the ``first`` and the ``last`` answer about each document."""
    number = LedgerRow.id
    ends = answers.with_only_columns(
        LedgerRow.document_id, func.min(number).label("first"), func.max(number).label("last")
    )
    return ends.group_by(LedgerRow.document_id).subquery()


def standings(session: Session, review_id: int, about: ColumnElement[bool] | None = None) -> list[Standing]:
    """Return what is said of the documents that have an answer, in the order in which they were first asked.

    ``about`` is a condition on the document of an answer, where not all are wanted.
    """
    ends = first_and_last(standing_answers(review_id) if about is None else standing_about(about))
    found = session.execute(
        select(Document.name, _LAST.verdict, _FIRST.id, _LAST.id, _FIRST.origin, _FIRST.answered_at)
        .join_from(ends, Document, Document.id == ends.c.document_id)
        .join(_FIRST, _FIRST.id == ends.c.first)
        .join(_LAST, _LAST.id == ends.c.last)
        .order_by(_FIRST.id)
    )
    return [
        Standing(name, verdict or "", first_id, last_id, origin or "", moment)  # answers have both: see the schema
        for name, verdict, first_id, last_id, origin, moment in found
    ]


def count_verdicts(session: Session, review_id: int) -> dict[str, int]:
    """Count the documents by what holds for them; those without an answer are "unread".

    Where nothing was changed the answers are counted; only of the changed documents it is asked what holds.
    """
    counts = dict.fromkeys((*VERDICTS, ASKED), 0)
    for verdict, n in session.execute(_COUNTS, {"review": review_id}):
        counts[verdict] += n
    n_asked = counts.pop(ASKED)
    return {**counts, "unread": n_asked - sum(counts.values())}


def _n_by_verdict(wanted: ColumnElement[bool], sign: int) -> Select[str | None, int]:
    answers = LedgerRow.kind == "answer"
    return select(LedgerRow.verdict, sign * func.count()).where(wanted, answers).group_by(LedgerRow.verdict)


def _counts() -> CompoundSelect[str, int]:
    """Select verdicts with numbers of answers, to be added up, and how many documents are asked for."""
    review: BindParameter[int] = bindparam("review")
    mine = select(LedgerRow.document_id).where(LedgerRow.review_id == review)
    touched = union(mine.where(LedgerRow.undoes_id.is_not(None)), mine.where(LedgerRow.origin == "correction"))
    changed = LedgerRow.document_id.in_(touched)
    last = standing_about(changed).with_only_columns(func.max(LedgerRow.id)).group_by(LedgerRow.document_id)
    return union_all(
        _n_by_verdict(LedgerRow.review_id == review, 1),
        _n_by_verdict(changed, -1),
        _n_by_verdict(LedgerRow.id.in_(last), 1),
        select(literal(ASKED), func.coalesce(func.sum(Stratum.n_asked), 0)).where(Stratum.review_id == review),
    )


_COUNTS = _counts()


_LAST_ANSWER = standing_about(LedgerRow.document_id == bindparam("document")).order_by(LedgerRow.id.desc()).limit(1)


def last_answer(session: Session, document_id: int) -> LedgerRow | None:
    """Return the answer that holds for a document, if it has one."""
    return session.scalars(_LAST_ANSWER, {"document": document_id}).first()
