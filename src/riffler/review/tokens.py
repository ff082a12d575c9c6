"""Keys for programs: shown once when they are made, kept as a hash, revoked for good."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from riffler.errors import InputError, UnknownName
from riffler.review.database import is_older, now
from riffler.review.schema import TokenRow

SECRET_BYTES = 32
USE_NOTED_SECONDS = 60.0  # when a key was last used is written down at most so often


@dataclass(frozen=True, slots=True)
class Token:
    """What may be shown of a key: everything but its secret."""

    id: int
    name: str
    made_at: str
    last_used_at: str | None
    revoked_at: str | None
    reviewer_id: int | None = None  # whose; none in a review of one reader

    @property
    def is_noted(self) -> bool:
        """Whether it was written down lately that it is used."""
        return not is_older(self.last_used_at, USE_NOTED_SECONDS)


def make_token(session: Session, review_id: int, name: str, reviewer_id: int | None = None) -> tuple[Token, str]:
    """Make a key, on a server that of an account, and return it with its secret, which nobody can read again."""
    if not name.strip():
        raise InputError("A token needs a name, got none. Say what it is for, such as 'my script'.")
    secret = secrets.token_urlsafe(SECRET_BYTES)
    row = TokenRow(review_id=review_id, reviewer_id=reviewer_id, name=name, hash=hash_secret(secret), made_at=now())
    session.add(row)
    session.flush()
    return _shown(row), secret


def find_token(session: Session, review_id: int, secret: str) -> Token | None:
    """Return the key with this secret, unless there is none, it is that of an account, or it was revoked.

    It is looked for by its hash: how long that takes says nothing about the secret. The comparison is constant in time
    all the same.
    """
    wanted = hash_secret(secret)
    nobodys = (TokenRow.review_id == review_id, TokenRow.reviewer_id.is_(None))
    row = session.scalars(select(TokenRow).where(TokenRow.hash == wanted, *nobodys)).first()
    if row is None or row.revoked_at is not None or not hmac.compare_digest(row.hash, wanted):
        return None
    return _shown(row)


def mark_used(session: Session, token_id: int) -> None:
    """Write down that a key was used now."""
    session.get_one(TokenRow, token_id).last_used_at = now()


def list_tokens(session: Session, review_id: int, reviewer_id: int | None = None) -> list[Token]:
    """Return all keys, or those of an account, revoked ones too, the first made first."""
    query = select(TokenRow).where(TokenRow.review_id == review_id).order_by(TokenRow.id)
    if reviewer_id is not None:
        query = query.where(TokenRow.reviewer_id == reviewer_id)
    return [_shown(row) for row in session.scalars(query)]


def revoke_token(session: Session, review_id: int, token_id: int, reviewer_id: int | None = None) -> None:
    """Let a key open nothing from now on; one that was revoked before stays so. With an account only one of its own."""
    row = session.get(TokenRow, token_id)
    if row is None or row.review_id != review_id or reviewer_id not in (None, row.reviewer_id):
        raise UnknownName(f"The review has no token with the number {token_id}.")
    if row.revoked_at is None:
        row.revoked_at = now()


def hash_secret(secret: str) -> str:
    """Return what is kept of a secret; one of so many random bytes needs no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _shown(row: TokenRow) -> Token:
    return Token(row.id, row.name, row.made_at, row.last_used_at, row.revoked_at, row.reviewer_id)
