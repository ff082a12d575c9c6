"""Search in the texts of a review by tsvector of PostgreSQL, whatever its locale is: words are folded before they come.

Nothing is parsed there: texts and queries arrive as quoted words, so that nothing in them means anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from riffler.review.fulltext_excerpt import excerpt_of
from riffler.review.fulltext_folding import words_of
from riffler.review.fulltext_query import TITLE_WEIGHT, Hit, Wanted
from riffler.review.schema import Document, Stratum

BLOCK = 2000
LONGEST_TEXT = 200_000  # characters that are looked at; a tsvector has no room for more than a megabyte
WEIGHTS = [1 / TITLE_WEIGHT, 0.0, 0.0, 1.0]  # of D, which is an abstract, C, B, and A, which is a title
BY_LENGTH = 1  # long texts have more of everything
MOST_WEIGHED = 3000
PICKED = (
    "SELECT documents.id FROM documents_text JOIN documents ON documents.id = documents_text.document_id "
    "WHERE documents_text.words @@ CAST(:{query} AS tsquery) AND documents.review_id = :review "
    "AND documents.twin_of IS NULL LIMIT :most"
)


def index_stratum(session: Session, stratum_id: int, first: int = 0) -> None:
    """Make the texts of a stratum findable, of its documents from a number on."""
    rows = (
        select(Document.id, Document.title, Document.abstract)
        .where(Document.stratum_id == stratum_id, Document.id >= first)
        .order_by(Document.id)
        .execution_options(yield_per=BLOCK)
    )
    add = text("INSERT INTO documents_text (document_id, words) VALUES (:document, CAST(:words AS tsvector))")
    for part in session.execute(rows).partitions():
        session.execute(add, [{"document": number, "words": as_tsvector(*texts)} for number, *texts in part])


def find_texts(session: Session, review_id: int, wanted: Wanted, n: int, offset: int) -> list[Hit]:
    """Return the documents that have everything wanted, the best first."""
    phrases = _phrases(wanted.parts)
    if not phrases:
        return []
    rows = session.execute(
        text(
            "SELECT documents.name, documents.title, heads.name, documents.abstract FROM documents_text "
            "JOIN documents ON documents.id = documents_text.document_id "
            "JOIN documents AS heads ON heads.id = coalesce(documents.twin_of, documents.id) "
            "WHERE documents_text.words @@ CAST(:wanted AS tsquery) AND documents.review_id = :review "
            "ORDER BY ts_rank(CAST(:weights AS real[]), documents_text.words, CAST(:wanted AS tsquery), :by_length) "
            "DESC, documents.id LIMIT :n OFFSET :offset"
        ),
        {
            "wanted": as_tsquery(phrases, wanted.unfinished), "review": review_id, "n": n, "offset": offset,
            "weights": WEIGHTS, "by_length": BY_LENGTH,
        },
    )  # fmt: skip
    return [
        Hit(name, title, asked, excerpt_of(abstract, phrases, wanted.unfinished))
        for name, title, asked, abstract in rows
    ]


def find_any(session: Session, review_id: int, words: Sequence[str], n: int) -> list[str]:
    """Return the ids of documents that have some of the words, the best first; no twins.

    ts_rank takes all words for equally telling; here the rank is BM25, as that of SQLite, with its usual 1.2 and 0.75.
    To weigh a document takes long, so that of very many only some are: those with all the words, and others.
    """
    wanted = list(dict.fromkeys(word for part in words for word in words_of(part)))
    if not wanted:
        return []
    rows = session.execute(
        text(
            f"WITH picked AS (({PICKED.format(query='every')}) UNION ({PICKED.format(query='some')})), "
            "found AS MATERIALIZED (SELECT documents.id, documents.name, documents_text.words, "
            "length(documents_text.words) AS n_words FROM picked JOIN documents USING (id) "
            "JOIN documents_text ON documents.id = documents_text.document_id), "
            "counted AS (SELECT found.id, found.name, "
            "cardinality(weights) + (:title_weight - 1) * cardinality(array_positions(weights, 'A')) AS times, "
            "1.2 * (0.25 + 0.75 * n_words / avg(n_words) OVER ()) AS many, "
            "ln(1 + CAST(:n_documents AS float) / count(*) OVER (PARTITION BY lexeme)) AS telling "
            "FROM found CROSS JOIN LATERAL unnest(found.words) WHERE lexeme = ANY(:wanted)) "
            "SELECT name FROM counted GROUP BY id, name "
            "ORDER BY sum(telling * times / (times + many)) DESC, id LIMIT :n"
        ),
        {
            "some": " | ".join(as_tsquery([[word]], unfinished=False) for word in wanted), "wanted": wanted,
            "every": as_tsquery([[word] for word in wanted], unfinished=False), "most": MOST_WEIGHED,
            "review": review_id, "n": n, "n_documents": _n_asked(session, review_id), "title_weight": TITLE_WEIGHT,
        },
    )  # fmt: skip
    return [str(name) for (name,) in rows]


def as_tsvector(title: str, abstract: str) -> str:
    """Write the words of a document with their places; a gap between its parts, so that no phrase is in both.

    >>> as_tsvector("On gulls", "Gulls fly")
    "'on':1A 'gulls':2A 'gulls':4 'fly':5"
    """
    heading = _first_words(title, LONGEST_TEXT)
    body = _first_words(abstract, LONGEST_TEXT - sum(map(len, heading)) - len(heading))
    places = [f"'{word}':{at}A" for at, word in enumerate(heading, 1)]
    return " ".join(places + [f"'{word}':{at}" for at, word in enumerate(body, len(heading) + 2)])


def as_tsquery(phrases: Sequence[Sequence[str]], unfinished: bool) -> str:
    """Write phrases as a query for all of them.

    >>> as_tsquery([["deep"], ["snow", "mel"]], unfinished=True)
    "('deep') & ('snow' <-> 'mel':*)"
    """
    written = ["(" + " <-> ".join(f"'{word}'" for word in phrase) for phrase in phrases]
    return ") & ".join(written) + (":*)" if unfinished else ")")


def _n_asked(session: Session, review_id: int) -> int:
    return session.scalar(select(func.sum(Stratum.n_asked)).where(Stratum.review_id == review_id)) or 0


def _phrases(parts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of each part; a part such as "anti-viral" is a phrase of two."""
    return [phrase for part in parts if (phrase := tuple(words_of(part)))]


def _first_words(part: str, room: int) -> list[str]:
    """Return the words of a text as far as there is room for them, each with a blank."""
    words = words_of(part[: max(0, room)])  # some letters become several when they are folded
    return [word for word, used in zip(words, accumulate(len(word) + 1 for word in words), strict=True) if used <= room]
