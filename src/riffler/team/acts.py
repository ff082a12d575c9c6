"""What was done beside answering: who logged in, was invited, got a role, exported, froze. Nothing of it is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from riffler.review.database import now
from riffler.review.schema import Reviewer
from riffler.review.schema_team import ActRow


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that was done, and by whom; "" where nobody was logged in."""

    id: int
    at: str
    who: str
    act: str
    details: dict[str, Any]


def record_act(
    session: Session, act: str, *, review_id: int | None = None, reviewer_id: int | None = None, **details: object
) -> None:
    """Write down what somebody does, in the transaction in which it is done."""
    session.add(ActRow(at=now(), review_id=review_id, reviewer_id=reviewer_id, act=act, details=details))


def read_acts(session: Session, review_id: int | None, n: int, before: int | None = None) -> list[Act]:
    """Return the last n acts of a review, or those of no review, of the server itself, for None; the latest first.

    To go on reading, ask for those before the number of the last.
    """
    query = select(ActRow, Reviewer.name).outerjoin(Reviewer, Reviewer.id == ActRow.reviewer_id)
    query = query.where(ActRow.review_id.is_(None) if review_id is None else ActRow.review_id == review_id)
    if before is not None:
        query = query.where(ActRow.id < before)
    rows = session.execute(query.order_by(ActRow.id.desc()).limit(n))
    return [Act(row.id, row.at, name or "", row.act, dict(row.details)) for row, name in rows]
