"""Screening over HTTP: what is said reaches the ledger once, and what holds comes back."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from riffler.data.collection_reading import collection_from_frame
from riffler.review.creating import create_review
from riffler.review.remarks import Answer
from tests.web.visits import Visit, error_of, visiting


def test_the_review_at_a_glance(visit: Visit) -> None:
    told = visit.get("/review").json()
    assert (told["name"], told["settings"]["target"]) == ("whales", 0.8)
    assert told["counts"] == {"relevant": 0, "irrelevant": 0, "maybe": 0, "skip": 0, "unread": 60}
    assert [one["n"] for one in told["strata"]] == [60]
    assert told["learner"] == {"alive": False, "behind": 0, "error": None}


def test_the_next_documents_come_in_the_order_of_the_queue(visit: Visit) -> None:
    told = visit.get("/next", n=3).json()
    assert [one["document"]["id"] for one in told] == ["d0", "d1", "d2"]
    assert (told[0]["why"], told[0]["origin"], told[0]["score"]) == ("looks worth reading", "policy", 1.0)
    assert told[0]["document"] | {"columns": None} == {
        "id": "d0", "title": "whale whale 0", "abstract": "", "columns": None, "source": "frame", "twins": [],
        "verdict": None, "answer": None, "note": "", "tags": [],
    }  # fmt: skip
    assert told[0]["document"]["columns"]["year"] == 1950


def test_what_was_shown_comes_first_after_a_reload(visit: Visit) -> None:
    third = visit.get("/next", n=3).json()[2]
    assert visit.post(f"/suggestions/{third['suggestion']}/shown").status_code == 204
    assert visit.get("/next").json()[0]["document"]["id"] == third["document"]["id"]
    assert error_of(visit.post("/suggestions/999/shown"))[:2] == (409, "conflict")


def test_an_answer_says_why_it_was_asked_and_is_counted(visit: Visit) -> None:
    first = visit.get("/next").json()[0]
    reply = visit.answer("d0", "relevant", suggestion=first["suggestion"], seconds=3.5, note="clear").json()
    assert reply["counts"]["relevant"] == 1
    (receipt,) = reply["receipts"]
    assert (receipt["document"], receipt["origin"], receipt["repeated"]) == ("d0", "policy", False)
    (line,) = visit.get("/history").json()
    assert (line["why"], line["seconds"], line["note"], line["holds"]) == ("looks worth reading", 3.5, "clear", True)
    assert visit.get("/document", id="d0").json()["verdict"] == "relevant"
    assert visit.get("/next").json()[0]["document"]["id"] == "d1"


def test_a_request_that_is_sent_again_is_recorded_once(visit: Visit) -> None:
    body = {"answers": [{"document": "d1", "verdict": "maybe", "key": "same"}]}
    assert [visit.post("/answers", body).json()["receipts"][0]["repeated"] for _ in range(3)] == [False, True, True]
    assert len(visit.get("/history").json()) == 1
    other = {"answers": [{"document": "d2", "verdict": "maybe", "key": "same"}]}
    assert error_of(visit.post("/answers", other))[:2] == (409, "conflict")


def test_answers_are_recorded_together_or_not_at_all(visit: Visit) -> None:
    good, bad = ({"document": name, "verdict": "skip", "key": name} for name in ("d1", "nowhere"))
    status, code, words = error_of(visit.post("/answers", {"answers": [good, bad]}))
    assert (status, code) == (404, "not_found")
    assert "nowhere" in words
    assert visit.get("/history").json() == []


def test_an_answer_from_a_second_tab_is_a_conflict_that_writes_nothing(visit: Visit) -> None:
    first = visit.answer("d3", "relevant", expect=None).json()["receipts"][0]
    status, code, words = error_of(visit.answer("d3", "irrelevant", expect=None))
    assert (status, code) == (409, "conflict")
    assert "'relevant' now" in words
    assert visit.get("/document", id="d3").json()["verdict"] == "relevant"
    assert visit.answer("d3", "irrelevant", expect=first["id"]).status_code == 200
    assert visit.answer("d3", "maybe").json()["receipts"][0]["origin"] == "correction"  # who does not expect corrects


def test_undo_to_any_depth(visit: Visit) -> None:
    for verdict in ("relevant", "irrelevant"):
        visit.answer("d4", verdict)
    for key, holds in (("a", "relevant"), ("b", None)):
        told = visit.post("/undo", {"key": key}).json()
        assert (told["document"]["id"], told["document"]["verdict"]) == ("d4", holds)
    assert visit.post("/undo", {"key": "b"}).json()["receipt"]["repeated"]
    assert error_of(visit.post("/undo", {"key": "c"}))[:2] == (409, "conflict")
    assert error_of(visit.post("/undo", {"key": "d", "answer": 77}))[:2] == (404, "not_found")


def test_undo_of_an_answer_that_was_corrected_is_a_conflict(visit: Visit) -> None:
    first = visit.answer("d4", "relevant").json()["receipts"][0]["id"]
    visit.answer("d4", "maybe")
    assert error_of(visit.post("/undo", {"key": "a", "answer": first}))[:2] == (409, "conflict")


def test_notes_and_tags(visit: Visit) -> None:
    visit.post("/notes", {"document": "d5", "text": "ask Anna", "key": "n"})
    visit.post("/tags", {"document": "d5", "tag": "method", "key": "t"})
    visit.post("/tags", {"document": "d6", "tag": "animal", "key": "u"})
    told = visit.get("/document", id="d5").json()
    assert (told["note"], told["tags"]) == ("ask Anna", ["method"])
    assert visit.get("/tags").json() == ["animal", "method"]
    visit.post("/untag", {"document": "d5", "tag": "method", "key": "v"})
    assert visit.get("/tags").json() == ["animal"]


def test_a_night_with_an_open_page_is_not_counted_as_reading(visit: Visit) -> None:
    visit.answer("d7", "relevant", seconds=60_000)
    assert visit.get("/history").json()[0]["seconds"] == 3600


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "perhaps"}, {"key": ""}, {"key": "k" * 201}, {"seconds": -1}, {"note": "n" * 20_001},
        {"note": "a\0b"}, {"document": "d\ud800"}, {"suggestion": 0}, {"suggestion": 2**70}, {"seconds": "long"},
        {"surprise": 1},
    ],
)  # fmt: skip
def test_what_is_not_an_answer_is_refused_in_words(visit: Visit, change: dict[str, object]) -> None:
    body = {"document": "d1", "verdict": "relevant", "key": "k", **change}
    status, code, words = error_of(visit.post("/answers", {"answers": [body]}))
    assert (status, code) == (422, "invalid")
    assert next(iter(change)) in words
    assert visit.get("/history").json() == []


@pytest.mark.parametrize("body", [[], {}, {"answers": []}, "text", None, {"answers": [{}] * 501}])
def test_other_shapes_are_refused(visit: Visit, body: object) -> None:
    assert visit.post("/answers", body).status_code == 422


def test_ids_may_hold_any_characters(tmp_path: Path) -> None:
    names = ["a/b?c=d&e#f", "../../etc/passwd", "é 漢字 🐳", "<script>", "100%"]
    frame = pl.DataFrame({"id": names, "title": [f"title {name}" for name in names]})
    create_review(tmp_path / "r.riffler", collection_from_frame(frame)).close()
    with visiting(tmp_path / "r.riffler") as visit:
        for name in names:
            assert visit.answer(name, "relevant").json()["receipts"][0]["document"] == name
            assert visit.get("/document", id=name).json()["verdict"] == "relevant"


def test_search_shows_where_and_what_holds(visit: Visit) -> None:
    visit.review.answer([Answer("d0", "k", verdict="relevant")])
    told = visit.get("/search", q="whale", n=2).json()
    assert told["more"]
    assert (told["hits"][0]["id"], told["hits"][0]["verdict"], told["hits"][0]["answer"]) == ("d0", "relevant", 1)
    assert told["hits"][1]["verdict"] is None
    everything = visit.get("/search", q="whale", n=200).json()
    assert not everything["more"]
    assert visit.get("/search", q="whale", n=200, offset=2).json()["hits"] == everything["hits"][2:]
    assert visit.get("/search", q='AND ( "').json()["hits"] == []


def test_history_passes_its_filters(visit: Visit) -> None:
    for name, verdict in (("d1", "relevant"), ("d2", "skip"), ("d1", "maybe")):
        visit.answer(name, verdict)
    visit.post("/notes", {"document": "d3", "text": "look", "key": "n"})
    assert [line["id"] for line in visit.get("/history").json()] == [4, 3, 2, 1]
    assert [line["id"] for line in visit.get("/history", before=3).json()] == [2, 1]
    assert [line["id"] for line in visit.get("/history", holding=True).json()] == [3, 2]
    assert [line["id"] for line in visit.get("/history", kind="note").json()] == [4]
    assert [line["id"] for line in visit.get("/history", verdict="skip").json()] == [2]
    assert [line["id"] for line in visit.get("/history", origin="correction").json()] == [3]
    assert [line["id"] for line in visit.get("/history", words="LOOK").json()] == [4]
    assert [line["id"] for line in visit.get("/history", document="d1", n=1).json()] == [3]
