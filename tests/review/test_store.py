"""A review in a file: what goes in comes out, what is said twice is recorded once, a closed file is complete."""

from __future__ import annotations

import datetime
import sqlite3
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sqlalchemy import text

from riffler import InputError, ReviewFileError, StorageError, UnknownName, collection_from_frame, find_duplicates
from riffler.errors import AnswerConflict
from riffler.review.archive import open_archive, write_archive
from riffler.review.database import writing
from riffler.review.history import HistoryFilter
from riffler.review.queue import Proposal
from riffler.review.remarks import Remark
from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.review.upgrade import copy_file
from riffler.search.rescoring import Rescoring
from tests.review.reviews import SETTINGS, create_review, library, new_review, open_review, say, whole

pytestmark = pytest.mark.usefixtures("each_database")


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_collection_comes_out_as_it_went_in(tmp_path: Path) -> None:
    day = datetime.date(2020, 1, 2)
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "title": ["On gulls", "", "\u2028 lines\nand 'quotes' \U0001f433"],
            "abstract": ["x", None, "y"],
            "year": [1999, None, 2**60],
            "day": [day, None, day],
            "words": [["a", "b"], [], None],
            "share": [1 / 3, None, 1e300],
            "empty": [None, None, None],
            "open": [True, False, None],
        }
    )
    collection = collection_from_frame(frame)
    with create_review(tmp_path / "odd name %20?#.riffler", collection, SETTINGS) as review:
        again = review.collection()
        assert dict(whole(review, "c").view.columns) == collection.columns.row(2, named=True)
    assert again.ids == collection.ids
    assert (again.titles, again.abstracts) == (collection.titles, collection.abstracts)
    assert again.columns.schema == collection.columns.schema
    assert again.columns.equals(collection.columns)


def test_settings_are_kept_and_changes_remembered(tmp_path: Path) -> None:
    changed = replace(SETTINGS, criteria="any whale", highlight=("fin", "krill"))
    with new_review(tmp_path) as review:
        assert review.settings == SETTINGS
        before = review.revision()
        review.change_settings(asdict(changed))
        assert review.revision() == before  # what only the page shows does not concern the search
        review.change_settings({"target": 0.7})
        assert review.revision() != before
        review.change_settings(asdict(changed))
    with open_review(tmp_path / "whales.riffler") as review:
        assert review.settings == changed


def test_bad_settings_are_refused_when_they_are_made() -> None:
    with pytest.raises(UnknownName, match="greedyy"):
        ReviewSettings(policy="greedyy")
    with pytest.raises(InputError, match="target"):
        ReviewSettings(target=1.5)
    with pytest.raises(InputError, match="rescore_every and candidates must be at least 1"):
        ReviewSettings(rescore_every=0)
    with pytest.raises(InputError, match="rescore_every and candidates must be at least 1"):
        ReviewSettings(candidates=0)


def test_settings_of_before_there_was_rescoring_score_everything() -> None:
    values = ReviewSettings(seed=3).as_json()
    del values["rescore_every"], values["candidates"]
    assert ReviewSettings.from_json(values) == ReviewSettings(seed=3)
    assert ReviewSettings.from_json(values).for_search()["rescoring"] == Rescoring()
    assert ReviewSettings(rescore_every=5, candidates=70).for_search()["rescoring"] == Rescoring(5, 70)


