"""Moving: wherever a review goes it is the same there, whole or not at all, and it goes on in one place only."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import Engine, Table, event, func, select, update
from sqlalchemy.orm import Session

from riffler import InputError, ReviewFileError, StorageError
from riffler.data.collection_reading import collection_from_frame
from riffler.review import copying, new_file
from riffler.review.copying import COPIED, LEFT_BEHIND
from riffler.review.creating import create_review
from riffler.review.database import connect, file_of, is_postgres, reading, writing, writing_review
from riffler.review.fulltext import find_texts
from riffler.review.live import LiveSearch
from riffler.review.new_file import copy_to_file
from riffler.review.panel import Panel
from riffler.review.pictures import Picture
from riffler.review.remarks import Remark
from riffler.review.rounds import revision
from riffler.review.schema import EventRow, LeaseRow, LedgerRow, Reviewer, ReviewRow, Suggestion
from riffler.review.schema_team import ActRow, Base, HoldRow, MemberRow, ScreeningRow
from riffler.review.store import open_review
from riffler.review.upgrade import prepare_server
from riffler.team import moving
from riffler.team.moving import Moved, move_review
from tests.postgres import PostgresServer
from tests.review.reviews import SETTINGS, library, new_review, say, verdict_on
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


def test_a_review_is_the_same_on_a_server_and_in_a_file_again(tmp_path: Path, postgres_address: str) -> None:
    path, identity = rich(tmp_path)
    other, its_identity = small(tmp_path, "other")
    before, others = without_holds(dump_at(path, identity)), dump_at(other, its_identity)
    move(other, postgres_address)  # so that no number is the same there
    assert dump_at(postgres_address, its_identity) == others
    moved = move(path, postgres_address)
    assert (moved.name, moved.n_documents, moved.n_people) == ("whales", 63, 4)
    assert dump_at(postgres_address, identity) == before
    assert dump_at(postgres_address, its_identity) == others
    back = move(postgres_address, tmp_path / "back.riffler", identity)
    assert back == Moved(1, *list(asdict(moved).values())[1:])
    assert dump_at(tmp_path / "back.riffler", identity) == before
    with open_review(path) as first, open_review(tmp_path / "back.riffler") as last:
        assert len(first.find("song")) > 5
        assert last.find("song") == first.find("song")
        assert last.counts() == first.counts()
        assert (len(first.tokens()), len(last.tokens())) == (1, 0)
    assert {file.name for file in tmp_path.iterdir()} == {"whales.riffler", "other.riffler", "back.riffler"}


def test_every_table_is_copied_or_left_behind_on_purpose() -> None:
    named = {table.name for table in COPIED} | {"reviews", "reviewers"}
    assert named | LEFT_BEHIND == set(Base.metadata.tables)
    assert not named & LEFT_BEHIND


def test_the_search_goes_on_with_the_same_suggestions(tmp_path: Path, postgres_address: str) -> None:
    path, _ = rich(tmp_path)
    copy(path, postgres_address)
    copy(postgres_address, tmp_path / "back.riffler", "whales")
    with open_review(path) as one, open_review(tmp_path / "back.riffler") as other:
        searches = [LiveSearch(one), LiveSearch(other)]
        for _ in range(3):
            first, second = (live.refresh(5) for live in searches)
            assert first == second
            for place, name in enumerate(first[:2]):
                for review in (one, other):
                    review.answer([say(name, verdict_on(name), f"{name} {place}")])
        assert one.standings().keys() == other.standings().keys()


def test_claims_about_the_progress_stay_true(tmp_path: Path, postgres_address: str) -> None:
    path, identity = rich(tmp_path)
    move(small(tmp_path, "other")[0], postgres_address)
    number = move(path, postgres_address).id
    with opened(postgres_address) as engine, reading(engine) as session:
        (picture,) = (row for row in dump_of(engine, identity)["pictures"] if row["name"] == "progress")
        assert picture["payload"]["revision"]["last_change"] == "undo it"
        assert revision(session, number).last_change > 20
        assert picture["ledger_id"] == "untag"


def test_who_has_the_same_name_is_the_same_person_and_nobody_else_can_log_in(
    tmp_path: Path, postgres_address: str
) -> None:
    with opened(postgres_address) as engine:
        prepare_server(engine, "here")
        with writing(engine) as session:
            session.add(Reviewer(name="anna", joined_at=MOMENT, password="hers", is_admin=True))
            session.add(Reviewer(name="Carla", joined_at=MOMENT))
        copy(rich(tmp_path)[0], postgres_address)
        with reading(engine) as session:
            people = {row.name: row for row in session.scalars(select(Reviewer))}
    assert (people["anna"].password, people["anna"].is_admin, people["anna"].joined_at) == ("hers", True, MOMENT)
    assert set(people) == {"anna", "berta", "Carla", "reviewer"}
    for name in ("berta", "Carla", "reviewer"):
        assert (people[name].password, people[name].is_admin) == (None, False)


def test_two_people_stay_two(tmp_path: Path, postgres_address: str) -> None:
    with new_review(tmp_path) as review:
        for name in ("Anna", "ANNA", "anna"):
            review.note(Remark("d0", name, note=name), reviewer=name)
    with opened(postgres_address) as engine:
        prepare_server(engine, "here")
        with writing(engine) as session:
            session.add_all([Reviewer(name="ANNA", joined_at=MOMENT), Reviewer(name="aNNa", joined_at=MOMENT)])
        copy(tmp_path / "whales.riffler", postgres_address)
        (identity,) = identities_in(engine)
        said = [(row["note"], row["reviewer_id"]) for row in dump_of(engine, identity)["ledger"]]
    assert said == [("Anna", "aNNa"), ("ANNA", "ANNA"), ("anna", "anna")]


def test_a_review_is_frozen_where_it_was_and_a_copy_is_not(tmp_path: Path) -> None:
    path, identity = small(tmp_path)
    before = dump_at(path, identity)
    copy(path, tmp_path / "copy.riffler")
    assert dump_at(path, identity) == before
    move(path, tmp_path / "folder" / "there.riffler")
    after = dump_at(path, identity)
    assert after.pop("events")[-1]["details"] == {"to": str(tmp_path / "folder" / "there.riffler")}
    assert after["reviews"][0].pop("frozen_at") is not None
    for one in ("copy.riffler", "folder/there.riffler"):
        assert dump_at(tmp_path / one, identity) == before
    with pytest.raises(InputError, match=r"was moved to .*there.riffler on 20.*Move it from there"):
        move(path, tmp_path / "again.riffler")
    copy(path, tmp_path / "again.riffler")
    assert frozen_at(tmp_path / "again.riffler", identity) == frozen_at(path, identity)


def test_one_that_its_owner_froze_stays_so(tmp_path: Path) -> None:
    path, identity = small(tmp_path)
    with opened(path) as engine, writing(engine) as session:
        session.execute(update(ReviewRow).values(frozen_at=MOMENT))
    move(path, tmp_path / "there.riffler")
    assert frozen_at(tmp_path / "there.riffler", identity) == MOMENT


def test_reviews_in_one_file_do_not_mix(tmp_path: Path) -> None:
    path, identity = rich(tmp_path)
    other, its_identity = small(tmp_path, "other")
    team = tmp_path / "team.riffler"
    copy(other, team)
    with closing(sqlite3.connect(team)) as connection:
        connection.execute("INSERT INTO sqlite_sequence VALUES ('suggestions', 1000)")  # some were replaced there
        connection.commit()
    copy(path, team)
    assert reviews_at(team) == [its_identity, identity]
    assert dump_at(team, identity) == without_holds(dump_at(path, identity))
    assert dump_at(team, its_identity) == dump_at(other, its_identity)
    with opened(team) as engine, reading(engine) as session:
        assert session.scalar(select(func.min(Suggestion.id))) == 1001
        assert {hit.document for hit in find_texts(session, 1, "song", 100, 0)} <= {f"d{row}" for row in range(10)}
        assert len(find_texts(session, 2, "song", 100, 0)) == 7
    with pytest.raises(InputError, match=r"2 reviews. Say which: 'other', 'whales'"):
        copy(team, tmp_path / "x.riffler")
    with pytest.raises(InputError, match=r"no review called 'snow'. Known: 'other', 'whales'"):
        copy(team, tmp_path / "x.riffler", "snow")
    for which in ("other", its_identity):
        copy(team, tmp_path / f"{which}.x", which)
        assert reviews_at(tmp_path / f"{which}.x") == [its_identity]
    with opened(team) as engine, writing(engine) as session:
        session.execute(update(ReviewRow).values(name="same"))
    with pytest.raises(InputError, match=f"2 reviews are called 'same'.*{identity}"):
        copy(team, tmp_path / "x.riffler", "same")


def test_numbers_of_a_server_go_on_after_those_of_the_copy(tmp_path: Path, postgres_address: str) -> None:
    number = copy(rich(tmp_path)[0], postgres_address).id
    with opened(postgres_address) as engine, writing(engine) as session:
        for row in (
            Suggestion(document_id=1, place=0, origin="policy", round=0, probability=1.0, why="", made_at=MOMENT),
            EventRow(at=MOMENT, name="later", details={}),
            ActRow(at=MOMENT, act="later", details={}),
        ):
            row.review_id = number
            session.add(row)
        session.add(ReviewRow(name="next", settings={}, made_at=MOMENT, made_with="1", identity="next"))
        session.add(Reviewer(name="dora", joined_at=MOMENT))
        session.flush()


def test_the_character_0_which_a_server_cannot_keep_is_shown_as_an_unknown_one(
    tmp_path: Path, postgres_address: str
) -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "title": ["x\0y", "z"], "n": ["1\0", "2"]})
    with create_review(tmp_path / "odd.riffler", collection_from_frame(frame), SETTINGS) as review:
        review.note(Remark("a", "n", note="\0"))
    copy(tmp_path / "odd.riffler", postgres_address)
    copy(postgres_address, tmp_path / "back.riffler")
    copy(tmp_path / "odd.riffler", tmp_path / "file.riffler")
    with open_review(tmp_path / "back.riffler") as back, open_review(tmp_path / "file.riffler") as in_file:
        assert list(back.collection().titles) == ["x\ufffdy", "z"]
        assert back.collection().columns["n"].to_list() == ["1\0", "2"]
        assert list(in_file.collection().titles) == ["x\0y", "z"]


def test_rows_are_in_memory_a_block_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, identity = small(tmp_path, n=100)
    monkeypatch.setattr(copying, "BLOCK", 7)
    log: list[tuple[str, int]] = []
    rows_of = copying._Copy._rows

    def watched(self: Any, table: Table, keys: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - private types
        rows = rows_of(self, table, keys)
        if table.name == "documents":
            log.append(("read", len(rows)))
        return rows

    def on_execute(session: Any, cursor: object, statement: str, rows: Any, context: object, is_many: bool) -> None:  # noqa: ANN401
        if statement.startswith("INSERT INTO documents "):
            log.append(("written", len(rows) if is_many else 1))

    monkeypatch.setattr(copying._Copy, "_rows", watched)
    event.listen(Engine, "before_cursor_execute", on_execute)
    try:
        copy(path, tmp_path / "copy.riffler")
    finally:
        event.remove(Engine, "before_cursor_execute", on_execute)
    assert log == [("read", 7), ("written", 7)] * 14 + [("read", 2), ("written", 2)]
    assert dump_at(tmp_path / "copy.riffler", identity) == dump_at(path, identity)


def test_a_backup_of_one_review_is_a_new_file_or_nothing(tmp_path: Path) -> None:
    path, identity = rich(tmp_path)
    with opened(path) as engine, reading(engine) as session:
        copy_to_file(session, 1, tmp_path / "backup.riffler")
        with pytest.raises(InputError, match="a file already"):
            copy_to_file(session, 1, tmp_path / "backup.riffler")
        with pytest.raises(InputError, match="no review with the number 7"):
            copy_to_file(session, 7, tmp_path / "other.riffler")
        with pytest.raises(StorageError, match="cannot be written"):
            copy_to_file(session, 1, path / "other.riffler")
    assert dump_at(tmp_path / "backup.riffler", identity) == without_holds(dump_at(path, identity))
    assert {file.name for file in tmp_path.iterdir()} == {"whales.riffler", "backup.riffler"}


def test_what_the_target_has_already_is_refused(tmp_path: Path, postgres_address: str) -> None:
    path, identity = small(tmp_path)
    for target in (postgres_address, tmp_path / "there.riffler"):
        copy(path, target)
        before = dump_at(target, identity)
        for again in (copy, move):
            with pytest.raises(InputError, match=f"'whales' is there already.*{identity}.*go on there"):
                again(path, target)
        assert dump_at(target, identity) == before
    assert frozen_at(path, identity) is None


def test_a_copy_that_refers_to_nothing_is_refused_as_damaged(tmp_path: Path) -> None:
    path, _ = small(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE documents SET twin_of = 999 WHERE name = 'd3'")
        connection.commit()
    with pytest.raises(ReviewFileError, match="damaged"):
        copy(path, tmp_path / "there.riffler")
    assert [file.name for file in tmp_path.iterdir()] == ["whales.riffler"]


def test_of_two_that_bring_the_same_review_one_wins(tmp_path: Path, postgres_address: str) -> None:
    path, identity = small(tmp_path)
    shutil.copy(path, tmp_path / "twin.riffler")
    is_under_way, may_go_on = threading.Event(), threading.Event()
    faults: list[str] = []

    def wait(share: float, doing: str) -> None:
        is_under_way.set()
        assert may_go_on.wait(60)

    def second() -> None:
        try:
            move(tmp_path / "twin.riffler", postgres_address)
        except InputError as error:
            faults.append(str(error))

    first = threading.Thread(target=move, args=(path, postgres_address, None, wait))
    later = threading.Thread(target=second)
    first.start()
    assert is_under_way.wait(60)
    later.start()
    time.sleep(0.5)  # it waits for the first to succeed or fail
    assert later.is_alive()
    may_go_on.set()
    first.join()
    later.join()
    assert ["there already" in fault for fault in faults] == [True]
    assert reviews_at(postgres_address) == [identity]
    assert frozen_at(path, identity) is not None
    assert frozen_at(tmp_path / "twin.riffler", identity) is None


def test_nobody_answers_while_a_review_moves(tmp_path: Path, postgres_address: str) -> None:
    path, _ = small(tmp_path)
    move(path, postgres_address)
    answered: list[bool] = []

    def answer(engine: Engine) -> None:
        with writing_review(engine, 1) as session:
            answered.append(session.get_one(ReviewRow, 1).frozen_at is None)

    with opened(postgres_address) as engine:
        thread = threading.Thread(target=answer, args=(engine,))

        def begin(share: float, doing: str) -> None:
            if not thread.is_alive() and not answered:
                thread.start()
                time.sleep(0.3)
                assert thread.is_alive()

        move(postgres_address, tmp_path / "back.riffler", tell=begin)
        thread.join()
    assert answered == [False]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_a_server_that_is_killed_keeps_all_or_nothing(tmp_path: Path, postgres: PostgresServer, share: float) -> None:
    path, identity = small(tmp_path, n=50)
    with PostgresServer(postgres.programs) as server:
        address = server.new_database()

        def kill(done: float, doing: str) -> None:
            if done >= share and server._process is not None and server._process.poll() is None:
                server.kill()

        with pytest.raises(StorageError, match="does not answer"):
            move(path, address, tell=kill)
        assert frozen_at(path, identity) is None
        with pytest.raises(StorageError, match="does not answer"):
            move(path, address)
        server.start()
        assert reviews_at(address) == []
        move(path, address)
        with pytest.raises(StorageError, match="does not answer"):
            move(address, tmp_path / "back.riffler", tell=kill)
        assert [file.name for file in tmp_path.iterdir()] == ["whales.riffler"]
        server.start()
        assert frozen_at(address, identity) is None


def test_a_source_that_goes_at_the_very_end_is_said(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, identity = small(tmp_path)
    with PostgresServer(postgres.programs) as server:
        address = server.new_database()
        move(path, address)

        @contextmanager
        def then_kill(path: Path) -> Iterator[Session]:
            with writing_new_file(path) as session:
                yield session
            server.kill()

        writing_new_file = new_file.writing_new_file
        monkeypatch.setattr(moving, "writing_new_file", then_kill)
        with pytest.raises(StorageError, match=r"whole in .*back.riffler, but it could not be frozen in .*\*\*\*"):
            move(address, tmp_path / "back.riffler")
        server.start()
        assert frozen_at(address, identity) is None
        assert reviews_at(tmp_path / "back.riffler") == [identity]


MOVER = """
import sys
import riffler.team.moving, alembic.command, riffler.cli.migrate
from riffler.cli import main
print("ready", flush=True)
main()
"""


def killed_after(seconds: float, source: str | Path, target: str | Path, which: str) -> float | None:
    """Kill -9 a command that moves a review; return how long it took where it was done before that."""
    command = [sys.executable, "-c", MOVER, "migrate", str(source), str(target), "--review", which]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        begun = time.monotonic()
        try:
            assert process.wait(seconds) == 0
            return time.monotonic() - begun
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            return None


@pytest.mark.parametrize("n_rounds", [3, pytest.param(30, marks=pytest.mark.soak)])
@pytest.mark.parametrize("is_to_server", [True, False])
def test_a_killed_move_leaves_the_target_whole_or_without_it_and_the_source_frozen_only_for_a_whole_one(
    tmp_path: Path, postgres_address: str, n_rounds: int, is_to_server: bool
) -> None:
    rng = np.random.default_rng(n_rounds)
    seconds, n_killed = None, 0
    for number in range(n_rounds + 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        path, identity = small(folder, n=800)
        before = dump_at(path, identity)
        source: str | Path = path
        target: str | Path = postgres_address
        if not is_to_server:
            source, target = postgres_address, folder / "back.riffler"
            copy(path, source)
        patience = 60.0 if seconds is None else float(rng.uniform(0, seconds))
        seconds = killed_after(patience, source, target, identity) or seconds
        assert seconds is not None, "the first is left alone"
        is_there = target_has(target, identity)
        if is_there:
            assert dump_at(target, identity) == before
        else:
            n_killed += 1
            assert dump_at(source, identity) == before
        if frozen_at(source, identity) is None:
            if is_there:
                with pytest.raises(InputError, match="already"):
                    move(source, target, identity)
            else:
                move(source, target, identity)
                assert dump_at(target, identity) == before
        else:
            assert is_there
        # a draft that is empty and young may be somebody's who is about to write to it, so it is left
        left = {file.name for file in folder.iterdir() if file.stat().st_size > 0}
        assert left <= {"whales.riffler", "back.riffler"}
    assert n_killed > 0


def target_has(target: str | Path, identity: str) -> bool:
    return (is_postgres(target) or file_of(target).exists()) and identity in reviews_at(target)
