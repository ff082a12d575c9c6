"""What is asked about holds each time that somebody wants a document; made once, which takes longer than the asking."""

from __future__ import annotations

from sqlalchemy import BindParameter, ColumnElement, bindparam, case, delete, exists, func, select, update

from riffler.review.clock import CLOCK
from riffler.review.schema import Document, LedgerRow, Suggestion
from riffler.review.schema_team import HoldRow, MemberRow, ScreeningRow
from riffler.review.screening import OPINION_STANDS
from riffler.review.standing import STANDS

HOLD_SECONDS = 600.0
"""Who was not heard of for so long has left."""

REVIEW: BindParameter[int] = bindparam("review")
PERSON: BindParameter[int] = bindparam("person")
MOST: BindParameter[int] = bindparam("most")

MINE = (HoldRow.review_id == REVIEW, HoldRow.reviewer_id == PERSON)
IS_OLD = func.abs(HoldRow.renewed_at - CLOCK) > HOLD_SECONDS

IS_ANSWERED = exists().where(LedgerRow.document_id == Suggestion.document_id, STANDS)
_IS_HELD = exists().where(HoldRow.document_id == Suggestion.document_id)
_IS_SCREENED = exists().where(ScreeningRow.document_id == Suggestion.document_id)
_WAITS = (
    Suggestion.review_id == REVIEW,
    Suggestion.shown_to.is_(None),
    Suggestion.place >= 0,
    ~IS_ANSWERED,
    ~_IS_SCREENED,
)
"""Of a suggestion: it may be given to somebody, unless somebody holds its document."""

_IS_OVER = exists().where(LedgerRow.document_id == HoldRow.document_id, STANDS) | exists().where(
    ScreeningRow.document_id == HoldRow.document_id, ScreeningRow.state != "waiting"
)
"""Of a hold: others have answered meanwhile, such as after it ran out."""

_FOR_LATER = (HoldRow.reviewer_id == PERSON) & ~HoldRow.is_shown
"""Of a hold: it is somebody's own, and they have not seen its document."""

MUST_WAIT = select(
    exists().where(HoldRow.review_id == REVIEW, IS_OLD)
    | exists().where(ScreeningRow.review_id == REVIEW, ScreeningRow.state == "waiting")
)
"""Whether holds have run out, or documents are half read."""

HELD = select(HoldRow.document_id, HoldRow.is_shown, HoldRow.renewed_at, _IS_OVER).where(*MINE)

HELD_BY = (
    select(Suggestion.id, Document.name, Suggestion.origin, Suggestion.why, Suggestion.score, Suggestion.shown_at)
    .join_from(HoldRow, Suggestion, Suggestion.id == HoldRow.suggestion_id)
    .join(Document, Document.id == HoldRow.document_id)
    .where(*MINE, ~_IS_OVER)
    .order_by(HoldRow.is_shown.desc(), case((HoldRow.is_shown, HoldRow.taken_at)), Suggestion.place, Suggestion.id)
)
"""What somebody holds: what was on the screen first, the rest as it stands in the queue."""

_OF_SCREENING = LedgerRow.document_id == ScreeningRow.document_id
_READERS = select(func.count()).where(HoldRow.document_id == ScreeningRow.document_id, ~_FOR_LATER).scalar_subquery()
_IS_MINE = exists().where(_OF_SCREENING, LedgerRow.reviewer_id - PERSON == 0, OPINION_STANDS) | exists().where(
    HoldRow.document_id == ScreeningRow.document_id, HoldRow.reviewer_id == PERSON, HoldRow.is_shown
)
HALF_READ = (
    select(ScreeningRow.document_id, ScreeningRow.suggestion_id)
    .where(ScreeningRow.review_id == REVIEW, ScreeningRow.state == "waiting")
    .where(ScreeningRow.first_reader_id.is_distinct_from(PERSON))  # at once: who reads ahead has thousands of these
    .where(ScreeningRow.n_opinions + _READERS < ScreeningRow.needed)
    .where(~_IS_MINE, ~exists().where(_OF_SCREENING, STANDS))
    .order_by(ScreeningRow.opened_at, ScreeningRow.document_id)
    .limit(MOST)
)
"""Documents that wait for one more reader, who must be another one; the first opened first."""

FRESH = (
    select(Suggestion.document_id, func.min(Suggestion.id))
    .where(*_WAITS, ~exists().where(HoldRow.document_id == Suggestion.document_id, ~_FOR_LATER))
    .group_by(Suggestion.document_id)
    .order_by(func.min(Suggestion.place), func.min(Suggestion.id))
    .limit(MOST)
)
"""What the search proposes and nobody reads, the first first; a document may wait there twice."""


UNSEEN = {"synchronize_session": False}  # no object of a session is of these rows

SHOW = (
    update(HoldRow)
    .where(*MINE, HoldRow.suggestion_id == bindparam("suggestion"))
    .values(is_shown=True)
    .returning(HoldRow.document_id)
    .execution_options(**UNSEEN)
)
SHOWN_FIRST = (
    update(Suggestion)
    .where(Suggestion.id == bindparam("suggestion"), Suggestion.shown_to.is_(None))
    .values(shown_at=func.coalesce(Suggestion.shown_at, bindparam("moment")), shown_to=PERSON)
    .execution_options(**UNSEEN)
)
END = (
    delete(HoldRow)
    .where(HoldRow.document_id == bindparam("document"), HoldRow.reviewer_id == PERSON)
    .execution_options(**UNSEEN)
)


def _counted(*rows: ColumnElement[bool], of: type[Suggestion | ScreeningRow | MemberRow]) -> ColumnElement[int]:
    return select(func.count()).select_from(of).where(*rows).scalar_subquery()


QUEUE_NOW = (
    select(
        _counted(*_WAITS, ~_IS_HELD, of=Suggestion),
        func.count().filter(~HoldRow.is_shown),
        func.count().filter(HoldRow.is_shown),
        func.count().filter(~IS_OLD),
        _counted(ScreeningRow.review_id == REVIEW, ScreeningRow.state != "settled", of=ScreeningRow),
        _counted(MemberRow.review_id == REVIEW, MemberRow.left_at.is_(None), of=MemberRow),
    )
    .select_from(HoldRow)
    .where(HoldRow.review_id == REVIEW)
)
"""How much waits, is held for later, is being read, is held by somebody who is there, is half read; and the members."""
