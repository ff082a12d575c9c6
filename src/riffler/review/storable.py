"""Texts as a database can hold them: PostgreSQL has no room for the character zero, SQLite keeps it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from riffler.review.database import POSTGRES

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def storable(session: Session, text: str) -> str:
    """Return a text as the database of a session keeps it."""
    return without_nul(text) if session.get_bind().dialect.name == POSTGRES else text


def without_nul(text: str) -> str:
    r"""Return a text with the sign for an unknown character in place of each zero.

    >>> without_nul("a\0b")
    'a\ufffdb'
    """
    return text.replace("\0", REPLACEMENT)
