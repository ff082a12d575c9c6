"""What people say, appended to the ledger: answers, undo, notes and tags, each request once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from riffler.errors import AnswerConflict, InputError, UnknownName
from riffler.review.database import now
from riffler.review.documents import asked_id
from riffler.review.schema import Document, LedgerRow, Reviewer, Suggestion
from riffler.review.standing import REPLACED, STANDS, check_verdict, last_answer

NOTHING_TO_UNDO = "There is nothing to undo: you have given no answer yet, or all were undone."


@dataclass(frozen=True, slots=True)
class Remark:
    """What a client wants recorded.

    document : id of the document
    key : made by the client, another one for each remark; sent again after a lost reply it is not recorded again
    suggestion : what was on the screen, where it came from the queue
    seconds : spent reading
    """

    document: str
    key: str
    suggestion: int | None = None
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Answer(Remark):
    """A verdict about a document: "relevant", "irrelevant", "maybe" or "skip".

    expect : number of the answer that held when the document was looked at, 0 for none; another one is a conflict
    """

    verdict: str = ""
    expect: int | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the ledger holds of a remark; ``repeated`` where it was there before."""

    id: int
    document: str
    kind: str
    verdict: str | None
    origin: str | None
    repeated: bool


def reviewer_id(session: Session, name: str) -> int:
    """Return the number of a reviewer, who joins now if nobody has that name."""
    found = session.scalar(select(Reviewer.id).where(Reviewer.name == name))
    if found is not None:
        return found
    reviewer = Reviewer(name=name, joined_at=now())
    session.add(reviewer)
    session.flush()
    return reviewer.id


def append_answers(session: Session, review_id: int, person: int, answers: Sequence[Answer]) -> list[Receipt]:
    """Append answers; one about a document that has an answer is a correction."""
    return [append_answer(session, review_id, person, answer) for answer in answers]


def append_word(session: Session, review_id: int, person: int, kind: str, remark: Remark) -> Receipt:
    """Append a note, a tag, or the removal of a tag; its text is the remark's note."""
    if kind != "note" and not remark.note.strip():
        raise InputError("A tag needs a word, got none.")
    document_id = asked_id(session, review_id, remark.document)
    there = recorded(session, review_id, remark.key)
    if there is not None:
        return same_receipt(
            there,
            remark,
            kind,
            there.reviewer_id == person and (there.document_id, there.note) == (document_id, remark.note),
        )
    row = new_row(review_id, person, document_id, remark, kind, now())
    return written(session, row, remark)


def append_undo_of_last(session: Session, review_id: int, person: int, key: str) -> Receipt:
    """Take back the reviewer's last answer; sent again, the request is about the same one."""
    there = recorded(session, review_id, key)
    last = last_answer_of(session, review_id, person) if there is None else there.undoes_id or there.id
    if last is None:
        raise AnswerConflict(NOTHING_TO_UNDO)
    return append_undo(session, review_id, person, last, key)


def append_undo(session: Session, review_id: int, person: int, ledger_id: int, key: str) -> Receipt:
    """Take back an answer: the last one that holds for its document."""
    there = recorded(session, review_id, key)
    answer = said_row(session, review_id, ledger_id, ("answer",))
    name = document_name(session, answer.document_id)
    remark = Remark(name, key)
    if there is not None:
        return same_receipt(there, remark, "undo", (there.undoes_id, there.reviewer_id) == (ledger_id, person))
    last = last_answer(session, answer.document_id)
    if last is None or last.id != ledger_id:
        raise AnswerConflict(
            f"Answer {ledger_id} about {name!r} does not hold any more: it was undone or corrected since. "
            "Look at the history, and undo what holds now."
        )
    return undo_row(session, answer, person, remark)


def undo_row(session: Session, undone: LedgerRow, person: int, remark: Remark) -> Receipt:
    """Append the undo of a row."""
    row = new_row(undone.review_id, person, undone.document_id, remark, "undo", now())
    row.undoes_id = undone.id
    return written(session, row, remark)


def said_row(session: Session, review_id: int, ledger_id: int, kinds: Sequence[str]) -> LedgerRow:
    """Return a row of the ledger that is of one of some kinds."""
    found = session.get(LedgerRow, ledger_id)
    if found is None or found.review_id != review_id or found.kind not in kinds:
        raise UnknownName(f"The ledger has no answer with the number {ledger_id}.")
    return found


def document_name(session: Session, document_id: int) -> str:
    """Return the id of a document as it was imported."""
    return session.scalars(select(Document.name).where(Document.id == document_id)).one()


def last_answer_of(session: Session, review_id: int, person: int) -> int | None:
    """Return the number of somebody's last answer that may be undone: it holds, and was not known before."""
    mine = (
        select(LedgerRow.id)
        .where(LedgerRow.review_id == review_id, LedgerRow.reviewer_id == person, LedgerRow.origin != "prior")
        .where(STANDS, ~REPLACED)
    )
    return session.scalar(mine.order_by(LedgerRow.id.desc()).limit(1))


