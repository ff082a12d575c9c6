"""The desk of one member of a team: documents are held for them, and several may have to agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from riffler.errors import AnswerConflict, NotAllowed
from riffler.review.database import now, reading, writing, writing_review
from riffler.review.desk import Desk, Undone
from riffler.review.documents import asked_id, asked_ids
from riffler.review.holds import (
    end_hold,
    hold_again,
    is_holding,
    lock_to_take,
    n_held_by_others,
    offer_again,
    return_held,
    show_document,
    take_documents,
)
from riffler.review.notes import held_tags
from riffler.review.queue import Queued
from riffler.review.remarks import (
    NOTHING_TO_UNDO,
    Answer,
    Receipt,
    Remark,
    append_undo,
    append_word,
    check_expected,
    document_name,
    new_row,
    recorded,
    said_row,
    same_answer,
    same_receipt,
    shown_as,
    write_answer,
)
from riffler.review.schema import LedgerRow, ReviewRow, Suggestion
from riffler.review.schema_team import ROLES, HoldRow, ScreeningRow
from riffler.review.screening import (
    OPINION_STANDS,
    Conflict,
    append_opinion,
    check_may_resolve,
    conflicts,
    hidden_from,
    open_screening,
    opinion_of,
    opinions_about,
    own_opinions,
    reopen,
    resolve,
    withdraw_opinion,
)
from riffler.review.settings import ReviewSettings
from riffler.review.standing import REPLACED, STANDS, Standing, check_verdict, last_answer, standings
from riffler.review.store import Review, refuse_frozen
from riffler.review.whole_documents import WholeDocument, whole_documents
from riffler.team.acts import record_act
from riffler.team.members import Seat, seat_of, wait_for_taking

MOST_HELD = 10
"""Documents that one person can hold at a time."""


class TeamDesk(Desk):
    """The desk of a member.

    person : number of the member
    role : "reader" looks, "reviewer" answers, "owner" also changes what others said
    """

    def __init__(self, review: Review, person: int, name: str, role: str) -> None:
        super().__init__(review, name)
        self.person, self.role = person, role

    @property
    def viewer(self) -> int | None:
        """The number of the member: of documents that wait for readers, what others said is hidden."""
        return self.person

    def upcoming(self, n: int, is_wanted: Callable[[], bool] = lambda: True) -> list[Queued]:
        """What is to be read next, at most n, held for this member from now on; nothing where the review is frozen."""
        with self.review.taking, writing(self.review._engine) as session:
            alone = lock_to_take(session, self.review.id)
            seat = self._seat(session, keep=True)
            if seat.frozen_at is not None:
                return []
            queued = take_documents(session, self.review.id, self.person, min(n, MOST_HELD), seat.at, alone=alone)
            if not is_wanted():
                session.rollback()
                return []
            return queued

    def show(self, suggestion: int) -> None:
        """Write down that a document that is held is on the screen; nobody waits for that."""
        with writing(self.review._engine) as session:
            self._seat(session)
            show_document(session, self.review.id, self.person, suggestion)

    def n_held_by_others(self) -> int:
        """How many documents others hold that one reader is enough for."""
        with reading(self.review._engine) as session:
            return n_held_by_others(session, self.review.id, self.person)

    def leave(self) -> None:
        """Give back all that is held."""
        with writing_review(self.review._engine, self.review.id) as session:
            wait_for_taking(session, self.review.id, self.person)
            return_held(session, self.review.id, self.person)

    def answer(self, answers: Sequence[Answer]) -> list[Receipt]:
        """Record answers, all or none: of documents that several read as opinions, which others do not see yet."""
        with self._changing() as (session, seat):
            return [self._answer(session, answer, seat.settings) for answer in answers]

    def undo(self, ledger_id: int | None, key: str, is_wanted: Callable[[], bool] = lambda: True) -> Undone:
        """Take back an answer or an opinion; an owner may take back any answer, others their own."""
        with self._changing() as (session, seat):
            there = recorded(session, self.review.id, key)
            if there is not None:
                return Undone(self._undone_before(session, there, ledger_id, key), None)
            row = self._row_to_undo(session, ledger_id)
            if row.kind == "opinion":
                receipt = withdraw_opinion(session, row, self.person, key)
            else:
                self._check_mine(row, "undo")
                receipt = append_undo(session, self.review.id, self.person, row.id, key)
                reopen(session, row.document_id)
            if last_answer(session, row.document_id) is None:
                if row.reviewer_id == self.person and is_wanted():
                    hold_again(session, self.review.id, self.person, row.document_id, seat.at)
                offer_again(session, row.document_id)
        return Undone(receipt, self.review.suggestion_of(receipt.document))

    def resolve(self, answer: Answer) -> Receipt:
        """Settle a conflict between the readers of a document."""
        check_verdict(answer.verdict)
        with self._changing() as (session, seat):
            document_id = asked_id(session, self.review.id, answer.document)
            there = recorded(session, self.review.id, answer.key)
            if there is not None:
                return same_answer(there, answer, document_id, self.person)
            screening = session.get(ScreeningRow, document_id)
            if screening is None:
                raise AnswerConflict(f"There is no conflict about {answer.document!r}: one person reads it.")
            decided = check_may_resolve(session, screening, self.person, self.role, seat.settings.resolution)
            return resolve(session, screening, self.person, answer, decided)

    def conflicts(self, n: int = 50, offset: int = 0) -> list[Conflict]:
        """Documents whose readers disagree, the first opened first."""
        with reading(self.review._engine) as session:
            return conflicts(session, self.review.id, self.person, n, offset)

    def note(self, remark: Remark) -> Receipt:
        """Record a note about a document."""
        return self._word("note", remark)

    def tag(self, remark: Remark) -> Receipt:
        """Give a document a tag."""
        return self._word("tag", remark)

    def untag(self, remark: Remark) -> Receipt:
        """Take a tag from a document."""
        return self._word("untag", remark)

    def tags(self) -> list[str]:
        """All tags that are in use, as far as this member may know."""
        with reading(self.review._engine) as session:
            about = (LedgerRow.review_id == self.review.id) & ~hidden_from(self.person)
            return sorted({tag for _, tag in session.execute(held_tags(about))})

    def documents(self, names: Sequence[str]) -> list[WholeDocument]:
        """Documents as this member may see them."""
        with reading(self.review._engine) as session:
            return whole_documents(session, self.review.id, names, self.person)

    def standings_of(self, names: Sequence[str]) -> dict[str, Standing]:
        """What holds of some documents, and this member's own opinions where others are to come."""
        with reading(self.review._engine) as session:
            about = LedgerRow.document_id.in_(asked_ids(session, self.review.id, names).values())
            held = {one.document: one for one in standings(session, self.review.id, about)}
            return own_opinions(session, self.person, about) | held

    def change_settings(self, changes: Mapping[str, Any], expect: int | None = None) -> ReviewSettings:
        """Change some settings, and write down who did."""
        told = {name: _plain(value) for name, value in changes.items()}

        def note(session: Session) -> None:
            record_act(session, "changed settings", review_id=self.review.id, reviewer_id=self.person, **told)

        return self.review.change_settings(changes, expect=expect, also=note)

    def freeze(self) -> None:
        """Let nobody change anything any more."""
        self._set_frozen("froze the review", now())

    def thaw(self) -> None:
        """Let the work go on."""
        self._set_frozen("thawed the review", None)

    def note_act(self, act: str, **details: object) -> None:
        """Write down what this member did."""
        with writing_review(self.review._engine, self.review.id) as session:
            record_act(session, act, review_id=self.review.id, reviewer_id=self.person, **details)

    @contextmanager
    def _writing(self) -> Iterator[tuple[Session, Seat]]:
        """Give a session for one change, and what holds when it begins."""
        with writing_review(self.review._engine, self.review.id) as session:
            yield session, self._seat(session)

    @contextmanager
    def _changing(self) -> Iterator[tuple[Session, Seat]]:
        """Give the same, unless the review is frozen."""
        with self._writing() as (session, seat):
            refuse_frozen(seat.frozen_at)
            yield session, seat

    def _seat(self, session: Session, *, keep: bool = False) -> Seat:
        """Return what holds now, unless this member was removed since the request came, or may less now.

        keep : nobody removes them before the transaction ends
        """
        seat = seat_of(session, self.review.id, self.person, keep=keep)
        if seat is None or ROLES.index(seat.role) < ROLES.index(self.role):
            raise NotAllowed("You were removed from this review, or your role was changed. Nothing was written.")
        return seat

    def _set_frozen(self, act: str, moment: str | None) -> None:
        with self._writing() as (session, _):
            row = session.get_one(ReviewRow, self.review.id)
            if (row.frozen_at is None) != (moment is None):
                row.frozen_at = moment
                record_act(session, act, review_id=self.review.id, reviewer_id=self.person)

    def _word(self, kind: str, remark: Remark) -> Receipt:
        with self._changing() as (session, seat):
            self._open_blind(session, asked_id(session, self.review.id, remark.document), seat.settings)
            return append_word(session, self.review.id, self.person, kind, remark)

    def _answer(self, session: Session, answer: Answer, settings: ReviewSettings) -> Receipt:
        check_verdict(answer.verdict)
        document_id = asked_id(session, self.review.id, answer.document)
        there = recorded(session, self.review.id, answer.key)
        if there is not None:
            return same_answer(there, answer, document_id, self.person)
        screening, held = session.get(ScreeningRow, document_id), last_answer(session, document_id)
        shown = shown_as(session, self.review.id, answer.suggestion, document_id)
        if screening is None and held is None:
            screening = self._opened(session, document_id, shown, settings)
        if screening is None or held is not None:
            check_expected(answer, held)
            self._check_may_correct(held, screening)
            end_hold(session, document_id, self.person)
            row = new_row(self.review.id, self.person, document_id, answer, "answer", now())
            return write_answer(session, row, answer, shown, held)
        self._check_may_read(session, screening, answer)
        end_hold(session, document_id, self.person)
        return append_opinion(session, screening, self.person, answer)

    def _open_blind(self, session: Session, document_id: int, settings: ReviewSettings) -> None:
        """Hide what is said of a document that several shall read, from the first word on."""
        if session.get(ScreeningRow, document_id) is not None or last_answer(session, document_id) is not None:
            return
        held = select(HoldRow.suggestion_id).where(HoldRow.document_id == document_id)
        suggestion_id = session.scalar(held.where(HoldRow.reviewer_id == self.person))
        shown = shown_as(session, self.review.id, suggestion_id, document_id)
        self._opened(session, document_id, shown, settings)

    def _opened(
        self, session: Session, document_id: int, shown: Suggestion | None, settings: ReviewSettings
    ) -> ScreeningRow | None:
        """Open the screening of a document that nobody has read, where several shall."""
        if settings.screening == "single":
            return None
        needed = settings.readers_of(document_name(session, document_id), "search" if shown is None else shown.origin)
        return open_screening(session, self.review.id, document_id, shown, needed) if needed > 1 else None

    def _check_may_correct(self, held: LedgerRow | None, screening: ScreeningRow | None) -> None:
        if held is None:
            return
        if screening is not None and self.role != "owner":
            raise NotAllowed("Several people have read this document and it is settled. Only an owner changes it.")
        self._check_mine(held, "correct")

    def _check_mine(self, row: LedgerRow, what: str) -> None:
        if row.reviewer_id != self.person and self.role != "owner":
            raise NotAllowed(f"Somebody else gave this answer. Only they, or an owner, {what} it.")
        if row.decided == "agreement" and self.role != "owner":
            raise NotAllowed("Several people have agreed on this answer. Only an owner changes it.")

    def _check_may_read(self, session: Session, screening: ScreeningRow, answer: Answer) -> None:
        if screening.state == "conflict":
            raise AnswerConflict(
                f"All have given their opinion about {answer.document!r}, and they disagree. It is settled on the page "
                "of conflicts."
            )
        if is_holding(session, screening.document_id, self.person):
            return
        if opinion_of(session, screening.document_id, self.person) is not None:
            return
        others = select(func.count()).select_from(HoldRow).where(HoldRow.document_id == screening.document_id)
        n_taken = (session.scalar(others) or 0) + len(opinions_about(session, screening.document_id))
        if n_taken >= screening.needed:
            raise AnswerConflict(
                f"{answer.document!r} has all the readers that it needs; one of them reads it now. Go on with the next."
            )

    def _row_to_undo(self, session: Session, ledger_id: int | None) -> LedgerRow:
        if ledger_id is None:
            mine = (LedgerRow.review_id == self.review.id, LedgerRow.reviewer_id == self.person)
            is_mine = or_(STANDS & ~REPLACED & LedgerRow.decided.is_(None), OPINION_STANDS)
            last = select(LedgerRow.id).where(*mine, LedgerRow.origin != "prior", is_mine)
            ledger_id = session.scalar(last.order_by(LedgerRow.id.desc()).limit(1))
        if ledger_id is None:
            raise AnswerConflict(NOTHING_TO_UNDO)
        return said_row(session, self.review.id, ledger_id, ("answer", "opinion"))

    def _undone_before(self, session: Session, there: LedgerRow, ledger_id: int | None, key: str) -> Receipt:
        remark = Remark(document_name(session, there.document_id), key)
        same = there.reviewer_id == self.person and ledger_id in (None, there.undoes_id)
        return same_receipt(there, remark, "undo", same)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
