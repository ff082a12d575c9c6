"""Invitations: an address that works once, to make an account, to join a review, or to set a forgotten password.

Nobody gives by an invitation what they could not give otherwise: only an admin lets somebody set the password of an
account that is there, or makes another admin.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session, aliased

from riffler.errors import InputError, UnknownName
from riffler.review.database import now
from riffler.review.names import name_key
from riffler.review.schema import Reviewer, ReviewRow
from riffler.review.schema_team import InvitationRow
from riffler.review.tokens import SECRET_BYTES, hash_secret
from riffler.team.accounts import (
    Account,
    add_account,
    clean_name,
    find_account,
    get_account,
    hold_account,
    lock_accounts,
    shown_account,
)
from riffler.team.acts import record_act
from riffler.team.leaving import end_visits, revoke_resets
from riffler.team.members import OWNER, check_role, raise_role, role_of

DAY, MOST_DAYS = 86_400.0, 365.0
GONE = "This invitation does not work: it was used, revoked, or is too old. Ask for a new one."


@dataclass(frozen=True, slots=True)
class Offer:
    """What an invitation gives."""

    name: str | None = None  # of the account; None where who comes chooses one
    review_id: int | None = None  # that is joined
    role: str | None = None  # in that review
    is_admin: bool = False


@dataclass(frozen=True, slots=True)
class Invitation:
    """What may be shown of an invitation: everything but its secret."""

    id: int
    name: str | None
    review_id: int | None
    review_name: str | None
    role: str | None
    is_admin: bool
    made_by: str  # a name; "" where it was made without an account
    made_at: str
    ends_at: float
    used_at: str | None
    revoked_at: str | None
    is_reset: bool  # it sets the password of an account that is there


def add_invitation(session: Session, offer: Offer, by: int | None, days: float, at: float) -> tuple[Invitation, str]:
    """Make an invitation, and return it with its secret, which nobody can read again."""
    name = None if offer.name is None else clean_name(offer.name)
    if not 0 < days <= MOST_DAYS:
        raise InputError(f"An invitation works for up to {MOST_DAYS:.0f} days, got {days}.")
    _check_offer(session, offer, by)
    secret = secrets.token_urlsafe(SECRET_BYTES)
    row = InvitationRow(hash=hash_secret(secret), name=name, review_id=offer.review_id, role=offer.role, made_by=by)
    row.is_admin, row.made_at, row.ends_at = offer.is_admin, now(), at + days * DAY
    session.add(row)
    session.flush()
    given = {"invitation": row.id, "name": name, "role": row.role, "is_admin": row.is_admin}
    record_act(session, "invited", review_id=row.review_id, reviewer_id=by, **given)
    return _list(session, _ALL.where(InvitationRow.id == row.id))[0], secret


def find_invitation(session: Session, secret: str, at: float) -> Invitation | None:
    """Return the invitation with a secret, if it still works."""
    found = _list(session, _ALL.where(InvitationRow.hash == hash_secret(secret), *_works(at)))
    return found[0] if found else None


def list_invitations(session: Session, review_id: int | None) -> list[Invitation]:
    """Return all invitations to a review, or all there are for None, the latest first."""
    return _list(session, _ALL if review_id is None else _ALL.where(InvitationRow.review_id == review_id))


def revoke_invitation(session: Session, invitation_id: int, review_id: int | None, by: int | None) -> None:
    """Let an invitation work no more; with a review only one to that."""
    row = session.get(InvitationRow, invitation_id, with_for_update=True)
    if row is None or review_id not in (None, row.review_id):
        raise UnknownName(f"There is no invitation with the number {invitation_id}.")
    if row.used_at is None and row.revoked_at is None:
        row.revoked_at = now()
        record_act(session, "invitation revoked", review_id=row.review_id, reviewer_id=by, invitation=row.id)


def accept_invitation(session: Session, secret: str, name: str, hashed: str, at: float) -> Account:
    """Make the account of who comes, or set its password where the invitation names one that is there."""
    lock_accounts(session)
    row = _use(session, secret, at)
    account = None if row.name is None else find_account(session, row.name)
    if account is None:
        account = add_account(session, row.name or name, hashed, is_admin=False, by=None)
    else:
        _set_password(session, row, account.id, hashed)
    return _give(session, row, account)


def join_by_invitation(session: Session, secret: str, account_id: int, at: float) -> Account:
    """Give what an invitation offers to somebody who is logged in."""
    lock_accounts(session)
    row, account = _use(session, secret, at), hold_account(session, account_id)
    if row.name is not None and name_key(row.name) != name_key(account.name):
        raise InputError(f"This invitation is for {row.name}, not for {account.name}. Log out, then open it again.")
    if row.review_id is None and not row.is_admin:
        raise InputError("This invitation is for a new account or password. Log out, then open it again.")
    return _give(session, row, account)


_MAKER = aliased(Reviewer)
_ALL = (
    select(InvitationRow, ReviewRow.name, _MAKER.name)
    .outerjoin(ReviewRow, ReviewRow.id == InvitationRow.review_id)
    .outerjoin(_MAKER, _MAKER.id == InvitationRow.made_by)
    .order_by(InvitationRow.id.desc())
)


def _list(session: Session, query: Select[InvitationRow, str, str]) -> list[Invitation]:
    known = {name_key(name) for name in session.scalars(select(Reviewer.name))}
    return [
        Invitation(
            id=row.id,
            name=row.name,
            review_id=row.review_id,
            review_name=review,
            role=row.role,
            is_admin=bool(row.is_admin),
            made_by=maker or "",
            made_at=row.made_at,
            ends_at=row.ends_at,
            used_at=row.used_at,
            revoked_at=row.revoked_at,
            is_reset=row.name is not None and name_key(row.name) in known,
        )
        for row, review, maker in session.execute(query)
    ]


def _works(at: float) -> tuple[ColumnElement[bool], ...]:
    return (InvitationRow.used_at.is_(None), InvitationRow.revoked_at.is_(None), InvitationRow.ends_at > at)


def _use(session: Session, secret: str, at: float) -> InvitationRow:
    """Use an invitation up; of two who come at once the second waits here, and finds that it was used."""
    row = session.scalar(
        select(InvitationRow).where(InvitationRow.hash == hash_secret(secret), *_works(at)).with_for_update()
    )
    if row is None:
        raise InputError(GONE)
    row.used_at = now()
    return row


def _give(session: Session, row: InvitationRow, account: Reviewer) -> Account:
    if account.closed_at is not None:
        raise InputError(f"The account of {account.name} is closed. Ask an admin to open it again.")
    record_act(session, "invitation used", review_id=row.review_id, reviewer_id=account.id, invitation=row.id)
    if row.is_admin and row.made_by is not None and not get_account(session, row.made_by).is_admin:
        raise InputError("Who made this invitation is no admin any more. Ask one for another.")
    if row.is_admin and not account.is_admin:
        account.is_admin = True
        record_act(session, "admin changed", reviewer_id=row.made_by, account=account.name, is_admin=True)
    if row.review_id is not None and row.role is not None:
        raise_role(session, row.review_id, account.id, row.role, row.made_by)
    return shown_account(account)


def _set_password(session: Session, row: InvitationRow, account_id: int, hashed: str) -> None:
    account = hold_account(session, account_id)
    if row.made_by is not None and not get_account(session, row.made_by).is_admin:
        raise InputError(f"There is an account called {account.name!r} now. Log in, then open the invitation again.")
    account.password = hashed
    end_visits(session, account.id)
    revoke_resets(session, account.name)
    record_act(session, "password set", reviewer_id=account.id, invitation=row.id)


def _check_offer(session: Session, offer: Offer, by: int | None) -> None:
    """Refuse what the maker of an invitation could not give otherwise."""
    if (offer.review_id is None) != (offer.role is None):
        raise InputError("An invitation to a review says which review and which role. Give both, or neither.")
    if offer.role is not None:
        check_role(offer.role)
    if offer.review_id is not None and session.get(ReviewRow, offer.review_id) is None:
        raise UnknownName(f"There is no review with the number {offer.review_id}.")
    if by is None or ((maker := get_account(session, by)).is_admin and maker.closed_at is None):
        return
    if offer.review_id is None or offer.is_admin or role_of(session, offer.review_id, by) != OWNER:
        raise InputError("Only an owner invites to a review, and only an admin to more. Ask one of them.")
    there = None if offer.name is None else find_account(session, offer.name)
    if there is not None and there.password is None:
        raise InputError(
            f"{there.name!r} is somebody who came with a review from elsewhere, and has no password yet. An admin lets "
            "them in, on the page People; then add them as a member."
        )
    if there is not None:
        raise InputError(f"There is an account called {there.name!r} already. Add it to the review as a member.")
