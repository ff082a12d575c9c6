"""The counts of a PRISMA diagram add up, whatever was imported, answered, undone and repeated."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from riffler import collection_from_frame, find_duplicates
from riffler.review.intake import add_upload
from riffler.review.prisma import prisma_counts
from tests.review.reviews import SETTINGS, create_review, say

pytestmark = pytest.mark.usefixtures("each_database")


def test_every_record_is_counted_where_it_went(tmp_path: Path) -> None:
    first = collection_from_frame(
        pl.DataFrame(
            {
                "id": ["a", "b", "c", "d"],
                "title": ["On gulls", "On owls", "ON GULLS", "On snow"],
                "included": ["", "", "", "no"],
            }
        ),
        source="one.csv",
    )
    second = collection_from_frame(
        pl.DataFrame({"id": ["b", "x", "y", "z"], "title": ["On owls", "on owls", "On stones", "On ice"]}),
        source="two.ris",
    )
    with create_review(tmp_path / "r.riffler", first, SETTINGS, duplicates=find_duplicates(first)) as review:
        add_upload(review, second)
        review.answer([say("a", "relevant"), say("b", "maybe"), say("y", "irrelevant")])
        review.undo(review.answer([say("z", "relevant")])[0].id, "u")
        counts = prisma_counts(review)
        assert sum(review.counts().values()) == counts.screened + counts.not_screened
    assert counts.identified == (("one.csv", 4), ("two.ris", 4))
    assert (counts.duplicates, counts.screened, counts.not_screened) == (3, 4, 1)
    assert (counts.included, counts.excluded, counts.unresolved, counts.known) == (1, 2, 1, 1)
    assert counts.claim == ""
    assert counts.table() == [
        ("Records identified from one.csv", 4),
        ("Records identified from two.ris", 4),
        ("Records identified", 8),
        ("Duplicate records removed before screening", 3),
        ("Records to be screened", 5),
        ("Records screened", 4),
        ("Records screened before this review", 1),
        ("Records not screened", 1),
        ("Records excluded", 2),
        ("Records unresolved (maybe or skipped)", 1),
        ("Records included", 1),
    ]
