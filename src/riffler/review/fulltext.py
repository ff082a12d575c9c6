"""Search in the texts of a review: two doors, one to make texts findable and one to find them, on either database."""

from __future__ import annotations

from sqlalchemy.orm import Session

from riffler.review import fulltext_postgres, fulltext_sqlite
from riffler.review.database import POSTGRES
from riffler.review.fulltext_query import Hit, Wanted, telling_words

__all__ = ["Hit", "find_any", "find_texts", "index_stratum"]


def index_stratum(session: Session, stratum_id: int, first: int = 0) -> None:
    """Make the texts of a stratum findable, of its documents from a number on."""
    if _is_postgres(session):
        fulltext_postgres.index_stratum(session, stratum_id, first)
    else:
        fulltext_sqlite.index_stratum(session, stratum_id, first)


def find_texts(session: Session, review_id: int, words: str, n: int, offset: int) -> list[Hit]:
    """Return the documents that have all the words, the best first; a phrase stands in double quotes."""
    find = fulltext_postgres.find_texts if _is_postgres(session) else fulltext_sqlite.find_texts
    return find(session, review_id, Wanted.read(words), n, offset)


def find_any(session: Session, review_id: int, words: str, n: int) -> list[str]:
    """Return the ids of documents that have some of the words, the best first; no twins."""
    find = fulltext_postgres.find_any if _is_postgres(session) else fulltext_sqlite.find_any
    return find(session, review_id, telling_words(words), n)


def _is_postgres(session: Session) -> bool:
    return session.get_bind().dialect.name == POSTGRES
