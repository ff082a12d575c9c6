"""Documents that are read together are what they are one by one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from riffler.data.collection_reading import collection_from_frame
from riffler.data.duplicates import find_duplicates
from riffler.review.export_words import last_words
from riffler.review.remarks import Answer, Remark
from tests.review.reviews import create_review, library, new_review, say

pytestmark = pytest.mark.usefixtures("each_database")


def test_documents_read_together_equal_those_read_one_by_one(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"id": ["a", "b", "c", "d"], "title": ["Snow melts", "snow melts.", "Trade", "SNOW melts"], "n": [1, 2, 3, 4]}
    )
    first = collection_from_frame(frame)
    with create_review(tmp_path / "r.riffler", first, duplicates=find_duplicates(first)) as review:
        review.add_documents(library(3, prefix="e"))
        review.answer([say("a", "relevant"), say("e1", "skip"), say("e1", "maybe")])
        for key, (document, tag) in enumerate([("a", "y"), ("a", "x"), ("e1", "x"), ("c", "z")]):
            review.tag(Remark(document, f"t{key}", note=tag))
        review.untag(Remark("c", "u", note="z"))
        for key, note in enumerate(["first", "", "last"]):
            review.note(Remark("e1", f"n{key}", note=note))
        review.answer([Answer("e2", "with", note="with it", verdict="maybe")])
        names = ["e1", "b", "c", "e2", "b"]
        held, together = review.standings(), review.whole_documents(names)
        assert together == [one for name in names for one in review.whole_documents([name])]
        assert [(one.view.document, one.note, one.tags) for one in together[:1] + together[2:4]] == [
            ("e1", "last", ("x",)), ("c", "", ()), ("e2", "with it", ()),
        ]  # fmt: skip
        assert together[1].tags == ("x", "y")  # what is said of a twin is said of both
        for one in together:
            assert one.standing == held.get(one.view.document)
            assert tuple(twin.document for twin in one.twins) == one.view.twins
        twins = {twin.document: (twin.title, twin.columns["n"]) for twin in review.whole_documents(["a"])[0].twins}
        rows = {name: (title, n) for name, title, n in frame.rows()}
        assert twins == {name: rows[name] for name in twins}
        assert len(twins) == 2
        assert review.whole_documents([]) == []


def test_the_note_of_an_answer_is_a_note_wherever_it_is_shown(tmp_path: Path) -> None:
    def notes() -> set[str]:
        with review.moment() as session:
            exported = last_words(session, review.id)
        return {review.whole_documents(["d0"])[0].note, *(one.note for one in exported.values())}

    with new_review(tmp_path) as review:
        review.answer([Answer("d0", "1", note="with the answer", verdict="maybe")])
        assert notes() == {"with the answer"}
        review.answer([Answer("d0", "2", verdict="relevant")])  # says nothing in words
        assert notes() == {"with the answer"}
        review.note(Remark("d0", "3", note="later"))
        assert notes() == {"later"}
        (again,) = review.answer([Answer("d0", "4", note="on second thought", verdict="maybe")])
        assert notes() == {"on second thought"}
        review.undo(again.id, "5")
        assert notes() == {"later"}
        review.note(Remark("d0", "6", note=""))
        assert notes() == {""}
