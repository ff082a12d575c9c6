"""What the pages of a review show of its settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from riffler.review import folder_search
from riffler.review.creating import create_folder_review
from tests.search.on_disk import labelled_documents, made_collection
from tests.web.visits import Visit, visiting

FIELDS = ('id="rescore_every"', 'id="candidates"')


@pytest.fixture
def of_folder(tmp_path: Path) -> Iterator[Visit]:
    made = made_collection(labelled_documents(60, n_relevant=9), tmp_path / "snow", n_items=30)
    file = tmp_path / "snow.riffler"
    create_folder_review(file, made, known=np.empty(0, dtype=np.int64)).close()
    with visiting(file) as one:
        yield one


def test_a_review_of_a_folder_says_how_often_all_documents_are_scored(of_folder: Visit) -> None:
    page = of_folder.client.get("/settings").text
    assert all(field in page for field in FIELDS)
    assert of_folder.send("PATCH", "/settings", {"rescore_every": 12, "candidates": 345}).status_code == 200
    assert of_folder.review.settings.for_search()["rescoring"].every == 12
    page = of_folder.client.get("/settings").text
    assert 'value="12"' in page
    assert 'value="345"' in page


def test_a_search_finds_what_has_not_come_up_and_what_is_found_can_be_answered(
    of_folder: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_search, "MOST", 3)
    told = of_folder.get("/search", q="surf").json()
    assert told["in_folder"] > len(told["hits"]) == 3
    assert any(piece["hit"] for hit in told["hits"] for piece in hit["snippet"])
    assert of_folder.answer(told["hits"][0]["id"], "irrelevant").status_code == 200
    assert of_folder.get("/search", q="surf").json()["hits"][0]["verdict"] == "irrelevant"
    assert of_folder.get("/search", q="zeppelin").json() == {"hits": [], "more": False, "in_folder": 0}


def test_a_review_in_memory_speaks_of_it_only_where_it_was_asked_for(visit: Visit) -> None:
    assert not any(field in visit.client.get("/settings").text for field in FIELDS)
    assert visit.send("PATCH", "/settings", {"rescore_every": 2}).status_code == 200
    assert all(field in visit.client.get("/settings").text for field in FIELDS)


def test_a_review_of_a_folder_says_what_an_export_lacks_and_where_documents_are_added(of_folder: Visit) -> None:
    page = of_folder.client.get("/data").text
    assert re.search(r"Only documents that have come up: \d+ of 60; the others stay in the collection\.", page)
    assert "documents are added there, by <code>riffler index</code>, and read" in page
    assert 'type="file"' not in page
    assert "all of them" not in page


def test_a_review_in_memory_has_all_its_documents_and_takes_more(visit: Visit) -> None:
    page = visit.client.get("/data").text
    assert "have come up" not in page
    assert 'type="file"' in page
