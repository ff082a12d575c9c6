"""How fast people read, and how often what they said holds in the end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from riffler.review import remarks, screening
from riffler.review.database import reading
from riffler.review.pace import PAUSE_SECONDS, Pace, median_seconds, paces_of, per_hour
from riffler.review.remarks import Remark
from riffler.team import desk
from riffler.team.people import People
from tests.review.reviews import library, say
from tests.team.teams import SINGLE, Team, team_at

DOUBLE = replace(SINGLE, screening="all", readers=2)


class Clock:
    """Tells a time of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0
        for module in (remarks, screening, desk):
            monkeypatch.setattr(module, "now", self.now)

    def now(self) -> str:
        minutes, seconds = divmod(self.seconds, 60)
        return f"2026-01-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.000+00:00"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give a clock that stands still until it is set."""
    return Clock(monkeypatch)


def paces(team: Team) -> dict[str, Pace]:
    with reading(team.engine) as session:
        return {pace.reviewer: pace for pace in paces_of(session, team.review.id)}


def test_a_pause_is_no_reading_and_a_clock_that_is_set_back_is_no_pace() -> None:
    def moment(seconds: float) -> str:
        return f"2026-01-01T{int(seconds // 3600):02}:{int(seconds % 3600 // 60):02}:{seconds % 60:06.3f}+00:00"

    assert per_hour([moment(at) for at in (0, 20, 20 + PAUSE_SECONDS + 1, 341, 200, 220)]) == 180.0
    assert per_hour([moment(0)]) is None
    assert per_hour([]) is None
    assert median_seconds([None]) is None


def test_paces_are_of_what_somebody_read(engine: Engine, people: People, clock: Clock) -> None:
    team = team_at(engine)
    for place, (seconds, verdict) in enumerate([(8.0, "relevant"), (None, "irrelevant"), (12.0, "irrelevant")]):
        clock.seconds = 30 * place
        team.say("anna", f"d{place}", verdict, seconds=seconds)
    clock.seconds = 4000
    team.say("anna", "d3", "irrelevant", seconds=40.0)
    clock.seconds = 4010
    team["anna"].note(Remark("d3", "a note", note="no reading"))
    team.say("bert", "d4", "maybe")
    team.say("olga", "d4", "irrelevant")  # a correction is one more answer
    assert paces(team) == {
        "anna": Pace("anna", 4, 0, 12.0, 120.0, 0, None, 0.25),
        "bert": Pace("bert", 1, 0, None, None, 0, None, 0.0),
        "olga": Pace("olga", 1, 0, None, None, 0, None, 0.0),
    }


def test_what_was_undone_was_read_and_does_not_count(engine: Engine, people: People, clock: Clock) -> None:
    team = team_at(engine)
    team.say("anna", "d0", "relevant", seconds=6.0)
    clock.seconds = 60
    team["anna"].undo(None, "undo")
    team.say("anna", "d1", "irrelevant", seconds=8.0)
    team.say("anna", "d1", "maybe", seconds=10.0)
    assert paces(team)["anna"] == Pace("anna", 1, 0, 8.0, 60.0, 0, None, 0.0)


def test_opinions_are_measured_by_the_answer_that_holds(engine: Engine, people: People, clock: Clock) -> None:
    team = team_at(engine, DOUBLE, reviewers=("anna", "bert", "cleo"))
    for document, mine, others in (
        ("d0", "relevant", "relevant"),
        ("d1", "relevant", "irrelevant"),
        ("d2", "maybe", "irrelevant"),
    ):
        team.say("anna", document, mine, seconds=5.0)
        team.say("bert", document, others)
        clock.seconds += 20
    team["cleo"].resolve(say("d1", "irrelevant", "settled"))
    found = paces(team)
    assert found["anna"] == Pace("anna", 0, 3, 5.0, 180.0, 2, 0.5, 2 / 3)
    assert found["bert"] == Pace("bert", 0, 3, None, 180.0, 2, 1.0, 1 / 3)  # agreement is no answer of the last reader
    assert found["cleo"] == Pace("cleo", 1, 0, None, None, 0, None, 0.0)


def test_the_pace_tells_no_verdict_on_what_waits_for_a_reader(engine: Engine, people: People) -> None:
    team = team_at(engine, DOUBLE)
    team.say("anna", "d0", "relevant")
    assert paces(team) == {"anna": Pace("anna", 0, 1, None, None, 0, None, None)}


def test_what_was_known_before_is_nobodys_reading(engine: Engine, people: People) -> None:
    team = team_at(engine)
    team.review.add_documents(library(5, "e"), labels={"d0": 1, "d1": 0}, reviewer="anna")
    assert team.review.counts()["relevant"] == 1
    assert paces(team) == {}
