"""Settings, progress and storage faults over HTTP."""

from __future__ import annotations

import errno
from dataclasses import asdict
from pathlib import Path

import pytest

from riffler.errors import DiskFull, StorageError
from riffler.review.pictures import Picture
from riffler.review.store import Review
from riffler.web import api_files
from tests.web.visits import Visit, error_of, visiting


def test_settings_change_one_by_one(visit: Visit) -> None:
    told = visit.send("PATCH", "/settings", {"criteria": "any whale", "highlight": ["fin", "krill"]}).json()
    assert (told["criteria"], told["highlight"], told["target"]) == ("any whale", ["fin", "krill"], 0.8)
    assert visit.send("PATCH", "/settings", {"target": 0.9, "description": None}).json()["criteria"] == "any whale"
    now = visit.review.settings
    assert (now.target, now.description, now.highlight) == (0.9, None, ("fin", "krill"))


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"target": 1.5}, 422), ({"target": 0}, 422), ({"seed": 3}, 422), ({"highlight": ["a\0"]}, 422),
        ({"policy": "nonsense"}, 404), ({"stopping": "nonsense"}, 404), ({"target": None}, 422),
        ({"criteria": None}, 422), ({"policy": None}, 422),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(visit: Visit, change: dict[str, object], status: int) -> None:
    before = visit.review.settings
    assert visit.send("PATCH", "/settings", change).status_code == status
    assert visit.review.settings == before


def test_progress_before_the_learner_said_anything(visit: Visit) -> None:
    told = visit.get("/progress").json()
    assert (told["advice"], told["stale"], told["decision"], told["counts"]["unread"]) == ("unknown", True, None, 60)
    assert visit.get("/terms").json() == []
    for name in ("recall", "map", "pace"):
        assert "datasets" in visit.get(f"/charts/{name}").json()
    assert visit.get("/charts/nothing").status_code == 422


def test_progress_is_what_the_learner_left_and_is_withdrawn_after_an_undo(visit: Visit) -> None:
    review = visit.review
    visit.answer("d0", "relevant")
    claim = {
        "revision": asdict(review.revision()), "advice": "may stop", "sentence": "You may stop.", "n_reviewed": 1,
        "decision": {"stop": True}, "recall": {"total": 3}, "curve": [[0, 0], [1, 1]],
    }  # fmt: skip
    review.keep_pictures([Picture.of("progress", 1, claim), Picture.of("terms", 1, [["snow", 1.5], ["bond", -1.0]])])
    told = visit.get("/progress").json()
    assert (told["advice"], told["stale"], told["behind"], told["n_reviewed"]) == ("may stop", False, 0, 1)
    assert "revision" not in told
    assert visit.get("/terms").json() == [["snow", 1.5], ["bond", -1.0]]
    visit.answer("d1", "irrelevant")
    assert visit.get("/progress").json()["behind"] == 1
    visit.post("/undo", {"key": "u"})
    told = visit.get("/progress").json()
    assert (told["advice"], told["stale"], told["decision"], told["recall"]) == ("unknown", True, None, None)


def test_a_full_disk_is_said_and_work_goes_on_when_there_is_room(visit: Visit) -> None:
    def full(self: Review, *_: object, **__: object) -> None:
        raise DiskFull("The disk is full. Free some space, then try again.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Review, "answer", full)
        status, code, words = error_of(visit.answer("d1", "relevant"))
        assert (status, code) == (507, "disk_full")
        assert "Free some space" in words
    assert visit.answer("d1", "relevant").status_code == 200


def test_a_busy_or_read_only_review_is_said(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(self: Review, *_: object, **__: object) -> None:
        raise StorageError("The review was busy. Try again.")

    monkeypatch.setattr(Review, "answer", busy)
    assert error_of(visit.answer("d1", "relevant")) == (
        503,
        "storage",
        "The review was busy. Try again.",
    )


def test_no_room_for_an_export_is_said(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(api_files, "write_export", full)
    assert error_of(visit.get("/export"))[:2] == (507, "disk_full")


def test_the_closed_file_alone_is_complete(file: Path) -> None:
    with visiting(file) as visit:
        visit.answer("d1", "relevant")
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_what_is_not_there_is_said_in_the_form_that_was_asked_for(visit: Visit) -> None:
    assert error_of(visit.get("/nothing"))[:2] == (404, "not_found")
    assert error_of(visit.get("/document", id="nowhere"))[:2] == (404, "not_found")
    page = visit.client.get("/nothing")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert error_of(visit.send("PUT", "/review"))[:2] == (405, "not_allowed")
