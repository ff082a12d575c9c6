"""Moving: wherever a review goes it is the same there, and it goes on in one place only."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Engine, Table, event, func, select, update

from riffler import InputError
from riffler.data.collection_reading import collection_from_frame
from riffler.review import copying
from riffler.review.copying import COPIED, LEFT_BEHIND
from riffler.review.creating import create_review
from riffler.review.database import reading, writing
from riffler.review.fulltext import find_texts
from riffler.review.live import LiveSearch
from riffler.review.remarks import Remark
from riffler.review.rounds import revision
from riffler.review.schema import EventRow, Reviewer, ReviewRow, Suggestion
from riffler.review.schema_team import ActRow, Base
from riffler.review.store import open_review
from riffler.review.upgrade import prepare_server
from riffler.team.moving import Moved
from tests.review.reviews import SETTINGS, new_review, say, verdict_on
from tests.team.dumps import dump_of, identities_in
from tests.team.movers import (
    MOMENT,
    copy,
    dump_at,
    frozen_at,
    move,
    opened,
    reviews_at,
    rich,
    small,
    without_holds,
)


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