@pytest.mark.of_files
def test_a_closed_review_is_one_file(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.answer([say("d0", "relevant")])
        assert "whales.riffler-wal" in files(tmp_path)
    assert files(tmp_path) == ["whales.riffler"]


@pytest.mark.of_files
def test_a_review_is_not_created_over_a_file(tmp_path: Path) -> None:
    new_review(tmp_path).close()
    with pytest.raises(InputError, match="already"):
        new_review(tmp_path)


def test_a_failed_creation_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no documents"):
        create_review(tmp_path / "empty.riffler", library().take([]), SETTINGS)
    assert files(tmp_path) == []


def test_labels_of_the_collection_are_known_from_the_start(tmp_path: Path) -> None:
    labels = np.full(60, -1)
    labels[[0, 1]] = 1, 0
    with create_review(tmp_path / "known.riffler", library().with_labels(labels), SETTINGS) as review:
        assert [(entry.item, entry.origin, entry.answer, entry.cost) for entry in review.pending()] == [
            ("d0", "prior", 1, 0.0),
            ("d1", "prior", 0, 0.0),
        ]
        with pytest.raises(InputError, match="undo"):
            review.undo_last("undo")  # nobody here said it, so nobody undoes it by a key


def test_added_documents_are_a_stratum_all_or_none(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.add_documents(library(5, prefix="e"))
        with pytest.raises(InputError, match=r"5 ids are in the review already \(e0, e1, e2, e3, e4\)"):
            review.add_documents(library(8, prefix="e"))
        assert [len(names) for names in review.strata().values()] == [60, 5]
        assert review.collection().ids[-2:] == ("e3", "e4")
        assert len(review.find("whale", n=100)) == len({hit.document for hit in review.find("whale", n=100)})


def test_a_twin_is_kept_and_not_asked_for(tmp_path: Path) -> None:
    long = "The song of the humpback whale in the southern ocean changes every year, and others learn it quickly"
    frame = pl.DataFrame({"id": list("abc"), "title": ["short one", long, long]})
    collection = collection_from_frame(frame)
    duplicates = find_duplicates(collection)
    with create_review(tmp_path / "twins.riffler", collection, SETTINGS, duplicates=duplicates) as review:
        assert (review.collection().ids, review.collection().twins) == (("a", "b"), {"b": ("c",)})
        review.answer([say("c", "relevant")])
        assert list(review.standings()) == ["b"]
        assert (whole(review, "c").view.document, whole(review, "b").view.twins) == ("b", ("c",))
        assert review.counts() == {"relevant": 1, "irrelevant": 0, "maybe": 0, "skip": 0, "unread": 1}


def test_a_request_sent_again_is_recorded_once(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        (first,) = review.answer([say("d0", "relevant", key="k")])
        (again,) = review.answer([say("d0", "relevant", key="k")])
        assert (again.id, first.repeated, again.repeated) == (first.id, False, True)
        with pytest.raises(InputError, match="another remark"):
            review.answer([say("d0", "irrelevant", key="k")])
        undone = review.undo(first.id, "u")
        assert review.undo(first.id, "u").id == undone.id
        assert len(review.history()) == 2


def test_answers_of_one_request_are_taken_all_or_none(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        with pytest.raises(InputError, match="no document 'nowhere'"):
            review.answer([say("d0", "relevant"), say("nowhere", "relevant")])
        with pytest.raises(UnknownName, match="perhaps"):
            review.answer([say("d0", "relevant"), say("d1", "perhaps")])
        assert review.history() == []


@pytest.mark.of_files
def test_what_no_database_can_hold_is_refused_in_words(tmp_path: Path) -> None:
    with new_review(tmp_path, n=5) as review:
        for name, key, note in (("d0\ud800", "k", ""), ("d0", "\ud800", ""), ("d0", "k", "\udfff")):
            with pytest.raises(InputError, match="half a character"):
                review.note(Remark(name, key, note=note))
        with pytest.raises(InputError, match="half a character"):
            review.find("whale\ud800")
        with pytest.raises(InputError, match="too large"):
            review.undo(2**70, "k")
        with pytest.raises(InputError, match="too large"):
            review.answer([say("d0", "relevant", "k", suggestion=2**70)])
        with pytest.raises(InputError, match="seconds"):
            review.note(Remark("d0", "k", seconds=float("nan")))
        with pytest.raises(InputError, match="needs a key"):
            review.answer([say("d0", "relevant", key="")])
        review.note(Remark("d0", "k", note="a\0b \U0001f433"))
        assert whole(review, "d0").note == "a\0b \U0001f433"
        assert len(review.history()) == 1


def test_undo_goes_back_to_any_depth(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        said = ["relevant", "maybe", "irrelevant"]
        receipts = [review.answer([say("d0", verdict)])[0] for verdict in said]
        assert [one.origin for one in receipts] == ["search", "correction", "correction"]
        review.answer([say("d1", "skip")])
        held = []
        while standings := review.standings():
            held.append({name: one.verdict for name, one in standings.items()})
            review.undo_last(f"undo {len(held)}")
        assert held == [
            {"d0": "irrelevant", "d1": "skip"},
            {"d0": "irrelevant"},
            {"d0": "maybe"},
            {"d0": "relevant"},
        ]
        assert review.standings() == {}
        assert len(review.history()) == 8
        review.answer([say("d0", "relevant", key="anew")])
        assert review.history(HistoryFilter(holding=True))[0].origin == "search"


def test_only_the_answer_that_holds_is_undone(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        (first,) = review.answer([say("d0", "relevant")])
        review.answer([say("d0", "irrelevant")])
        assert [whole(review, name).standing for name in ("d0", "d1")] == [review.standings()["d0"], None]
        with pytest.raises(InputError, match="does not hold any more"):
            review.undo(first.id, "u")
        with pytest.raises(InputError, match="no answer with the number 99"):
            review.undo(99, "v")


def test_history_passes_its_filters(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.answer([say("d0", "relevant"), say("d1", "irrelevant"), say("d2", "maybe")], reviewer="ann")
        review.answer([say("d1", "relevant")], reviewer="bo")
        review.note(Remark("d2", "n", note="100% odd_one"))
        seen = {
            "all": HistoryFilter(),
            "bo": HistoryFilter(reviewer="bo"),
            "relevant": HistoryFilter(verdict="relevant", holding=True),
            "replaced": HistoryFilter(holding=False),
            "d2": HistoryFilter(document="d2", kind="answer"),
            "%": HistoryFilter(words="0% odd_"),
            "older": HistoryFilter(before=3, n=1),
        }
        assert {name: [line.id for line in review.history(wanted)] for name, wanted in seen.items()} == {
            "all": [5, 4, 3, 2, 1],
            "bo": [4],
            "relevant": [4, 1],
            "replaced": [2],
            "d2": [3],
            "%": [5],
            "older": [2],
        }


def test_notes_and_tags_hold_until_they_are_changed(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        for key, words in (("1", "first"), ("2", "second")):
            review.note(Remark("d0", key, note=words))
        for key, word in (("3", "blue"), ("4", "big")):
            review.tag(Remark("d0", key, note=word))
        review.untag(Remark("d0", "5", note="blue"))
        assert (whole(review, "d0").note, whole(review, "d0").tags, whole(review, "d1").note) == (
            "second",
            ("big",),
            "",
        )
        with pytest.raises(InputError, match="needs a word"):
            review.tag(Remark("d0", "6", note=" "))


@pytest.mark.parametrize(
    "words", ['"', "'", "NEAR(", "AND OR NOT", "title:whale", "a*b^c", "\0", "-whale", "\U0001f433", "é", "\\", "{x}"]
)
def test_search_takes_whatever_is_typed(tmp_path: Path, words: str) -> None:
    with new_review(tmp_path, n=10) as review:
        review.find(words)


def test_search_finds_words_phrases_beginnings_and_accents(tmp_path: Path) -> None:
    titles = ["Über die Wale", "the great whale", "great is the whale", 'C++ & "quotes"', "whaling"]
    collection = collection_from_frame(pl.DataFrame({"id": list("abcde"), "title": titles}))
    with create_review(tmp_path / "words.riffler", collection, SETTINGS) as review:
        found = {
            words: {hit.document for hit in review.find(words)}
            for words in ("uber", '"great whale"', "whal", "great whale", "c++", "quotes", "***", "")
        }
    assert found == {
        "uber": {"a"},
        '"great whale"': {"b"},
        "whal": {"b", "c", "e"},
        "great whale": {"b", "c"},
        "c++": {"d"},
        "quotes": {"d"},
        "***": set(),
        "": set(),
    }


def test_the_ledger_cannot_be_changed(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.answer([say("d0", "relevant")])
        for change in ("DELETE FROM ledger", "UPDATE ledger SET note = 'x'"):
            with pytest.raises(Exception, match="append-only"), writing(review._engine) as session:
                session.execute(text(change))


@pytest.mark.of_files
def test_a_backup_of_a_live_review_opens(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.answer([say("d0", "relevant")])
        review.backup(tmp_path / "copy.riffler")
        review.answer([say("d1", "relevant")])
        with pytest.raises(InputError, match="the review itself"):
            review.backup(review.path)
    assert files(tmp_path) == ["copy.riffler", "whales.riffler"]
    with open_review(tmp_path / "copy.riffler") as copy:
        assert list(copy.standings()) == ["d0"]


def test_a_backup_touches_no_file_that_is_there(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        for name in ("copy.riffler", "copy.riffler-wal", "copy.riffler-journal"):
            (tmp_path / name).write_bytes(b"mine")
            with pytest.raises(InputError, match="there is a file already"):
                review.backup(tmp_path / "copy.riffler")
            assert (tmp_path / name).read_bytes() == b"mine"
            (tmp_path / name).unlink()


def leave_log_behind(path: Path) -> None:
    """Leave what stays of a review whose file somebody removed after a kill: SQLite's log of it, and nothing else."""
    with create_review(path, library(300), SETTINGS) as review:
        for row in range(40):
            review.answer([say(f"d{row}", "relevant")])
        log = path.with_name(f"{path.name}-wal").read_bytes()
    path.unlink()
    path.with_name(f"{path.name}-wal").write_bytes(log)


@pytest.mark.of_files
def test_what_a_removed_review_left_behind_is_no_part_of_a_new_one(tmp_path: Path) -> None:
    path, folder = tmp_path / "whales.riffler", tmp_path / "other"
    folder.mkdir()
    with new_review(folder) as other:
        write_archive(other, tmp_path / "other.zip")
    leave_log_behind(path)
    with create_review(path, library(500, "x"), SETTINGS) as review:
        assert review.counts()["unread"] == len(review.collection().ids) == 500
    path.unlink()
    leave_log_behind(path)
    open_archive(tmp_path / "other.zip", path)
    with open_review(path) as review:
        assert review.counts()["unread"] == len(review.collection().ids) == 60
    copy = tmp_path / "whales.riffler.version-0001"
    leave_log_behind(copy)
    copy_file(path, copy)
    with open_review(copy) as review:
        assert review.counts()["unread"] == len(review.collection().ids) == 60


def limit_pages(review: Review, n_more: int) -> None:
    """Let the file grow by so many pages and no more, as on a full disk."""
    with review._engine.connect() as connection:
        n = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={int(n or 0) + n_more}")


@pytest.mark.of_files
def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.answer([say("d0", "relevant")])
        limit_pages(review, 1)
        with pytest.raises(StorageError, match=r"disk is full.*Nothing of this change was written"):
            review.add_documents(library(3000, prefix="e"))
        with pytest.raises(StorageError, match="disk is full"):
            review.note(Remark("d1", "n", note="long " * 10_000))
    with open_review(tmp_path / "whales.riffler") as review:
        assert list(review.standings()) == ["d0"]
        assert review.collection().n_items == 60
        assert {hit.document[0] for hit in review.find("whale", n=100)} == {"d"}
        assert whole(review, "d1").note == ""
        review.answer([say("d1", "relevant")])


@pytest.mark.of_files
def test_a_file_that_is_no_review_is_refused(tmp_path: Path) -> None:
    plain, other = tmp_path / "text.riffler", tmp_path / "other.riffler"
    plain.write_text("id,title\n" * 1000, encoding="utf-8")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE birds (name)")
    with pytest.raises(ReviewFileError, match="no review"):
        open_review(plain)
    with pytest.raises(ReviewFileError, match="not a review"):
        open_review(other)
    with pytest.raises(ReviewFileError, match="no such file"):
        open_review(tmp_path / "nothing.riffler")
    assert plain.read_text(encoding="utf-8") == "id,title\n" * 1000


def test_an_answer_to_what_nobody_said_was_shown_keeps_its_suggestion(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.fill_queue([Proposal("d0", "control", 0), Proposal("d1", "policy", 0)])
        first, second = review.upcoming(2)
        (receipt,) = review.answer([say("d0", "relevant", "k", first.id)])
        review.fill_queue([Proposal("d2", "policy", 1)])
        assert receipt.origin == "control"
        assert [one.document for one in review.upcoming(5)] == ["d2"]
        with pytest.raises(AnswerConflict, match="replaced"):
            review.mark_shown(second.id)


def test_what_is_proposed_again_keeps_its_number(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.fill_queue([Proposal("d0", "policy", 0), Proposal("d1", "policy", 0), Proposal("d2", "control", 0)])
        before = {one.document: one.id for one in review.upcoming(5)}
        review.fill_queue(
            [Proposal("d2", "policy", 1), Proposal("d1", "policy", 1, score=2.5), Proposal("d3", "policy", 1)]
        )
        after = review.upcoming(5)
        assert [one.document for one in after] == ["d2", "d1", "d3"]
        assert after[1].id == before["d1"]
        assert after[1].score == 2.5
        assert after[0].id != before["d2"]  # it is there for another reason now


def test_an_answer_to_a_withdrawn_control_document_is_still_one(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.fill_queue([Proposal("d0", "control", 0), Proposal("d1", "control", 0)])
        first, second = review.upcoming(2)
        review.fill_queue([Proposal("d2", "policy", 1)])
        assert [one.document for one in review.upcoming(5)] == ["d2"]
        (receipt,) = review.answer([say("d0", "relevant", "k", first.id)])
        assert receipt.origin == "control"
        review.fill_queue([Proposal("d1", "control", 2)])
        assert [one.id for one in review.upcoming(5)] == [second.id]


def test_a_control_document_that_was_shown_is_one_wherever_it_is_answered(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.fill_queue([Proposal("d0", "control", 0), Proposal("d1", "policy", 0)])
        first, second = review.upcoming(2)
        review.mark_shown(first.id)
        review.mark_shown(second.id)
        found = review.answer([say("d0", "relevant", "from the results of a search"), say("d1", "relevant", "also")])
        assert [one.origin for one in found] == ["control", "search"]
        review.undo(found[0].id, "undo")
        (again,) = review.answer([say("d0", "irrelevant", "again, from the results")])
        assert again.origin == "control"
