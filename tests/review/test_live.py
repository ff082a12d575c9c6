"""A search on a durable review: whenever it is made anew, it goes on as if nothing had happened."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from riffler.errors import StorageError
from riffler.ledger import Entry, Event
from riffler.review.live import LiveSearch
from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.search.loop import ActiveSearch
from riffler.stopping import STOPPING_RULES
from tests.review.reviews import SETTINGS, library, new_review, open_review, say, verdict_on

pytestmark = pytest.mark.usefixtures("each_database")

KEYS = count()


def read(review: Review, n: int) -> list[str]:
    """Show the next n documents of the queue and answer truly, each in a request of its own."""
    read = []
    for _ in range(n):
        for queued in review.upcoming(1):
            review.mark_shown(queued.id)
            key = f"key {next(KEYS)}"
            review.answer([say(queued.document, verdict_on(queued.document), key, queued.id)])
            read.append(queued.document)
    return read


def suggested(live: LiveSearch, n: int) -> list[tuple[str, str]]:
    """Return the next suggestions, and whether they were proposed or drawn."""
    return [(name, live.search.batch_origin) for name in live.refresh(n)]


def made_anew(review: Review, folder: Path, n: int) -> list[tuple[str, str]]:
    """Return what a search suggests that knows nothing but a copy of the file."""
    copy = folder / f"copy {next(KEYS)}.riffler"
    review.backup(copy)
    with open_review(copy) as other:
        return suggested(LiveSearch(other), n)


@pytest.mark.of_files
@pytest.mark.parametrize("stopping", ["control", None])
def test_a_search_made_anew_suggests_the_same(tmp_path: Path, stopping: str | None) -> None:
    settings = ReviewSettings(policy="greedy", stopping=stopping, description="whale", target=0.6, seed=3)
    rng = np.random.default_rng(0)
    with new_review(tmp_path, settings) as review:
        live = LiveSearch(review)
        for _ in range(14):
            live.refresh(4)
            read(review, int(rng.integers(1, 4)))
            if rng.random() < 0.3:
                found = [hit.document for hit in review.find("krill") if hit.document not in review.standings()]
                review.answer([say(name, verdict_on(name), f"key {next(KEYS)}") for name in found[:1]])
            assert made_anew(review, tmp_path, 4) == suggested(live, 4)
        assert len(review.ledger()) >= len(review.standings()) > 20
        assert (stopping is None) or "control" in {entry.origin for entry in review.ledger()}


def test_the_store_does_not_change_what_is_suggested(tmp_path: Path) -> None:
    plain = ActiveSearch(library(), **SETTINGS.for_search())
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        for _ in range(10):
            wanted = plain.suggest(3)
            assert live.refresh(3) == wanted
            assert read(review, 3) == wanted
            plain.answer(wanted, [int(verdict_on(name) == "relevant") for name in wanted])
        live.refresh(3)
        kept = ("item", "round", "origin", "probability", "answer", "cost")
        stored, own = (
            [[getattr(entry, one) for one in kept] for entry in of] for of in (review.ledger(), plain.ledger)
        )
        assert stored[: len(own)] == own
        assert live.search.estimate() == plain.estimate()


def test_after_undo_and_relabelling_the_search_knows_only_what_holds(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        for _ in range(5):
            live.refresh(3)
            read(review, 3)
        live.refresh(3)
        wrong, undone = list(review.standings())[2], list(review.standings())[4]
        review.answer([say(wrong, "maybe", "correct it")])
        review.undo(review.standings()[undone].last_id, "undo it")
        assert made_anew(review, tmp_path, 3) == suggested(live, 3)
        entries = {entry.item: entry for entry in live.search.ledger}
        assert undone not in entries
        assert entries[wrong].answer == -1
        assert entries[wrong].origin == review.standings()[wrong].origin != "correction"
        read(review, 6)
        assert made_anew(review, tmp_path, 3) == suggested(live, 3)


def test_what_a_full_disk_kept_from_being_written_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        live.refresh(3)
        read(review, 3)
        with monkeypatch.context() as full:
            full.setattr(review, "record_rounds", _fail)
            with pytest.raises(StorageError):
                live.refresh(3)
        assert made_anew(review, tmp_path, 3) == suggested(live, 3)
        assert review.pending() == []
        assert list(review.ledger()) == list(live.search.ledger)


def test_an_undo_that_could_not_be_read_is_followed_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        for _ in range(3):
            live.refresh(3)
            read(review, 3)
        live.refresh(3)
        before = live.revision
        review.undo_last("undo")
        with monkeypatch.context() as busy:
            busy.setattr(review, "ledger", _fail)
            with pytest.raises(StorageError):
                live.refresh(3)
        assert live.revision == before  # nothing is claimed for what the search does not know
        assert made_anew(review, tmp_path, 3) == suggested(live, 3)
        assert live.revision == review.revision()


def _fail(*_: object) -> NoReturn:
    raise StorageError("The disk is full.")


def test_rounds_close_up_and_events_stay_between_them(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.answer([say(f"d{row}", "irrelevant") for row in range(3)])
        entries = [Entry(f"d{row}", row, "search", False, 1.0, 0, 1.0, "") for row in range(3)]
        review.record_rounds(entries, [Event(2, "clusters")])
        assert [(entry.item, entry.round) for entry in review.ledger()] == [("d0", 0), ("d1", 1), ("d2", 2)]
        review.undo(review.standings()["d1"].last_id, "undo")
        assert [(entry.item, entry.round) for entry in review.ledger()] == [("d0", 0), ("d2", 1)]
        assert review.ledger().events == (Event(1, "clusters"),)
        review.answer([say("d1", "relevant")])
        review.record_rounds([Entry("d1", 2, "search", False, 1.0, 1, 1.0, "")], [Event(3, "later")])
        assert [(entry.item, entry.round) for entry in review.ledger()] == [("d0", 0), ("d2", 1), ("d1", 2)]
        assert review.ledger().events == (Event(1, "clusters"), Event(3, "later"))


def test_a_control_document_stays_one_when_the_search_dies_before_its_answer(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        live.refresh(3)
        while review.upcoming(1)[0].origin != "control":
            read(review, 1)
            live.refresh(3)
        (queued,) = review.upcoming(1)
        review.mark_shown(queued.id)
        anew = LiveSearch(review)
        review.fill_queue([])
        review.answer([say(queued.document, "skip", "late", queued.id)])
        anew.refresh(3)
        *_, entry = (one for one in review.ledger() if one.origin == "control")
        assert (entry.item, entry.origin, entry.answer) == (queued.document, "control", -1)


def test_what_is_on_the_screen_stays_there_when_the_page_is_loaded_again(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        live.refresh(3)
        (first,) = review.upcoming(1)
        review.mark_shown(first.id)
        live.refresh(3)
        assert [one.id for one in review.upcoming(1)] == [first.id]
        assert len({one.document for one in review.upcoming(3)}) == 3
        assert review.upcoming(1, reviewer="somebody else")[0].id != first.id
        (receipt,) = review.answer([say(first.document, "relevant", "k", first.id)])
        assert review.upcoming(1)[0].document != first.document
        review.undo(receipt.id, "u")
        assert review.upcoming(1)[0].document == first.document


def test_added_documents_are_suggested_too(tmp_path: Path) -> None:
    with new_review(tmp_path, ReviewSettings(policy="greedy", stopping=None, description="whale")) as review:
        live = LiveSearch(review)
        live.refresh(5)
        read(review, 5)
        review.add_documents(library(10, prefix="e"))
        assert set(live.refresh(70)) == set(review.collection().ids) - set(review.standings())


def test_clusters_join_where_they_joined(tmp_path: Path) -> None:
    settings = ReviewSettings(policy="thompson", clusters="kmeans", stopping=None, description="whale")
    with new_review(tmp_path, settings) as review:
        live = LiveSearch(review)
        for _ in range(600):  # a minute at most: they are made in the background
            live.refresh(2)
            read(review, int(len(review.standings()) < 5))
            if live.search.ledger.events:
                break
            time.sleep(0.1)
        assert len(review.ledger().events) == 1
        for _ in range(3):
            assert made_anew(review, tmp_path, 3) == suggested(live, 3)
            read(review, 2)


def test_an_undo_costs_the_rounds_since_and_changes_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an undo or a correction of any answer the suggestions are those of a search made anew, rounds and all."""
    rng = np.random.default_rng(1)
    n_taken: list[int] = []
    plain = ActiveSearch._take

    def counted(self: ActiveSearch, entries: list[Entry]) -> None:
        n_taken.append(len(entries))
        plain(self, entries)

    monkeypatch.setattr(ActiveSearch, "_take", counted)
    with new_review(tmp_path, n=120) as review:
        live = LiveSearch(review)
        features = live.search.features
        for step in range(24):
            live.refresh(3)
            read(review, 1)
            live.refresh(3)
            if step % 3 == 2:
                names = list(review.standings())
                back = int(rng.integers(1, len(names) + 1)) if step % 2 else 1
                standing = review.standings()[names[-back]]
                if step % 4:
                    review.undo(standing.last_id, f"undo {step}")
                else:
                    review.answer([say(standing.document, "maybe", f"correct {step}")])
                n_taken.clear()
                found = suggested(live, 3)
                if back == 1:
                    assert len(n_taken) <= 3
                assert found == made_anew(review, tmp_path, 3)
                assert [(entry.item, entry.round) for entry in live.search.ledger] == [
                    (entry.item, entry.round) for entry in review.ledger()
                ]
        assert live.search.features is features


