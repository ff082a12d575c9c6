"""Two tabs, a reply that was lost, duplicates and search: what the page asks of a review."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from riffler.data.collection_reading import collection_from_frame
from riffler.data.duplicates import find_duplicates
from riffler.errors import AnswerConflict, InputError
from riffler.review.remarks import Answer, Remark
from tests.review.reviews import create_review, new_review, say

pytestmark = pytest.mark.usefixtures("each_database")


def test_an_answer_that_expects_another_one_is_a_conflict_and_nothing_of_its_request_is_written(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        first = review.answer([Answer("d1", "a", verdict="relevant", expect=0)])[0]
        with pytest.raises(AnswerConflict, match="it is 'relevant' now"):
            review.answer(
                [Answer("d2", "b", verdict="skip", expect=0), Answer("d1", "c", verdict="irrelevant", expect=0)]
            )
        assert list(review.standings()) == ["d1"]
        assert review.answer([Answer("d1", "d", verdict="maybe", expect=first.id)])[0].origin == "correction"
        review.undo_last("u1")
        review.undo_last("u2")
        with pytest.raises(AnswerConflict, match="no answer any more"):
            review.answer([Answer("d1", "e", verdict="maybe", expect=first.id)])


def test_a_repeated_request_is_no_conflict(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        answer = Answer("d1", "a", verdict="relevant", expect=0)
        assert [review.answer([answer])[0].repeated for _ in range(2)] == [False, True]


def test_undo_of_the_last_answer_sent_twice_takes_back_one(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.answer([say("d1", "relevant"), say("d2", "irrelevant")])
        assert [review.undo_last("u").document for _ in range(2)] == ["d2", "d2"]
        assert list(review.standings()) == ["d1"]
        assert review.undo_last("v").document == "d1"
        with pytest.raises(InputError, match="nothing to undo"):
            review.undo_last("w")
        with pytest.raises(InputError, match="another remark"):
            review.undo_last("d1/relevant")


def test_duplicates_are_shown_with_their_own_texts(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"id": ["a", "b", "c"], "title": ["Snow melts", "snow melts.", "Trade"], "year": [1990, 1991, 1992]}
    )
    collection = collection_from_frame(frame)
    with create_review(tmp_path / "r.riffler", collection, duplicates=find_duplicates(collection)) as review:
        head = review.whole_documents(["a"])[0]
        assert [(twin.title, twin.columns["year"]) for twin in head.twins] == [
            (title, year) for name, title, year in frame.rows() if name in head.view.twins
        ]
        review.answer([say(head.view.twins[0], "relevant")])
        assert set(review.standings_of([*head.view.twins, "c"])) == {head.view.document}
        found = {hit.document: hit for hit in review.find("snow")}
        assert {hit.asked for hit in found.values()} == {head.view.document}


def test_search_says_where_the_words_are(tmp_path: Path) -> None:
    text = "The deep snow of the alps melts in May."
    frame = pl.DataFrame({"id": ["a"], "title": ["Water"], "abstract": [text]})
    with create_review(tmp_path / "r.riffler", collection_from_frame(frame)) as review:
        (hit,) = review.find("snow mel")
        assert "".join(piece for piece, _ in hit.excerpt) == text
        assert [piece for piece, found in hit.excerpt if found] == ["snow", "melts"]


def test_tags_in_use_are_those_that_some_document_has(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        for key, (document, tag) in enumerate([("d1", "b"), ("d2", "a"), ("d3", "b")]):
            review.tag(Remark(document, str(key), note=tag))
        review.untag(Remark("d1", "x", note="b"))
        review.untag(Remark("d2", "y", note="a"))
        assert review.tags() == ["b"]
