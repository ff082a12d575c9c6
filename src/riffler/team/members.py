"""Members: who takes part in which review, and as what; every review keeps an owner."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from riffler.errors import InputError, UnknownName
from riffler.review.clock import CLOCK
from riffler.review.database import now
from riffler.review.schema import Reviewer, ReviewRow
from riffler.review.schema_team import ROLES, MemberRow
from riffler.review.settings import ReviewSettings
from riffler.team.accounts import get_account
from riffler.team.acts import record_act
from riffler.team.leaving import leave_review, revoke_invitations

OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who takes part in a review, or did."""

    id: int  # of the account
    name: str
    role: str
    joined_at: str
    left_at: str | None


@dataclass(frozen=True, slots=True)
class Membership:
    """A review that somebody takes part in."""

    review_id: int
    identity: str
    name: str
    role: str
    frozen_at: str | None


@dataclass(frozen=True, slots=True)
class Seat:
    """What holds when a member begins a change; ``at`` is the time."""

    role: str
    settings: ReviewSettings
    frozen_at: str | None
    at: float


def check_role(role: str) -> str:
    """Return a role, or refuse it.

    >>> check_role("reader")
    'reader'
    """
    if role not in ROLES:
        raise UnknownName.among("role", role, ROLES)
    return role


def list_members(session: Session, review_id: int) -> list[Member]:
    """Return all members, those who left too, in the order in which they joined."""
    rows = session.execute(
        select(MemberRow, Reviewer.name)
        .join(Reviewer, Reviewer.id == MemberRow.reviewer_id)
        .where(MemberRow.review_id == review_id)
        .order_by(MemberRow.joined_at, MemberRow.reviewer_id)
    )
    return [Member(row.reviewer_id, name, row.role, row.joined_at, row.left_at) for row, name in rows]


def list_reviews(session: Session, account_id: int) -> list[Membership]:
    """Return the reviews that somebody takes part in, by name."""
    rows = session.execute(
        select(ReviewRow.id, ReviewRow.identity, ReviewRow.name, MemberRow.role, ReviewRow.frozen_at)
        .join(MemberRow, MemberRow.review_id == ReviewRow.id)
        .where(MemberRow.reviewer_id == account_id, MemberRow.left_at.is_(None))
        .order_by(ReviewRow.name, ReviewRow.id)
    )
    return [Membership(*row) for row in rows]


def role_of(session: Session, review_id: int, account_id: int) -> str | None:
    """Return what somebody may do in a review; None where they are not a member, or their account is closed."""
    return session.scalar(
        select(MemberRow.role)
        .join(Reviewer, Reviewer.id == MemberRow.reviewer_id)
        .where(MemberRow.review_id == review_id, MemberRow.reviewer_id == account_id)
        .where(MemberRow.left_at.is_(None), Reviewer.closed_at.is_(None))
    )


_SEAT = (  # made once, which takes longer than the asking
    select(MemberRow.role, ReviewRow.settings, ReviewRow.frozen_at, CLOCK)
    .join_from(MemberRow, ReviewRow, ReviewRow.id == MemberRow.review_id)
    .join(Reviewer, Reviewer.id == MemberRow.reviewer_id)
    .where(MemberRow.review_id == bindparam("review"), MemberRow.reviewer_id == bindparam("account"))
    .where(MemberRow.left_at.is_(None), Reviewer.closed_at.is_(None))
)
_KEPT_SEAT = _SEAT.with_for_update(read=True, of=MemberRow)


def seat_of(session: Session, review_id: int, account_id: int, *, keep: bool = False) -> Seat | None:
    """Return what holds of a member and the review at this moment; None as for :func:`role_of`.

    keep : nobody removes the member before the transaction ends
    """
    wanted = _KEPT_SEAT if keep else _SEAT
    row = session.execute(wanted, {"review": review_id, "account": account_id}).one_or_none()
    if row is None:
        return None
    role, settings, frozen_at, at = row
    return Seat(role, ReviewSettings.from_json(settings), frozen_at, at)


def wait_for_taking(session: Session, review_id: int, account_id: int) -> None:
    """Wait until what a member takes at this moment is taken: who leaves gives that back too."""
    member = (MemberRow.review_id == review_id, MemberRow.reviewer_id == account_id)
    session.execute(select(MemberRow.role).where(*member).with_for_update())


def add_member(session: Session, review_id: int, account_id: int, role: str, by: int | None) -> None:
    """Let somebody take part in a review; who left may come back."""
    account = get_account(session, account_id)
    if account.closed_at is not None:
        raise InputError(f"The account of {account.name} is closed. Open it again first.")
    if session.get(ReviewRow, review_id) is None:
        raise UnknownName(f"There is no review with the number {review_id}.")
    row = session.get(MemberRow, (review_id, account_id))
    if row is not None and row.left_at is None:
        raise InputError(f"{account.name} is a member already, as {row.role}. Change that role instead.")
    if row is None:
        row = MemberRow(review_id=review_id, reviewer_id=account_id)
        session.add(row)
    row.role, row.joined_at, row.left_at = check_role(role), now(), None
    record_act(session, "member joined", review_id=review_id, reviewer_id=by, account=account.name, role=role)


def raise_role(session: Session, review_id: int, account_id: int, role: str, by: int | None) -> None:
    """Let somebody take part with at least a role: an invitation takes nothing away."""
    row = session.get(MemberRow, (review_id, account_id))
    if row is None or row.left_at is not None:
        add_member(session, review_id, account_id, role, by)
    elif ROLES.index(row.role) < ROLES.index(role):
        set_role(session, review_id, account_id, role, by)


def set_role(session: Session, review_id: int, account_id: int, role: str, by: int | None) -> None:
    """Let a member do more or less."""
    row, account = _member(session, review_id, account_id), get_account(session, account_id)
    before = row.role
    if check_role(role) == before:
        return
    if before == OWNER:
        _keep_an_owner(session, review_id, account)
        revoke_invitations(session, account_id, review_id)
    row.role = role
    changed = {"account": account.name, "role": role, "before": before}
    record_act(session, "role changed", review_id=review_id, reviewer_id=by, **changed)


def remove_member(session: Session, review_id: int, account_id: int, by: int | None) -> None:
    """Let somebody take part no more; what they said stays, what they hold goes back."""
    row, account = _member(session, review_id, account_id), get_account(session, account_id)
    if row.role == OWNER:
        _keep_an_owner(session, review_id, account)
    row.left_at = now()
    leave_review(session, review_id, account_id)
    record_act(session, "member left", review_id=review_id, reviewer_id=by, account=account.name, role=row.role)


def _member(session: Session, review_id: int, account_id: int) -> MemberRow:
    row = session.get(MemberRow, (review_id, account_id))
    if row is None or row.left_at is not None:
        raise UnknownName(f"The review has no member with the number {account_id}.")
    return row


def _keep_an_owner(session: Session, review_id: int, leaving: Reviewer) -> None:
    """Refuse to take the last owner; one who cannot log in is none."""
    owners = (MemberRow.review_id == review_id, MemberRow.role == OWNER, MemberRow.left_at.is_(None))
    others = (Reviewer.closed_at.is_(None), Reviewer.password.is_not(None), Reviewer.id != leaving.id)
    rest = select(func.count()).select_from(MemberRow).join(Reviewer, Reviewer.id == MemberRow.reviewer_id)
    if not session.scalar(rest.where(*owners, *others)):
        raise InputError(f"{leaving.name} is the last owner of the review. Make somebody else an owner first.")