def test_other_settings_keep_the_features_and_documents_do_not(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        live.refresh(3)
        read(review, 3)
        live.refresh(3)
        features = live.search.features
        review.change_settings(asdict(ReviewSettings(policy="greedy", description="krill", target=0.5, seed=1)))
        live.refresh(3)
        assert live.search.features is features
        assert made_anew(review, tmp_path, 3) == suggested(live, 3)
        review.add_documents(library(10, prefix="e"))
        live.refresh(3)
        assert live.search.features is not features


def test_added_documents_have_their_own_control_sample(tmp_path: Path) -> None:
    """A review that was certain is so no more, until the added ones are sampled by themselves."""
    settings = ReviewSettings(policy="greedy", description="whale", target=0.8, confidence=0.8, seed=1)
    with new_review(tmp_path, settings, n=200) as review:
        live = LiveSearch(review)
        for _ in range(200):
            live.refresh(5)
            if live.search.estimate().stop:
                break
            read(review, 5)
        assert live.search.estimate().certificate
        review.add_documents(library(100, prefix="e"))
        live.refresh(5)
        decision = live.search.estimate()
        assert not decision.stop
        assert "100 documents added later (2 of 2)" in decision.reason
        assert live.search.recall().recall_low < 0.8
        for _ in range(200):
            live.refresh(5)
            if live.search.estimate().stop:
                break
            read(review, 5)
        drawn = [str(entry.item) for entry in live.search.ledger if entry.origin == "control"]
        assert sum(name.startswith("e") for name in drawn) >= 5
        assert live.search.estimate().certificate
        assert live.search.progress().n_relevant >= 0.8 * 60
        assert made_anew(review, tmp_path, 3) == suggested(live, 3)


def test_what_is_answered_without_having_been_marked_as_shown_stays_explained(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        live.refresh(3)
        (queued,) = review.upcoming(1)
        review.answer([say(queued.document, "relevant", "k", queued.id)])
        live.refresh(3)
        assert queued.document not in [one.document for one in review.upcoming(3)]
        assert [entry.origin for entry in review.ledger()] == ["policy"]


def test_a_policy_that_uses_clusters_gets_some() -> None:
    assert ReviewSettings(policy="thompson").for_search()["clusters"] == "kmeans"
    assert ReviewSettings(policy="thompson", clusters="lda").for_search()["clusters"] == "lda"
    assert ReviewSettings(policy="greedy").for_search()["clusters"] is None


def test_what_is_suggested_says_why(tmp_path: Path) -> None:
    with new_review(tmp_path, ReviewSettings(policy="greedy", description="whale", stopping=None)) as review:
        live = LiveSearch(review)
        live.refresh(3)
        assert review.upcoming(1)[0].why == "looks most worth reading now"
        read(review, 3)
        live.refresh(3)
        assert any(word in review.upcoming(1)[0].why for word in ("whale", "krill", "fin", "song"))


@pytest.mark.parametrize("rule", [None, *sorted(STOPPING_RULES)])
def test_a_begun_review_goes_on_under_any_other_rule(tmp_path: Path, rule: str | None) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        while not any(entry.cost == 0 and entry.origin == "policy" for entry in review.ledger()):  # a control is met
            live.refresh(4)
            read(review, 2)
        review.change_settings({"stopping": rule})
        assert live.refresh(4) == LiveSearch(review).refresh(4)
        review.change_settings(asdict(SETTINGS))
        assert live.refresh(4)


def test_documents_that_nobody_could_judge_are_missed_whoever_proposed_them(tmp_path: Path) -> None:
    with new_review(tmp_path, replace(SETTINGS, target=0.5), n=300) as review:
        live = LiveSearch(review)
        while not live.search.estimate().stop:
            live.refresh(4)
            for queued in review.upcoming(4):
                review.mark_shown(queued.id)
                is_open = verdict_on(queued.document) == "relevant" and int(queued.document[1:]) % 3
                verdict = "maybe" if is_open else verdict_on(queued.document)
                review.answer([say(queued.document, verdict, f"key {next(KEYS)}", queued.id)])
        counts = review.counts()
        assert counts["maybe"] > counts["relevant"]
        assert counts["unread"] == 0 or counts["relevant"] >= 0.5 * 60
        assert not live.search.estimate().certificate
