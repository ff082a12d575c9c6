"""How many documents of a folder have come up in its review: only these are in it, and in what goes out of it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from riffler.review.schema import Document
from riffler.review.store import Review

WITH_UNREAD = ("all", "unread")
"""Selections of an export that lack documents which have not come up."""


@dataclass(frozen=True, slots=True)
class ComeUp:
    """How many documents of a folder are in the review, and how many there are."""

    n_here: int
    n_items: int

    @property
    def sentence(self) -> str:
        """What an export has and what it lacks, in words.

        >>> ComeUp(173, 18846).sentence
        'Only documents that have come up: 173 of 18,846; the others stay in the collection.'
        """
        return (
            f"Only documents that have come up: {self.n_here:,} of {self.n_items:,}; the others stay in the collection."
        )


def come_up(review: Review) -> ComeUp | None:
    """Count the documents that have come up; None where the review has all its documents."""
    folder = review.folder
    if folder is None:
        return None
    with review.moment() as session:
        n_here = session.scalar(select(func.count(Document.id)).where(Document.review_id == review.id)) or 0
    return None if n_here == folder.n_items else ComeUp(n_here, folder.n_items)
