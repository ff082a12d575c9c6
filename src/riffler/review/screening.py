"""Documents that several people read, each without knowing what the others say, and the answer that follows.

Each gives an *opinion*. When all that are needed are there, equal ones are the answer; others are a conflict, which a
third person or those who read it settle. The search and the certificate know answers only: a document that waits for a
reader, or for a decision, is to them one that nobody has read.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import ColumnElement, and_, exists, func, select
from sqlalchemy.orm import Session, aliased

from riffler.errors import AnswerConflict, NotAllowed
from riffler.review.database import now
from riffler.review.remarks import (
    Answer,
    Receipt,
    Remark,
    check_expected,
    document_name,
    explain,
    new_row,
    undo_row,
    written,
)
from riffler.review.schema import Document, LedgerRow, Reviewer, Suggestion
from riffler.review.schema_team import ScreeningRow
from riffler.review.standing import NOT_UNDONE, Standing, last_answer, standing_about

NOWHERE = -1  # the place of a suggestion that stands in no queue

_LATER, _UNDO_OF_LATER = aliased(LedgerRow), aliased(LedgerRow)

OPINION_STANDS = and_(
    LedgerRow.kind == "opinion",
    NOT_UNDONE,
    ~exists().where(
        _LATER.document_id == LedgerRow.document_id,
        _LATER.reviewer_id - LedgerRow.reviewer_id == 0,  # not "==": SQLite would go through all that a reader said
        _LATER.kind == "opinion",
        _LATER.id > LedgerRow.id,
        ~exists().where(_UNDO_OF_LATER.undoes_id == _LATER.id),
    ),
)
"""Of a row of the ledger: it is the last opinion of its reader about its document, and was not undone."""

IS_BLIND = exists().where(ScreeningRow.document_id == LedgerRow.document_id, ScreeningRow.state == "waiting")
"""Of a row of the ledger: its document still waits for a reader, who must not know what others said."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one of several readers said of a document."""

    document: str
    reviewer: str
    verdict: str
    note: str
    answered_at: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A document whose readers disagree; ``mine`` where the one who asks is among them."""

    document: str
    title: str
    opinions: tuple[Opinion, ...]
    mine: bool


@dataclass(frozen=True, slots=True)
class StillOpen:
    """How many documents wait for one more reader, and how many for a decision."""

    n_waiting: int
    n_conflicts: int


def hidden_from(person: int) -> ColumnElement[bool]:
    """Of a row of the ledger: somebody else said it of a document that still waits for a reader."""
    return (LedgerRow.reviewer_id != person) & IS_BLIND


def opinion_of(session: Session, document_id: int, person: int) -> LedgerRow | None:
    """Return the opinion of somebody about a document, if there is one."""
    mine = (LedgerRow.document_id == document_id, LedgerRow.reviewer_id - person == 0)  # as above
    return session.scalars(select(LedgerRow).where(*mine, OPINION_STANDS)).one_or_none()


def own_opinions(session: Session, person: int, about: ColumnElement[bool]) -> dict[str, Standing]:
    """Return what somebody said of documents that wait for others: what holds of them as far as they may know."""
    rows = session.execute(
        select(LedgerRow, Document.name)
        .join(Document, Document.id == LedgerRow.document_id)
        .where(about, LedgerRow.reviewer_id - person == 0, OPINION_STANDS, IS_BLIND)
    )
    return {
        name: Standing(name, row.verdict or "", row.id, row.id, row.origin or "", row.answered_at) for row, name in rows
    }


def opinions_about(session: Session, document_id: int) -> list[LedgerRow]:
    """Return the opinions about a document, the first given first."""
    about = select(LedgerRow).where(LedgerRow.document_id == document_id, OPINION_STANDS)
    return list(session.scalars(about.order_by(LedgerRow.id)))


def open_screening(
    session: Session, review_id: int, document_id: int, shown: Suggestion | None, needed: int
) -> ScreeningRow:
    """Let a document be read by several from now on: the first has just said something of it."""
    if shown is None:  # somebody found it; those who come after get it by a suggestion of its own
        shown = Suggestion(
            review_id=review_id, document_id=document_id, place=NOWHERE, origin="search", round=0, probability=1.0,
            why="found by a colleague", made_at=now(),
        )  # fmt: skip
        session.add(shown)
        session.flush()
    row = ScreeningRow(
        document_id=document_id, review_id=review_id, needed=needed, state="waiting", suggestion_id=shown.id,
        opened_at=now(),
    )  # fmt: skip
    session.add(row)
    session.flush()
    return row


def append_opinion(session: Session, screening: ScreeningRow, person: int, answer: Answer) -> Receipt:
    """Append an opinion about a document that waits for some; the last one that is needed leads to an answer."""
    check_expected(answer, opinion_of(session, screening.document_id, person))
    row = new_row(screening.review_id, person, screening.document_id, answer, "opinion", now())
    row.verdict, row.origin = answer.verdict, "search"
    explain(row, _suggestion(session, screening))
    receipt = written(session, row, answer)
    _follow(session, screening, person)
    return receipt


def withdraw_opinion(session: Session, opinion: LedgerRow, person: int, key: str) -> Receipt:
    """Take back one's own opinion, while others are still to come: later one can know what they said."""
    screening = session.get_one(ScreeningRow, opinion.document_id)
    name = document_name(session, opinion.document_id)
    mine = opinion_of(session, opinion.document_id, opinion.reviewer_id)
    if opinion.reviewer_id != person:
        raise NotAllowed(f"The opinion about {name!r} is somebody else's. Everybody takes back their own only.")
    if mine is None or mine.id != opinion.id:
        raise AnswerConflict(f"Your opinion {opinion.id} about {name!r} does not hold any more: there is a later one.")
    if screening.state != "waiting":
        raise AnswerConflict(
            f"All have given their opinion about {name!r}, so yours stands. An owner can still change the answer."
        )
    receipt = undo_row(session, opinion, person, Remark(name, key))
    _count(session, screening)
    return receipt