def append_answer(session: Session, review_id: int, person: int, answer: Answer) -> Receipt:
    """Append an answer; one about a document that has an answer is a correction."""
    check_verdict(answer.verdict)
    document_id = asked_id(session, review_id, answer.document)
    there = recorded(session, review_id, answer.key)
    if there is not None:
        return same_answer(there, answer, document_id, person)
    shown = shown_as(session, review_id, answer.suggestion, document_id)
    row = new_row(review_id, person, document_id, answer, "answer", now())
    return write_answer(session, row, answer, shown, last_answer(session, document_id))


def write_answer(
    session: Session, row: LedgerRow, answer: Answer, shown: Suggestion | None, held: LedgerRow | None
) -> Receipt:
    """Append a row that is an answer to the ledger: how its document was shown is known, and what held of it before."""
    check_expected(answer, held)
    row.verdict, row.origin = answer.verdict, "search"
    explain(row, shown)
    if held is not None:
        row.origin = "correction"
    return written(session, row, answer)


def same_answer(there: LedgerRow, answer: Answer, document_id: int, person: int) -> Receipt:
    """Return the receipt of an answer or opinion that was sent again."""
    same = (there.document_id, there.verdict, there.reviewer_id) == (document_id, answer.verdict, person)
    return same_receipt(there, answer, there.kind if there.kind == "opinion" else "answer", same)


def check_expected(answer: Answer, held: LedgerRow | None) -> None:
    """Refuse an answer that was given while something else held."""
    if answer.expect is None or answer.expect == (0 if held is None else held.id):
        return
    now_holds = "it has no answer any more" if held is None else f"it is {held.verdict!r} now"
    raise AnswerConflict(
        f"{answer.document!r} was answered elsewhere meanwhile, such as in another tab: {now_holds}. "
        "Nothing was written. Look at it again, and answer if you want it otherwise."
    )


_WAS_CONTROL = (Suggestion.origin == "control") & Suggestion.shown_at.is_not(None)
_SHOWN = (
    select(Suggestion)
    .where((Suggestion.id == bindparam("named")) | (Suggestion.document_id == bindparam("document")) & _WAS_CONTROL)
    .order_by(Suggestion.id)
)


def shown_as(session: Session, review_id: int, suggestion_id: int | None, document_id: int) -> Suggestion | None:
    """Return the suggestion that a document was shown by; None for one that somebody found.

    What was ever shown as a control document is one, wherever it is answered in the end: to count it among what was
    found would make the certificate claim too much.
    """
    found = session.scalars(_SHOWN, {"document": document_id, "named": suggestion_id or 0}).all()
    named = next((one for one in found if one.id == suggestion_id), None)  # None as well where it was never shown
    if named is not None and (named.review_id, named.document_id) != (review_id, document_id):
        raise AnswerConflict(f"Suggestion {suggestion_id} is of another document. Answer about the one that was shown.")
    return next((one for one in found if one.origin == "control" and one.shown_at is not None), named)


def explain(row: LedgerRow, shown: Suggestion | None) -> None:
    """Write down why a document was shown."""
    if shown is not None:
        row.suggestion_id, row.origin, row.round = shown.id, shown.origin, shown.round
        row.probability, row.why, row.shown_at = shown.probability, shown.why, shown.shown_at
        if shown.shown_to is None:  # whoever answers it has seen it; else the queue would drop what the ledger needs
            shown.shown_at, shown.shown_to = shown.shown_at or row.answered_at, row.reviewer_id


def new_row(review_id: int, person: int, document_id: int, remark: Remark, kind: str, moment: str) -> LedgerRow:
    """Return a row of the ledger that is not written yet."""
    if not remark.key:
        raise InputError("A remark needs a key, got none. Make one for each remark, such as a UUID.")
    if remark.seconds is not None and not 0 <= remark.seconds < math.inf:
        raise InputError(f"seconds must be a finite number of at least 0, got {remark.seconds!r}.")
    return LedgerRow(
        review_id=review_id,
        document_id=document_id,
        reviewer_id=person,
        request_key=remark.key,
        kind=kind,
        why="",
        answered_at=moment,
        seconds=remark.seconds,
        note=remark.note,
    )


_RECORDED = select(LedgerRow).where(
    LedgerRow.review_id == bindparam("review"), LedgerRow.request_key == bindparam("key")
)


def recorded(session: Session, review_id: int, key: str) -> LedgerRow | None:
    """Return what was recorded with a key, if anything was."""
    return session.scalars(_RECORDED, {"review": review_id, "key": key}).one_or_none()


def same_receipt(there: LedgerRow, remark: Remark, kind: str, same: bool) -> Receipt:
    """Return the receipt of a request that was sent again; refuse one that says something else."""
    if there.kind != kind or not same:
        raise AnswerConflict(f"The key {remark.key!r} was used for another remark. Make a new key for each one.")
    return Receipt(there.id, remark.document, kind, there.verdict, there.origin, repeated=True)


def written(session: Session, row: LedgerRow, remark: Remark) -> Receipt:
    """Append a row to the ledger."""
    session.add(row)
    session.flush()
    return Receipt(row.id, remark.document, row.kind, row.verdict, row.origin, repeated=False)
