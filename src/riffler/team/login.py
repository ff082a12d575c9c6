"""Logging in: a name and a password open an account; how often they may be wrong is limited.

Each has a first part, then the slow look at the password outside of any transaction, then a second part.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from riffler.review.names import name_key
from riffler.review.schema import Reviewer
from riffler.team.accounts import find_account, get_account, hold_account
from riffler.team.acts import record_act
from riffler.team.leaving import end_visits, revoke_resets
from riffler.team.tries import Limit, begin_tries, forgive_tries, log_in_limits
from riffler.team.visits import Visit, open_visit

REFUSED = "The name or the password is wrong. Try again, or ask an admin for a new password."
WRONG_OLD = "The old password is wrong. Try again; who has forgotten it asks an admin for a new one."


@dataclass(frozen=True, slots=True)
class Attempt:
    """Somebody who says that they are the owner of an account; there may be no such account."""

    account_id: int | None
    hashed: str | None  # the password of the account
    address: str
    tries: list[int]
    limit: Limit  # of this name from this address


def begin_log_in(session: Session, name: str, address: str, at: float) -> Attempt:
    """Count a try to log in; with too many of them the caller has to wait."""
    limits = log_in_limits(name_key(name), address)
    tries = begin_tries(session, limits, at)
    row = find_account(session, name)
    if row is None:
        return Attempt(None, None, address, tries, limits[0])
    return Attempt(row.id, row.password, address, tries, limits[0])


def begin_change(session: Session, account_id: int, at: float) -> tuple[str, Attempt]:
    """Count a try to change a password, wherever it comes from; return the name of the account with it."""
    row = get_account(session, account_id)
    both, _, of_name = log_in_limits(name_key(row.name), "")
    return row.name, Attempt(row.id, row.password, "", begin_tries(session, (both, of_name), at), both)


def finish_log_in(session: Session, attempt: Attempt, rehashed: str | None, at: float) -> tuple[str, Visit] | None:
    """Log in who gave the right password; None where the account is closed, or has another password by now."""
    row = _unchanged(session, attempt)
    if row is None:
        return None
    row.password = rehashed or row.password
    forgive_tries(session, attempt.tries, attempt.limit)
    record_act(session, "logged in", reviewer_id=row.id, address=attempt.address)
    return open_visit(session, row, at)


def finish_change(session: Session, attempt: Attempt, hashed: str, keep: str | None) -> bool:
    """Set a new password, and log the account out everywhere but where the cookie is kept."""
    row = _unchanged(session, attempt)
    if row is None:
        return False
    row.password = hashed
    forgive_tries(session, attempt.tries, attempt.limit)
    end_visits(session, row.id, keep)
    revoke_resets(session, row.name)
    record_act(session, "password changed", reviewer_id=row.id)
    return True


def record_failure(session: Session, attempt: Attempt, act: str) -> None:
    """Write down that a password was wrong; a name that is unknown is not kept: it may be a password."""
    record_act(session, act, reviewer_id=attempt.account_id, address=attempt.address)


def _unchanged(session: Session, attempt: Attempt) -> Reviewer | None:
    """Return the account as it was when its password was looked at, for nobody else to change meanwhile."""
    row = None if attempt.account_id is None else hold_account(session, attempt.account_id)
    return None if row is None or row.closed_at is not None or row.password != attempt.hashed else row
