"""Search in the texts of a review: SQLite's FTS5 behind two functions, so that another database can have its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from riffler.features.stop_words import ENGLISH

TITLE_WEIGHT = 4.0  # a word in a title counts as much as this many in an abstract
MARKS = ("\x02", "\x03")  # around a word that was found; no text has them on purpose
EXCERPT_WORDS = 32
WORDS = re.compile(r'"([^"]*)"|(\S+)')


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    asked : the one that stands for it, which may be itself
    excerpt : where the words are: pieces of text, and whether each was looked for
    """

    document: str
    title: str
    asked: str
    excerpt: tuple[tuple[str, bool], ...]


def index_stratum(session: Session, stratum_id: int) -> None:
    """Make the texts of a stratum findable."""
    session.execute(
        text(
            "INSERT INTO documents_text (rowid, title, abstract) "
            "SELECT id, title, abstract FROM documents WHERE stratum_id = :stratum"
        ),
        {"stratum": stratum_id},
    )


def find_texts(session: Session, review_id: int, words: str, n: int, offset: int) -> list[Hit]:
    """Return the documents that have all the words, the best first; a phrase stands in double quotes."""
    wanted = as_match(words)
    if not wanted:
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
            "wanted": wanted, "review": review_id, "n": n, "offset": offset,
            "open": MARKS[0], "close": MARKS[1], "length": EXCERPT_WORDS,
        },
    )  # fmt: skip
    return [Hit(name, title, asked, as_pieces(excerpt)) for name, title, asked, excerpt in rows]


def find_any(session: Session, review_id: int, words: str, n: int) -> list[str]:
    """Return the ids of documents that have some of the words, the best first; no twins."""
    parts = [f'"{part}"' for part in re.findall(r"\w+", words) if part.lower() not in ENGLISH]
    if not parts:
        return []
    rows = session.execute(
        text(
            "SELECT documents.name FROM documents_text JOIN documents ON documents.id = documents_text.rowid "
            "WHERE documents_text MATCH :wanted AND documents.review_id = :review AND documents.twin_of IS NULL "
            f"ORDER BY bm25(documents_text, {TITLE_WEIGHT}, 1.0), documents.id LIMIT :n"
        ),
        {"wanted": " OR ".join(parts), "review": review_id, "n": n},
    )
    return [str(name) for (name,) in rows]


def as_pieces(excerpt: str) -> tuple[tuple[str, bool], ...]:
    """Cut a marked text into pieces, and say which were looked for.

    >>> as_pieces("deep \x02snow\x03 melts")
    (('deep ', False), ('snow', True), (' melts', False))
    """
    pieces = re.split("[\x02\x03]", excerpt)
    return tuple((piece, at % 2 == 1) for at, piece in enumerate(pieces) if piece)


def as_match(words: str) -> str:
    """Write words as a query of FTS5, in which nothing that a person types is an operator; the last may be unfinished.

    >>> as_match('deep "snow melts" alp')
    '"deep" "snow melts" "alp"*'
    >>> as_match('AND ( "'), as_match("***")
    ('"AND"', '')
    """
    found = [(phrase or word).replace('"', " ").replace("\0", " ") for phrase, word in WORDS.findall(words)]
    parts = [f'"{part}"' for part in found if any(letter.isalnum() for letter in part)]
    unfinished = "*" if parts and not words.rstrip().endswith('"') else ""
    return " ".join(parts) + unfinished
