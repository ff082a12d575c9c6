"""Small reviews that the tests share."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from riffler.data.collection import Collection
from riffler.data.collection_reading import collection_from_frame
from riffler.review.remarks import Answer
from riffler.review.settings import ReviewSettings
from riffler.review.store import FileReview, Review, create_review
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


def new_review(folder: Path, settings: ReviewSettings = SETTINGS, n: int = 60) -> FileReview:
    return create_review(folder / "whales.riffler", library(n), settings)


def whole(review: Review, name: str) -> WholeDocument:
    """One document with everything that holds of it."""
    return review.whole_documents([name])[0]


def say(document: str, verdict: str, key: str | None = None, suggestion: int | None = None) -> Answer:
    return Answer(document, f"{document}/{verdict}" if key is None else key, suggestion, verdict=verdict)
