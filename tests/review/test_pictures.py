"""Pictures say how much they knew, and no advice claims more than the certificate."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from riffler.review.history import HistoryLine
from riffler.review.live import LiveSearch
from riffler.review.panel import N_POINTS, Panel, advice_of, curve_of, pace_of, work_of
from riffler.review.pictures import Picture
from riffler.review.remarks import Remark
from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.stopping import STOPPING_RULES, Decision
from tests.review.reviews import library, new_review, say

pytestmark = pytest.mark.usefixtures("each_database")

SETTINGS = ReviewSettings(target=0.9, confidence=0.95)


def test_the_last_picture_of_a_name_is_kept(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        assert review.picture("terms") is None
        review.keep_pictures([Picture.of("terms", 1, ["ä"]), Picture("scores", 2, b"\0\1")])
        review.keep_pictures([Picture.of("terms", 3, {"a": 1.5})])
        terms, scores = review.picture("terms"), review.picture("scores")
        assert terms is not None
        assert scores is not None
        assert (terms.ledger_id, terms.read(), scores.payload) == (3, {"a": 1.5}, b"\0\1")
        with pytest.raises(ValueError, match="not JSON compliant"):
            Picture.of("terms", 1, float("nan"))


def test_claims_are_withdrawn_by_an_undo_a_correction_documents_and_settings_and_by_nothing_else(
    tmp_path: Path,
) -> None:
    with new_review(tmp_path) as review:

        def paint() -> None:
            values = {"revision": asdict(review.revision()), "advice": "may stop", "recall": {"recall": 1.0}}
            review.keep_pictures([Picture.of("progress", review.last_remark(), values)])

        def state() -> tuple[str, int, bool]:
            progress = review.progress()
            assert progress is not None
            return progress.values["advice"], progress.n_behind, progress.stale

        assert review.progress() is None
        paint()
        assert state() == ("may stop", 0, False)
        review.answer([say("d0", "relevant"), say("d1", "irrelevant")])
        review.note(Remark("d0", "note", note="x"))
        assert state() == ("may stop", 2, False)
        for change in (
            lambda: review.undo_last("undo"),
            lambda: review.answer([say("d0", "maybe")]),
            lambda: review.add_documents(library(3, prefix="e")),
            lambda: review.change_settings(asdict(ReviewSettings(target=0.5))),
        ):
            paint()
            assert state() == ("may stop", 0, False)
            change()
            assert state()[0] == "unknown"
            assert state()[2]


@pytest.mark.parametrize(
    ("decision", "advice", "words"),
    [
        (None, "unknown", "no stopping rule"),
        (Decision(False, "Not yet.", True, n_more=1200), "go on", "1,200 more control documents"),
        (Decision(False, "Not yet.", True), "go on", "Not yet."),
        (Decision(True, "Proved.", True, 0.9, 0), "may stop", "at least 90% of all relevant documents are found"),
        (Decision(True, "Seems so.", False), "heuristic: probably enough", "guarantees nothing"),
        (Decision(True, "Everything has been read; 3 could not be judged.", False, 0.7, 0), "go on", "3 could not"),
    ],
)
def test_advice_claims_no_more_than_the_certificate(decision: Decision | None, advice: str, words: str) -> None:
    said, sentence = advice_of(decision, SETTINGS)
    assert said == advice
    assert words in sentence
    if decision is None or not (decision.stop and decision.certificate):
        assert "may stop" not in sentence
        assert "certain" not in sentence


def test_a_heuristic_never_makes_a_claim() -> None:
    heuristic = [name for name, rule in STOPPING_RULES.items() if not rule().certificate]
    assert heuristic
    for stop in (True, False):
        said, sentence = advice_of(Decision(stop, "Words.", certificate=False), SETTINGS)
        assert said in ("heuristic: probably enough", "go on")
        assert "confidence" not in sentence


def test_a_long_curve_is_thinned_and_ends_now() -> None:
    rng = np.random.default_rng(0)
    answers = rng.integers(-1, 2, size=20_000)
    curve = np.array(curve_of(answers))
    assert len(curve) <= N_POINTS
    assert curve[0].tolist() == [0, 0]
    assert curve[-1].tolist() == [20_000, int(np.sum(answers == 1))]
    found = np.concatenate([[0], np.cumsum(answers == 1)])
    assert (found[curve[:, 0]] == curve[:, 1]).all()


def test_work_saved_is_that_against_a_random_order() -> None:
    work = work_of(1000, 100, 50, 50.0)
    assert (work["n_unread"], work["saved"]) == (900, 0.9)
    assert "90%" in work["sentence"]
    assert work_of(1000, 100, 0, 12.0)["saved"] is None
    assert work_of(1000, 1000, 50, 50.0)["saved"] == 0.0
    assert work_of(1000, 100, 50, None)["sentence"] == ""


def line(moment: str, seconds: float | None, verdict: str = "irrelevant", origin: str = "policy") -> HistoryLine:
    at = f"2026-01-01T10:{moment}.000+00:00"
    return HistoryLine(1, "d", "", "ann", "answer", verdict, origin, None, "", "", at, seconds, True)


def test_the_pace_leaves_out_pauses_and_what_was_known() -> None:
    latest = [
        line("40:20", 8.0, "relevant"),
        line("40:10", None),
        line("40:00", 30.0),
        line("10:00", 10.0),
        line("00:00", None, "relevant", "prior"),
    ]
    assert pace_of(latest) == {"seconds": 10.0, "per_hour": 360.0, "n_timed": 3, "found_lately": 1}
    assert pace_of([])["per_hour"] is None


def test_a_goal_that_was_moved_while_reading_is_named_beside_the_claim(tmp_path: Path) -> None:
    def sentence(review: Review) -> str:
        live = LiveSearch(review)
        live.refresh(2)
        return str(Panel(review, live.search, live.revision).values({})["sentence"])

    with new_review(tmp_path) as review:
        review.change_settings({"target": 0.7})  # before anything was read
        review.answer([say("d0", "relevant"), say("d1", "irrelevant")])
        assert "goal was changed" not in sentence(review)
        time.sleep(0.01)  # moments are written in milliseconds
        review.change_settings({"criteria": "other words", "description": "krill"})
        assert "goal was changed" not in sentence(review)
        review.change_settings({"target": 0.5})
        assert "goal was changed" in sentence(review)
