"""Labels of a file: they hold where nobody said anything, and never in the place of what somebody said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from riffler import Collection, Duplicates, collection_from_frame, find_duplicates
from riffler.errors import AnswerConflict
from riffler.review import intake
from riffler.review.intake import add_upload
from riffler.review.queue import Proposal
from tests.review.reviews import library, new_review, say

pytestmark = pytest.mark.usefixtures("each_database")


def labelled(prefix: str, n: int = 20) -> Collection:
    """The documents of a library under other ids, every second with a label."""
    columns = library(n).columns
    named = columns.with_columns(
        id=pl.lit(prefix) + pl.col("id"), label=pl.Series([row % 4 // 2 if row % 2 else None for row in range(n)])
    )
    return collection_from_frame(named, source=f"{prefix}.csv")


def test_labels_of_duplicates_hold_until_somebody_answers(tmp_path: Path) -> None:
    with new_review(tmp_path, n=20) as review:
        review.answer([say("d1", "relevant", key="known/21")])  # whatever keys clients use
        review.fill_queue([Proposal("d3", "control", 0)])
        review.mark_shown(review.upcoming()[0].id)
        arrival = add_upload(review, labelled("x"))
        assert (len(arrival.twins), arrival.n_taken, arrival.n_dropped) == (20, 8, 2)
        held = review.standings()
        assert held["d1"].verdict == "relevant"
        assert "d3" not in held  # it was drawn to be read
        assert {held[f"d{row}"].verdict for row in (5, 9, 13, 17)} == {"irrelevant"}
        assert {held[f"d{row}"].verdict for row in (7, 11, 15, 19)} == {"relevant"}
        assert held["d5"].origin == "prior"
        review.undo(held["d5"].last_id, "u")
        assert add_upload(review, labelled("y")).n_taken == 1
        assert review.counts() == {"relevant": 5, "irrelevant": 4, "maybe": 0, "skip": 0, "unread": 11}


def test_documents_that_were_added_meanwhile_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(both: Collection) -> Duplicates:
        monkeypatch.undo()
        add_upload(review, labelled("x"))
        return find_duplicates(both)

    with new_review(tmp_path, n=20) as review:
        monkeypatch.setattr(intake, "find_duplicates", meanwhile)
        with pytest.raises(AnswerConflict, match=r"y\.csv: other documents were added .* again"):
            add_upload(review, labelled("y"))
        assert [one.source for one in review.imports()][1:] == ["x.csv"]
