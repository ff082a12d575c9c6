"""Search in the texts of a review by FTS5 of SQLite."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from riffler.review.fulltext_query import EXCERPT_WORDS, TITLE_WEIGHT, Hit, Pieces, Wanted

MARKS = ("\x02", "\x03")  # around a word that was found; no text has them on purpose


def index_stratum(session: Session, stratum_id: int, first: int = 0) -> None:
    """Make the texts of a stratum findable, of its documents from a number on."""
    session.execute(
        text(
            "INSERT INTO documents_text (rowid, title, abstract) "
            "SELECT id, title, abstract FROM documents WHERE stratum_id = :stratum AND id >= :first"
        ),
        {"stratum": stratum_id, "first": first},
    )


def find_texts(session: Session, review_id: int, wanted: Wanted, n: int, offset: int) -> list[Hit]:
    """Return the documents that have everything wanted, the best first."""
    if not wanted.parts:
        return []
    rows = session.execute(
        text(
            "SELECT documents.name, documents.title, heads.name, "
            "snippet(documents_text, 1, :open, :close, '…', :length) FROM documents_text "
            "JOIN documents ON documents.id = documents_text.rowid "
            "JOIN documents AS heads ON heads.id = coalesce(documents.twin_of, documents.id) "
            "WHERE documents_text MATCH :wanted AND documents.review_id = :review "
            f"ORDER BY bm25(documents_text, {TITLE_WEIGHT}, 1.0), documents.id LIMIT :n OFFSET :offset"
        ),
        {
            "wanted": as_match(wanted), "review": review_id, "n": n, "offset": offset,
            "open": MARKS[0], "close": MARKS[1], "length": EXCERPT_WORDS,
        },
    )  # fmt: skip
    return [Hit(name, title, asked, as_pieces(excerpt)) for name, title, asked, excerpt in rows]


def find_any(session: Session, review_id: int, words: Sequence[str], n: int) -> list[str]:
    """Return the ids of documents that have some of the words, the best first; no twins."""
    if not words:
        return []
    rows = session.execute(
        text(
            "SELECT documents.name FROM documents_text JOIN documents ON documents.id = documents_text.rowid "
            "WHERE documents_text MATCH :wanted AND documents.review_id = :review AND documents.twin_of IS NULL "
            f"ORDER BY bm25(documents_text, {TITLE_WEIGHT}, 1.0), documents.id LIMIT :n"
        ),
        {"wanted": " OR ".join(f'"{word}"' for word in words), "review": review_id, "n": n},
    )
    return [str(name) for (name,) in rows]


def as_match(wanted: Wanted) -> str:
    """Write what is wanted as a query of FTS5.

    >>> as_match(Wanted(("deep", "snow melts", "alp"), unfinished=True))
    '"deep" "snow melts" "alp"*'
    """
    return " ".join(f'"{part}"' for part in wanted.parts) + "*" * wanted.unfinished


def as_pieces(excerpt: str) -> Pieces:
    """Cut a marked text into pieces, and say which were looked for.

    >>> as_pieces("deep \x02snow\x03 melts")
    (('deep ', False), ('snow', True), (' melts', False))
    """
    pieces = re.split("[\x02\x03]", excerpt)
    return tuple((piece, at % 2 == 1) for at, piece in enumerate(pieces) if piece)
