"""One learner a review: who holds the lease may write what the search does, and an earlier holder may no more.

Time decides only who may *take* the lease. Whether a holder still has it is asked in the transaction of each of its
writes, by the turn that it was given; so one that slept through its time, and was replaced, writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from riffler.errors import LeaseLost
from riffler.review.schema import LeaseRow

LEASE_SECONDS = 15.0
"""Who has not renewed it for so long may be replaced."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A turn as the learner of a review."""

    holder: str
    turn: int


def is_leased(session: Session, review_id: int, at: float) -> bool:
    """Tell whether somebody has the lease at a moment."""
    renewed_at = session.scalar(select(LeaseRow.renewed_at).where(LeaseRow.review_id == review_id))
    return renewed_at is not None and _is_recent(renewed_at, at)


def take_lease(session: Session, review_id: int, holder: str, at: float) -> Lease | None:
    """Take the lease at a moment (in seconds since 1970); None while somebody else has it.

    Whoever comes with the name of the holder takes it over at once: a supervisor gives its learners the same name, and
    starts one only when the last is gone.
    """
    row = _row(session, review_id)
    if row is None:
        session.add(LeaseRow(review_id=review_id, holder=holder, turn=1, renewed_at=at))
        return Lease(holder, 1)
    if row.holder != holder and _is_recent(row.renewed_at, at):
        return None
    row.holder, row.turn, row.renewed_at = holder, row.turn + 1, at
    return Lease(holder, row.turn)


def check_lease(session: Session, review_id: int, lease: Lease) -> LeaseRow:
    """Refuse to go on where somebody else has taken the lease; else nobody can before the transaction ends."""
    row = _row(session, review_id)
    if row is None or row.turn != lease.turn:
        raise LeaseLost("Another learner has taken over this review. Nothing of this change was written.")
    return row


def renew_lease(session: Session, review_id: int, lease: Lease, at: float) -> None:
    """Go on holding the lease."""
    check_lease(session, review_id, lease).renewed_at = at


def drop_lease(session: Session, review_id: int, lease: Lease) -> None:
    """Let the next learner start at once."""
    check_lease(session, review_id, lease).renewed_at = 0.0


def _is_recent(renewed_at: float, at: float) -> bool:
    return abs(at - renewed_at) < LEASE_SECONDS  # abs: a clock may be set back


def _row(session: Session, review_id: int) -> LeaseRow | None:
    return session.scalars(select(LeaseRow).where(LeaseRow.review_id == review_id).with_for_update()).one_or_none()
