"""What is shown before the search has read the texts is what it may count on later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from riffler.review.first_queue import first_proposals
from riffler.review.live import LiveSearch
from riffler.review.settings import ReviewSettings
from tests.review.reviews import SETTINGS, library, new_review, say

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.mark.parametrize("known", [(), ("d0", "d1", "d2")])
@pytest.mark.parametrize("stopping", ["control", "qbcb", "knee", None])
def test_control_documents_are_those_that_the_search_draws_first(
    tmp_path: Path, stopping: str | None, known: tuple[str, ...]
) -> None:
    with new_review(tmp_path, replace(SETTINGS, stopping=stopping)) as review:
        review.add_documents(library(40, prefix="e"))
        review.answer([say(name, "irrelevant") for name in known])
        early = first_proposals(review, 50, ahead=50)
        live = LiveSearch(review)
        drawn = live.refresh(50)
        if live.search.batch_origin != "control":
            drawn = []
        assert [one.document for one in early if one.origin == "control"] == drawn
        assert bool(drawn) == (stopping in ("control", "qbcb"))
        assert not {one.document for one in early} & set(known)
        assert len({one.document for one in early}) == len(early)


def test_what_fits_the_description_comes_first(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        chosen = [one.document for one in first_proposals(review, 50, ahead=50) if one.origin == "policy"]
        titles = dict(zip(review.collection().ids, review.collection().titles, strict=True))
        assert chosen
        assert all("whale" in titles[name] for name in chosen)


def test_without_a_description_any_will_do(tmp_path: Path) -> None:
    with new_review(tmp_path, ReviewSettings(stopping=None)) as review:
        assert len(first_proposals(review, 50, ahead=50)) == 50


def test_answers_to_them_count(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        review.fill_queue(first_proposals(review, 50, ahead=50))
        for queued in review.upcoming(6):
            review.mark_shown(queued.id)
            review.answer([say(queued.document, "irrelevant", str(queued.id), queued.id)])
        live = LiveSearch(review)
        live.refresh(5)
        assert live.search.recall().n_control == sum(one.origin == "control" for one in live.search.ledger) == 2
        assert [one.origin for one in review.ledger()][2:] == ["policy"] * 4


def test_the_queue_goes_on_behind_control_documents(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        live = LiveSearch(review)
        drawn = live.refresh(50, ahead=50)
        assert len(drawn) == 2
        queued = review.upcoming(60)
        assert [one.document for one in queued if one.origin == "control"] == drawn
        assert len(queued) == 50
        assert {one.origin for one in queued[2:]} == {"policy"}


def test_a_reader_with_an_aim_is_not_met_by_a_random_document(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        early = first_proposals(review, 10, ahead=50)
        assert {one.origin for one in early} == {"policy"}
        live = LiveSearch(review)
        assert len(live.refresh(10, ahead=50)) == 10
        queued = review.upcoming(60)
        assert {one.origin for one in queued} == {"policy"}
        assert len(queued) == 50
