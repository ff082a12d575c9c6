"""The entrance of a server: who comes, with which cookie, key or password; each method is one change or one look."""

from __future__ import annotations

from sqlalchemy import Engine

from riffler.errors import LogInRefused, TooManyTries
from riffler.review.database import clock, glancing, writing
from riffler.review.tokens import mark_used
from riffler.team.accounts import hold_account
from riffler.team.acts import record_act
from riffler.team.login import (
    REFUSED,
    WRONG_OLD,
    begin_change,
    begin_log_in,
    finish_change,
    finish_log_in,
    record_failure,
)
from riffler.team.passwords import check_new_password, check_password, hash_password, needs_rehash
from riffler.team.tries import begin_tries, secret_limit
from riffler.team.visits import Entry, KeyEntry, Visit, end_visit, find_key, find_visit, note_seen, open_visit


class Entrance:
    """Lets people and programs in, on any number of servers with the same database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def log_in(self, name: str, password: str, address: str) -> tuple[str, Visit]:
        """Log somebody in who comes from an address; return the secret of the cookie, and the visit."""
        with writing(self._engine) as session:
            attempt = begin_log_in(session, name, address, clock(session))
        is_right = check_password(attempt.hashed, password)
        again = is_right and attempt.hashed is not None and needs_rehash(attempt.hashed)
        rehashed = hash_password(password) if again else None
        with writing(self._engine) as session:
            entered = finish_log_in(session, attempt, rehashed, clock(session)) if is_right else None
            if entered is None:
                record_failure(session, attempt, "log-in failed")
        if entered is None:
            raise LogInRefused(REFUSED)
        return entered

    def enter(self, account_id: int, address: str) -> tuple[str, Visit]:
        """Log somebody in who has just set a password by an invitation."""
        with writing(self._engine) as session:
            row = hold_account(session, account_id)
            if row.closed_at is not None:
                raise LogInRefused(REFUSED)
            record_act(session, "logged in", reviewer_id=row.id, address=address)
            return open_visit(session, row, clock(session))

    def log_out(self, cookie: str) -> None:
        """End a visit; one that has ended already stays so."""
        with writing(self._engine) as session:
            whose = end_visit(session, cookie)
            if whose is not None:
                record_act(session, "logged out", reviewer_id=whose)

    def change_password(self, account_id: int, old: str, new: str, *, keep: str | None = None) -> None:
        """Set a new password, and log out everywhere but where the cookie is kept; the old one must be right."""
        with writing(self._engine) as session:
            name, attempt = begin_change(session, account_id, clock(session))
        is_right = check_password(attempt.hashed, old)
        if is_right:
            check_new_password(name, new)
        hashed = hash_password(new) if is_right else ""
        with writing(self._engine) as session:
            is_changed = is_right and finish_change(session, attempt, hashed, keep)
            if not is_changed:
                record_failure(session, attempt, "password change failed")
        if not is_changed:
            raise LogInRefused(WRONG_OLD)

    def visitor(self, cookie: str) -> Visit | None:
        """Who is logged in with a cookie; None where nobody is."""
        entry = self.visitor_in(cookie, "")
        return None if entry is None else entry.visit

    def visitor_in(self, cookie: str, identity: str) -> Entry | None:
        """Who is logged in with a cookie, and their role in the review with an identity; None where nobody is."""
        with glancing(self._engine) as session:
            found = find_visit(session, cookie, identity)
        if found is None:
            return None
        entry, due = found
        if due is not None:
            with writing(self._engine) as session:
                note_seen(session, due, clock(session))
        return entry

    def token_visitor(self, secret: str) -> KeyEntry | None:
        """Whose program has a key, and for which review; None where nobody's."""
        with glancing(self._engine) as session:
            found = find_key(session, secret)
        if found is None:
            return None
        entry, due = found
        if due is not None:
            with writing(self._engine) as session:
                mark_used(session, due)
        return entry

    def note_wrong_secret(self, address: str) -> int:
        """Count a wrong key or invitation from an address; return for how long it has to wait, 0 if not.

        A right one is never kept waiting: others may send the wrong ones from the same address.
        """
        try:
            with writing(self._engine) as session:
                begin_tries(session, [secret_limit(address)], clock(session))
        except TooManyTries as many:
            return many.seconds
        return 0
