"""Files that wait in the database: for whoever has the token, for an hour, for one at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select, text, update

from riffler.errors import UnknownName
from riffler.review.database import connect, reading, writing
from riffler.review.schema_team import UploadPart, UploadRow
from riffler.team.waiting_uploads import HELD, MAX_WAITING, PART_BYTES, WAITING_SECONDS, UploadRoom
from tests.review.shelf import new_review_row

GONE = "not waiting any more"
Adder = Callable[..., str]


@pytest.fixture
def room(engine: Engine) -> UploadRoom:
    return UploadRoom(engine)


@pytest.fixture
def review(engine: Engine) -> int:
    return new_review_row(engine)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target"


@pytest.fixture
def add(room: UploadRoom, review: int, tmp_path: Path) -> Adder:
    def add(content: bytes = b"id,title", name: str = "books.csv", review: int = review) -> str:
        source = tmp_path / "source"
        source.write_bytes(content)
        return room.add(review, None, name, source)

    return add


def waits(room: UploadRoom, review: int, token: str, target: Path) -> bool:
    """Tell whether a file waits, and let it wait on."""
    try:
        with room.held(review, token, target):
            raise InterruptedError
    except InterruptedError:
        return True
    except UnknownName:
        return False


def count(engine: Engine) -> tuple[int, int]:
    """Return how many files there are, and how many parts of files."""
    with reading(engine) as session:
        files, parts = (session.scalar(select(func.count()).select_from(table)) for table in (UploadRow, UploadPart))
        return files or 0, parts or 0


def let_pass(engine: Engine, seconds: float) -> None:
    with writing(engine) as session:
        session.execute(update(UploadRow).values(ends_at=UploadRow.ends_at - seconds))


@pytest.mark.parametrize("n_bytes", [0, 1, PART_BYTES, 2 * PART_BYTES + 7])
def test_a_file_comes_out_as_it_went_in_and_is_gone(
    engine: Engine, room: UploadRoom, review: int, add: Adder, target: Path, n_bytes: int
) -> None:
    content = bytes(at * 7 % 256 for at in range(1000)) * (n_bytes // 1000 + 1)
    token = add(content[:n_bytes], name="Bücher.csv")
    with room.held(review, token, target) as name:
        assert (name, target.read_bytes()) == ("Bücher.csv", content[:n_bytes])
    with pytest.raises(UnknownName, match=GONE), room.held(review, token, target):
        pass
    assert count(engine) == (0, 0)


def test_a_name_with_the_character_zero_is_taken(room: UploadRoom, review: int, add: Adder, target: Path) -> None:
    with room.held(review, add(name="a\0.csv"), target) as name:
        assert name in ("a\0.csv", "a\ufffd.csv")


def test_a_file_waits_on_where_the_block_fails(room: UploadRoom, review: int, add: Adder, target: Path) -> None:
    token = add(b"some")
    for fault in (ValueError, KeyboardInterrupt):
        with pytest.raises(fault), room.held(review, token, target):
            raise fault
    with room.held(review, token, target) as name:
        assert (name, target.read_bytes()) == ("books.csv", b"some")


def test_a_file_is_given_to_nobody_else_meanwhile(
    engine: Engine, room: UploadRoom, review: int, add: Adder, target: Path
) -> None:
    token, elsewhere = add(), UploadRoom(engine)
    with room.held(review, token, target):
        with pytest.raises(UnknownName, match=GONE), elsewhere.held(review, token, target):
            pass
        with pytest.raises(UnknownName, match=GONE):
            elsewhere.drop(review, token)
        elsewhere.sweep()
        new_review_row(engine)  # others write meanwhile
    assert count(engine) == (0, 0)


def test_only_whoever_has_the_token_and_the_review_gets_a_file(
    engine: Engine, room: UploadRoom, review: int, add: Adder, target: Path
) -> None:
    token, other = add(), new_review_row(engine)
    with reading(engine) as session:
        kept = session.scalars(select(UploadRow.hash)).one()
    for number, secret in ((other, token), (review, ""), (review, kept), (review, HELD + token), (review, "\ud800\0")):
        assert not waits(room, number, secret, target)
        with pytest.raises(UnknownName, match=GONE):
            room.drop(number, secret)
    assert token not in kept
    assert waits(room, review, token, target)


def test_a_dropped_file_is_gone(engine: Engine, room: UploadRoom, review: int, add: Adder, target: Path) -> None:
    token, other = add(), add(b"other")
    room.drop(review, token)
    assert not waits(room, review, token, target)
    assert waits(room, review, other, target)
    assert count(engine) == (1, 1)


def test_the_oldest_of_a_review_go(engine: Engine, room: UploadRoom, review: int, add: Adder, target: Path) -> None:
    other = new_review_row(engine)
    elsewhere = add(review=other)
    tokens = [add() for _ in range(MAX_WAITING + 2)]
    assert [waits(room, review, token, target) for token in tokens] == [False] * 2 + [True] * MAX_WAITING
    assert waits(room, other, elsewhere, target)
    assert count(engine) == (MAX_WAITING + 1, MAX_WAITING + 1)


def test_new_files_come_while_the_oldest_is_being_added(
    room: UploadRoom, review: int, add: Adder, target: Path
) -> None:
    with room.held(review, add(), target):
        tokens = [add() for _ in range(MAX_WAITING)]
    assert waits(room, review, tokens[-1], target)


def test_a_file_waits_for_an_hour(engine: Engine, room: UploadRoom, review: int, add: Adder, target: Path) -> None:
    token = add()
    let_pass(engine, WAITING_SECONDS - 60)
    room.sweep()
    assert waits(room, review, token, target)
    let_pass(engine, 60)
    assert not waits(room, review, token, target)
    assert count(engine) == (1, 1)
    fresh = add()
    assert count(engine) == (1, 1)
    assert waits(room, review, fresh, target)
    let_pass(engine, WAITING_SECONDS)
    room.sweep()
    assert count(engine) == (0, 0)


def test_what_a_killed_server_held_is_swept_in_a_file(sqlite_engine: Engine, tmp_path: Path) -> None:
    room, review = UploadRoom(sqlite_engine), new_review_row(sqlite_engine)
    source = tmp_path / "source"
    source.write_bytes(b"some")
    held = room.held(review, room.add(review, None, "books.csv", source), tmp_path / "target")
    held.__enter__()
    let_pass(sqlite_engine, WAITING_SECONDS)
    room.sweep()
    assert count(sqlite_engine) == (0, 0)


def test_what_a_killed_server_held_waits_on_in_postgres(
    postgres_engine: Engine, postgres_tables: str, tmp_path: Path
) -> None:
    review, source, target = new_review_row(postgres_engine), tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"some")
    room, killed = UploadRoom(postgres_engine), connect(postgres_tables)
    token = room.add(review, None, "books.csv", source)
    with UploadRoom(killed).held(review, token, target):
        assert not waits(room, review, token, target)
        with writing(postgres_engine) as session:
            holders = (
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE state = 'idle in transaction' AND datname = current_database()"
            )
            session.execute(text(holders))
        assert waits(room, review, token, target)
    killed.dispose()  # and the block that went on had no fault
    assert waits(room, review, token, target)