def resolve(session: Session, screening: ScreeningRow, person: int, answer: Answer, decided: str) -> Receipt:
    """Append the answer that settles a document, and how it was found: "third", "consensus" or "owner".

    An owner settles one that waits for a reader who does not come; else there has to be a conflict.
    """
    if screening.state != "conflict" and not (screening.state == "waiting" and decided == "owner"):
        raise AnswerConflict(f"There is no conflict about {answer.document!r} any more: look at what holds now.")
    row = _answer_row(session, screening, person, answer, decided)
    row.verdict = answer.verdict
    screening.state = "settled"
    return written(session, row, answer)


def reopen(session: Session, document_id: int) -> None:
    """Make a conflict again of a document whose answer was undone."""
    screening = session.get(ScreeningRow, document_id)
    if screening is not None and screening.state == "settled" and last_answer(session, document_id) is None:
        screening.state = "conflict"


def check_may_resolve(session: Session, screening: ScreeningRow, person: int, role: str, resolution: str) -> str:
    """Return what a decision of somebody is to be called; refuse it where they have no say in it."""
    is_reader = any(one.reviewer_id == person for one in opinions_about(session, screening.document_id))
    if screening.state == "waiting" and role == "owner" and not is_reader:
        return "owner"
    decided = decision_of(is_reader, role, resolution)
    if decided is not None:
        return decided
    if resolution == "third":
        raise NotAllowed(
            "You have read this document yourself: somebody who has not decides, as this review is set up. "
            "An owner can change that to consensus on the settings page."
        )
    raise NotAllowed("Those who have read this document, or an owner, write down what they agreed on.")


def decision_of(is_reader: bool, role: str, resolution: str) -> str | None:
    """Return what it is called when somebody settles a conflict; None where they have no say in it.

    >>> decision_of(True, "reviewer", "third"), decision_of(True, "reviewer", "consensus")
    (None, 'consensus')
    """
    if resolution == "third":
        return None if is_reader else "third"
    if is_reader:
        return "consensus"
    return "owner" if role == "owner" else None


def conflicts(session: Session, review_id: int, person: int, n: int, offset: int) -> list[Conflict]:
    """Return documents whose readers disagree, the first opened first."""
    rows = session.execute(
        select(Document.id, Document.name, Document.title)
        .join_from(ScreeningRow, Document, Document.id == ScreeningRow.document_id)
        .where(ScreeningRow.review_id == review_id, ScreeningRow.state == "conflict")
        .order_by(ScreeningRow.opened_at, ScreeningRow.document_id)
        .limit(n)
        .offset(offset)
    ).all()
    said = read_opinions(session, review_id, LedgerRow.document_id.in_([number for number, _, _ in rows]))
    me = session.get_one(Reviewer, person).name
    found = []
    for _, name, title in rows:
        about = tuple(one for one in said if one.document == name)
        found.append(Conflict(name, title, about, any(one.reviewer == me for one in about)))
    return found


def read_opinions(session: Session, review_id: int, about: ColumnElement[bool] | None = None) -> list[Opinion]:
    """Return opinions that stand, the first given first; ``about`` is a condition on their rows of the ledger."""
    wanted = (LedgerRow.review_id == review_id, OPINION_STANDS)
    rows = session.execute(
        select(LedgerRow, Document.name, Reviewer.name)
        .join(Document, Document.id == LedgerRow.document_id)
        .join(Reviewer, Reviewer.id == LedgerRow.reviewer_id)
        .where(*wanted if about is None else (*wanted, about))
        .order_by(LedgerRow.id)
    )
    return [Opinion(name, who, row.verdict or "", row.note, row.answered_at, row.seconds) for row, name, who in rows]


def still_open(session: Session, review_id: int) -> StillOpen:
    """Count the documents without an answer that some have read."""
    counts = dict(
        session.execute(
            select(ScreeningRow.state, func.count())
            .where(ScreeningRow.review_id == review_id, ScreeningRow.state != "settled")
            .group_by(ScreeningRow.state)
        ).all()
    )
    return StillOpen(counts.get("waiting", 0), counts.get("conflict", 0))


def _follow(session: Session, screening: ScreeningRow, person: int) -> None:
    """Draw the conclusion where all opinions are there."""
    said = _count(session, screening)
    if len(said) < screening.needed:
        return
    if len({one.verdict for one in said}) > 1:
        screening.state = "conflict"
        return
    remark = Remark(document_name(session, screening.document_id), f"decided/{uuid4()}")
    row = _answer_row(session, screening, person, remark, "agreement")
    row.verdict = said[-1].verdict
    screening.state = "settled"
    written(session, row, remark)


def _answer_row(session: Session, screening: ScreeningRow, person: int, remark: Remark, decided: str) -> LedgerRow:
    row = new_row(screening.review_id, person, screening.document_id, remark, "answer", now())
    row.origin, row.decided = "search", decided
    explain(row, _suggestion(session, screening))
    if session.scalars(standing_about(LedgerRow.document_id == screening.document_id).limit(1)).first() is not None:
        row.origin = "correction"
    return row


def _count(session: Session, screening: ScreeningRow) -> list[LedgerRow]:
    """Return the opinions that stand, and keep how many there are."""
    said = opinions_about(session, screening.document_id)
    screening.n_opinions, screening.first_reader_id = len(said), said[0].reviewer_id if said else None
    return said


def _suggestion(session: Session, screening: ScreeningRow) -> Suggestion | None:
    return None if screening.suggestion_id is None else session.get(Suggestion, screening.suggestion_id)
