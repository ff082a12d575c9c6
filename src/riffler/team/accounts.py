"""Accounts: the people that a server knows by name, and who of them looks after it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from riffler.errors import InputError, UnknownName
from riffler.review.database import lock_review, now
from riffler.review.names import name_key
from riffler.review.schema import Reviewer
from riffler.review.schema_team import MemberRow
from riffler.team.acts import record_act
from riffler.team.leaving import leave_server, revoke_invitations

LONGEST_NAME = 100
ACCOUNTS = 0  # the lock of all accounts; no review has this number


@dataclass(frozen=True, slots=True)
class Account:
    """What may be shown of an account: everything but its password."""

    id: int
    name: str
    is_admin: bool
    closed_at: str | None
    joined_at: str
    can_log_in: bool


def shown_account(row: Reviewer) -> Account:
    """Return what may be shown of an account."""
    can_log_in = row.password is not None and row.closed_at is None
    return Account(row.id, row.name, bool(row.is_admin), row.closed_at, row.joined_at, can_log_in)


def clean_name(name: str) -> str:
    """Return a name as it is kept, or refuse it.

    >>> clean_name(" Anna ")
    'Anna'
    """
    cleaned = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(cleaned) <= LONGEST_NAME:
        raise InputError(f"A name has 1 to {LONGEST_NAME} characters, got {len(cleaned)}. Take another one.")
    if not cleaned.isprintable():
        raise InputError(f"A name has no characters that cannot be seen, got {cleaned!r}. Take another one.")
    return cleaned


def lock_accounts(session: Session) -> None:
    """Wait until nobody else changes who there is, until the transaction ends; after the locks of reviews, if any."""
    lock_review(session, ACCOUNTS)


def find_account(session: Session, name: str) -> Reviewer | None:
    """Return the account of a name; all are looked at, because databases differ in what they take for small letters."""
    wanted = name_key(name)
    found = next(
        (id for id, has in session.execute(select(Reviewer.id, Reviewer.name)) if name_key(has) == wanted), None
    )
    return None if found is None else session.get_one(Reviewer, found)


def get_account(session: Session, account_id: int) -> Reviewer:
    """Return the account of a number."""
    return _there(session.get(Reviewer, account_id), account_id)


def hold_account(session: Session, account_id: int) -> Reviewer:
    """Return an account that nobody else changes until the transaction ends."""
    mine = select(Reviewer).where(Reviewer.id == account_id).with_for_update(key_share=True)
    return _there(session.scalar(mine.execution_options(populate_existing=True)), account_id)


def list_accounts(session: Session) -> list[Account]:
    """Return all accounts, closed ones too, the first first."""
    return [shown_account(row) for row in session.scalars(select(Reviewer).order_by(Reviewer.id))]


def add_account(session: Session, name: str, hashed: str, *, is_admin: bool, by: int | None) -> Reviewer:
    """Add an account; its name must be new."""
    cleaned = clean_name(name)
    lock_accounts(session)
    if (other := find_account(session, cleaned)) is not None:
        raise InputError(f"There is an account called {other.name!r} already. Take another name.")
    row = Reviewer(name=cleaned, joined_at=now(), password=hashed, is_admin=is_admin)
    session.add(row)
    session.flush()
    record_act(session, "account made", reviewer_id=by, account=cleaned, is_admin=is_admin)
    return row


def close_account(session: Session, account_id: int, by: int | None) -> None:
    """Let an account in no more; what it said stays, what it holds goes back."""
    joined = select(MemberRow.review_id).where(MemberRow.reviewer_id == account_id, MemberRow.left_at.is_(None))
    for review_id in session.scalars(joined.order_by(MemberRow.review_id)).all():
        lock_review(session, review_id)
    lock_accounts(session)
    row = hold_account(session, account_id)
    if row.closed_at is not None:
        return
    _keep_an_admin(session, row)
    row.closed_at = now()
    leave_server(session, account_id)
    record_act(session, "account closed", reviewer_id=by, account=row.name)


def reopen_account(session: Session, account_id: int, by: int | None) -> None:
    """Let a closed account in again; its keys stay revoked."""
    row = hold_account(session, account_id)
    if row.closed_at is not None:
        row.closed_at = None
        record_act(session, "account reopened", reviewer_id=by, account=row.name)


def set_admin(session: Session, account_id: int, is_admin: bool, by: int | None) -> None:
    """Let an account look after the server, or no more."""
    lock_accounts(session)
    row = hold_account(session, account_id)
    if bool(row.is_admin) == is_admin:
        return
    if not is_admin:
        _keep_an_admin(session, row)
        revoke_invitations(session, account_id)
    row.is_admin = is_admin
    record_act(session, "admin changed", reviewer_id=by, account=row.name, is_admin=is_admin)


def _there(row: Reviewer | None, account_id: int) -> Reviewer:
    if row is None:
        raise UnknownName(f"There is no account with the number {account_id}.")
    return row


def _keep_an_admin(session: Session, leaving: Reviewer) -> None:
    others = (
        Reviewer.is_admin,
        Reviewer.closed_at.is_(None),
        Reviewer.password.is_not(None),
        Reviewer.id != leaving.id,
    )
    if leaving.is_admin and not session.scalar(select(func.count()).where(*others)):
        raise InputError(f"{leaving.name} is the last admin of the server. Make somebody else an admin first.")
