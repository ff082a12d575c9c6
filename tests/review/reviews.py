"""Small reviews that the tests share: in files, or where a test says so in a database of PostgreSQL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import polars as pl
from sqlalchemy import Engine

from riffler.data.collection import Collection
from riffler.data.collection_reading import collection_from_frame
from riffler.data.duplicates import Duplicates
from riffler.review import creating, store
from riffler.review.database import writing
from riffler.review.remarks import Answer
from riffler.review.settings import ReviewSettings
from riffler.review.store import FileReview, Review
from riffler.review.whole_documents import WholeDocument

SETTINGS = ReviewSettings(policy="greedy", description="whale", stopping="control", target=0.8, seed=1)
WHALES = ("whale", "krill", "fin", "song")
TRADES = ("market", "bond", "price", "stock")


def library(n: int = 60, prefix: str = "d") -> Collection:
    """Short texts; every fifth is about whales."""
    titles = [
        f"{(WHALES if is_whale(row) else TRADES)[row % 4]} {(WHALES if is_whale(row) else TRADES)[row // 4 % 4]} {row}"
        for row in range(n)
    ]
    frame = pl.DataFrame({"id": [f"{prefix}{row}" for row in range(n)], "title": titles, "year": range(1950, 1950 + n)})
    return collection_from_frame(frame)


def is_whale(row: int) -> bool:
    return row % 5 == 0


def verdict_on(name: str) -> str:
    return "relevant" if is_whale(int(name[1:])) else "irrelevant"


class ServerReview(FileReview):
    """A review on a server that is opened by a path, as those in files are, so that the same tests can use it."""

    places: ClassVar[dict[Path, int]] = {}
    engine: ClassVar[Engine | None] = None  # of the database where reviews are made now; None makes files

    def __init__(self, engine: Engine, path: Path) -> None:
        self.path = path
        Review.__init__(self, engine, self.places[path])

    def close(self) -> None:
        """Leave the connections to the other reviews."""

    def backup(self, path: str | os.PathLike[str]) -> None:
        Review.backup(self, path)


def create_review(
    path: Path,
    collection: Collection,
    settings: ReviewSettings = ReviewSettings(),  # noqa: B008 - frozen
    *,
    duplicates: Duplicates | None = None,
) -> FileReview:
    """Make a review where the tests make them now."""
    engine = ServerReview.engine
    if engine is None:
        return creating.create_review(path, collection, settings, duplicates=duplicates)
    with writing(engine) as session:
        ServerReview.places[path] = creating.add_review(session, path.stem, settings)
    made = ServerReview(engine, path)
    made.add_documents(collection, duplicates=duplicates)
    return made


def open_review(path: Path) -> FileReview:
    """Open a review that was made by these functions, or a file."""
    engine = ServerReview.engine
    return store.open_review(path) if engine is None or path.exists() else ServerReview(engine, path)


def new_review(folder: Path, settings: ReviewSettings = SETTINGS, n: int = 60) -> FileReview:
    return create_review(folder / "whales.riffler", library(n), settings)


def whole(review: Review, name: str) -> WholeDocument:
    """One document with everything that holds of it."""
    return review.whole_documents([name])[0]


def say(document: str, verdict: str, key: str | None = None, suggestion: int | None = None) -> Answer:
    return Answer(document, f"{document}/{verdict}" if key is None else key, suggestion, verdict=verdict)
