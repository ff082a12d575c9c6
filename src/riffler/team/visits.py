"""Who comes: the account that a cookie or a key belongs to, and its role in a review, found by one query.

A visit ends after thirty days, or after seven in which nothing was heard of it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import and_, bindparam, delete, or_, select, update
from sqlalchemy.orm import Session

from riffler.review.clock import CLOCK
from riffler.review.database import is_older, now
from riffler.review.schema import Reviewer, ReviewRow, TokenRow
from riffler.review.schema_team import MemberRow, VisitRow
from riffler.review.tokens import SECRET_BYTES, hash_secret
from riffler.team.accounts import Account, shown_account

DAY = 86_400.0
LONGEST_VISIT, LONGEST_PAUSE = 30 * DAY, 7 * DAY
SEEN_EVERY = 300.0  # that somebody is there is written down at most so often
USED_EVERY = 60.0  # and that a key was used


@dataclass(frozen=True, slots=True)
class Visit:
    """A browser that somebody is logged in with; `csrf` is what its pages send back with each change."""

    account: Account
    csrf: str


class Entry(NamedTuple):
    """Who asks for a review: its number is None where there is none, the role where they are not a member."""

    visit: Visit
    review_id: int | None
    role: str | None


class KeyEntry(NamedTuple):
    """Whose program asks for a review."""

    account: Account
    review_id: int
    identity: str
    role: str


# Asked with every request, and made once, which takes longer than the asking.
_IS_THERE = and_(ReviewRow.id == MemberRow.review_id, MemberRow.left_at.is_(None))
_VISIT = (
    select(VisitRow, Reviewer, ReviewRow.id, MemberRow.role, CLOCK)
    .join_from(VisitRow, Reviewer, Reviewer.id == VisitRow.reviewer_id)
    .outerjoin(ReviewRow, ReviewRow.identity == bindparam("identity"))
    .outerjoin(MemberRow, and_(_IS_THERE, MemberRow.reviewer_id == Reviewer.id))
    .where(VisitRow.hash == bindparam("secret"), Reviewer.closed_at.is_(None))
)
_KEY = (
    select(TokenRow, Reviewer, ReviewRow.identity, MemberRow.role)
    .join_from(TokenRow, Reviewer, Reviewer.id == TokenRow.reviewer_id)
    .join(ReviewRow, ReviewRow.id == TokenRow.review_id)
    .join(MemberRow, and_(MemberRow.review_id == ReviewRow.id, MemberRow.reviewer_id == Reviewer.id))
    .where(TokenRow.hash == bindparam("secret"), TokenRow.revoked_at.is_(None))
    .where(Reviewer.closed_at.is_(None), MemberRow.left_at.is_(None))
)


def open_visit(session: Session, account: Reviewer, at: float) -> tuple[str, Visit]:
    """Log an account in, and return the secret of its cookie, which nobody can read again."""
    session.execute(delete(VisitRow).where(or_(VisitRow.ends_at <= at, VisitRow.seen_at <= at - LONGEST_PAUSE)))
    secret, csrf = secrets.token_urlsafe(SECRET_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    row = VisitRow(hash=hash_secret(secret), reviewer_id=account.id, csrf=csrf, made_at=now())
    row.seen_at, row.ends_at = at, at + LONGEST_VISIT
    session.add(row)
    return secret, Visit(shown_account(account), csrf)


def find_visit(session: Session, cookie: str, identity: str) -> tuple[Entry, int | None] | None:
    """Return who has a cookie, with the number of the visit where it is time to :func:`note_seen`; None if nobody."""
    row = session.execute(_VISIT, {"identity": identity, "secret": hash_secret(cookie)}).first()
    if row is None:
        return None
    visit, account, review_id, role, at = row
    if at >= visit.ends_at or at - visit.seen_at >= LONGEST_PAUSE:
        return None
    due = visit.id if abs(at - visit.seen_at) > SEEN_EVERY else None  # abs: the clock may have been set back
    return Entry(Visit(shown_account(account), visit.csrf), review_id, role), due


def note_seen(session: Session, visit_id: int, at: float) -> None:
    """Write down that a visit goes on; it may have ended a moment ago."""
    session.execute(update(VisitRow).where(VisitRow.id == visit_id).values(seen_at=at))


def end_visit(session: Session, cookie: str) -> int | None:
    """End a visit, and return whose it was."""
    ended = delete(VisitRow).where(VisitRow.hash == hash_secret(cookie)).returning(VisitRow.reviewer_id)
    return session.execute(ended).scalar()


def find_key(session: Session, secret: str) -> tuple[KeyEntry, int | None] | None:
    """Return whose key has a secret, with its number where it is time to note that it is used; None if nobody's."""
    row = session.execute(_KEY, {"secret": hash_secret(secret)}).first()
    if row is None:
        return None
    token, account, identity, role = row
    due = token.id if is_older(token.last_used_at, USED_EVERY) else None
    return KeyEntry(shown_account(account), token.review_id, identity, role), due
