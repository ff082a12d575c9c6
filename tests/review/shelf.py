"""Collections in a database that several reviews share."""

from __future__ import annotations

from uuid import uuid4

import polars as pl
from sqlalchemy import Engine

from riffler.data.collection import Collection
from riffler.data.collection_reading import collection_from_frame
from riffler.review.database import now, writing
from riffler.review.documents import add_stratum
from riffler.review.fulltext import index_stratum
from riffler.review.schema import ReviewRow


def new_review_row(engine: Engine) -> int:
    """Make a review without documents, and return its number."""
    with writing(engine) as session:
        row = ReviewRow(name="whales", settings={}, made_at=now(), made_with="", identity=str(uuid4()))
        session.add(row)
        session.flush()
        return row.id


def shelve(engine: Engine, collection: Collection, review_id: int | None = None) -> int:
    """Put a collection into a review, a new one if none is named, and return the number of the review."""
    number = new_review_row(engine) if review_id is None else review_id
    with writing(engine) as session:
        index_stratum(session, add_stratum(session, number, collection, None, {}))
    return number


def texts(**titles_and_abstracts: tuple[str, str]) -> Collection:
    """Make a collection of documents by their ids: the title and the abstract of each."""
    rows = titles_and_abstracts.values()
    frame = {
        "id": list(titles_and_abstracts),
        "title": [title for title, _ in rows],
        "abstract": [abstract for _, abstract in rows],
    }
    return collection_from_frame(pl.DataFrame(frame))
