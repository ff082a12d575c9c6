"""Reviews that are moved, what is at an address, and the move itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from sqlalchemy import Engine, select

from riffler.data.collection_reading import collection_from_frame
from riffler.review.creating import create_review
from riffler.review.database import connect, writing
from riffler.review.live import LiveSearch
from riffler.review.panel import Panel
from riffler.review.pictures import Picture
from riffler.review.remarks import Remark
from riffler.review.schema import EventRow, LeaseRow, LedgerRow, Reviewer, Suggestion
from riffler.review.schema_team import ActRow, HoldRow, MemberRow, ScreeningRow
from riffler.team.moving import Moved, move_review
from tests.review.reviews import SETTINGS, library, new_review, say
from tests.review.test_live import read
from tests.team.dumps import Dump, dump_of, identities_in

MOMENT = "2026-01-02T03:04:05.678+00:00"
Tell = Callable[[float, str], None]


def quiet(share: float, doing: str) -> None:
    """Tell nobody."""


def move(source: str | Path, target: str | Path, which: str | None = None, tell: Tell = quiet) -> Moved:
    return move_review(source, which, target, keep=False, tell=tell)


def copy(source: str | Path, target: str | Path, which: str | None = None, tell: Tell = quiet) -> Moved:
    return move_review(source, which, target, keep=True, tell=tell)


@contextmanager
def opened(address: str | Path) -> Iterator[Engine]:
    engine = connect(address)
    try:
        yield engine
    finally:
        engine.dispose()


def dump_at(address: str | Path, identity: str) -> Dump:
    with opened(address) as engine:
        return dump_of(engine, identity)


def reviews_at(address: str | Path) -> list[str]:
    with opened(address) as engine:
        return identities_in(engine)


def frozen_at(address: str | Path, identity: str) -> str | None:
    (row,) = dump_at(address, identity)["reviews"]
    return row["frozen_at"]  # type: ignore[no-any-return]


def small(folder: Path, name: str = "whales", n: int = 10) -> tuple[Path, str]:
    """A review with some answers, and its identity."""
    path = folder / f"{name}.riffler"
    with create_review(path, library(n), SETTINGS) as review:
        review.answer([say("d0", "relevant", f"{name} 0"), say("d1", "maybe", f"{name} 1")], reviewer="anna")
    (identity,) = reviews_at(path)
    return path, identity


def rich(folder: Path) -> tuple[Path, str]:
    """A review that a team has worked on: something in every table."""
    with new_review(folder) as review:
        review.answer([say("d9", "maybe")], reviewer="anna")
        frame = pl.DataFrame({"id": ["e0", "e1", "e2"], "title": ["fin song", "snow", "fin  song"], "n": [1, None, 3]})
        review.add_documents(collection_from_frame(frame), twins={"e0": "d5", "e2": "d0"})
        live = LiveSearch(review)
        for _ in range(6):
            live.refresh(4)
            read(review, 3)
        review.answer([say(next(iter(review.standings())), "irrelevant", "correction")], reviewer="berta")
        review.undo_last("undo")
        review.undo(review.answer([say("e1", "relevant", "wrong")], reviewer="anna")[0].id, "undo it", reviewer="anna")
        review.note(Remark("d3", "note", note="so … 'it' \\ \U0001f40b"), reviewer="anna")
        review.tag(Remark("d3", "tag", note="big"))
        review.untag(Remark("d3", "untag", note="big"))
        live.refresh(4)
        (queued,) = review.upcoming(1)
        review.mark_shown(queued.id)  # and nobody says anything about it
        values = Panel(review, live.search, review.revision()).values({"n_rounds": 3})
        scores = Picture("scores", review.last_remark(), bytes(range(256)))
        review.keep_pictures([Picture.of("progress", review.last_remark(), values), scores])
        review.make_token("my script")
        _add_a_team(review._engine, review.id)
    path = folder / "whales.riffler"
    (identity,) = reviews_at(path)
    return path, identity


def _add_a_team(engine: Engine, review_id: int) -> None:
    with writing(engine) as session:
        people = {row.name: row.id for row in session.scalars(select(Reviewer))}
        carla = Reviewer(name="carla", joined_at=MOMENT, password="hash", is_admin=True)
        session.add(carla)
        session.flush()
        for name, number, role in (("anna", people["anna"], "owner"), ("carla", carla.id, "reader")):
            left = None if name == "anna" else MOMENT
            session.add(MemberRow(review_id=review_id, reviewer_id=number, role=role, joined_at=MOMENT, left_at=left))
        shown = session.scalars(select(Suggestion).order_by(Suggestion.id)).first()
        assert shown is not None
        document, suggestion = shown.document_id, shown.id
        for name, verdict in (("anna", "relevant"), ("berta", "irrelevant")):
            session.add(
                LedgerRow(
                    review_id=review_id, document_id=document, reviewer_id=people[name], request_key=name,
                    kind="opinion", verdict=verdict, origin="policy", suggestion_id=suggestion, round=2,
                    probability=1 / 3, why="", shown_at=MOMENT, answered_at=MOMENT, seconds=0.1, note="",
                )
            )  # fmt: skip
        session.add(
            ScreeningRow(
                document_id=document, review_id=review_id, needed=2, state="conflict", suggestion_id=suggestion,
                opened_at=MOMENT,
            )
        )  # fmt: skip
        session.add(
            ActRow(at=MOMENT, review_id=review_id, reviewer_id=carla.id, act="export", details={"format": "csv"})
        )
        session.add(ActRow(at=MOMENT, review_id=None, reviewer_id=carla.id, act="log in", details={}))
        session.add(EventRow(review_id=review_id, at=MOMENT, name="strange", details={"ä": [1.5, None, "\0"]}))
        held = {"document_id": document, "slot": 0, "review_id": review_id, "reviewer_id": carla.id}
        session.add(HoldRow(**held, suggestion_id=suggestion, taken_at=1.0, renewed_at=2.0))
        session.merge(LeaseRow(review_id=review_id, holder="me", turn=1, renewed_at=3.0))


def without_holds(dump: Dump) -> Dump:
    """Give back, in a dump, what was shown and has no row of the ledger."""
    said = {row["suggestion_id"] for row in dump["ledger"]}
    for place, row in enumerate(dump["suggestions"]):
        row["shown_to"] = row["shown_to"] if place in said else None
    return dump
