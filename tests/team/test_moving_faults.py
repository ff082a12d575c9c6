"""Moving, and what goes wrong: a review is whole where it goes or not at all, and what cannot be is refused."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from riffler import InputError, ReviewFileError, StorageError
from riffler.review import new_file
from riffler.review.database import file_of, is_postgres, reading, writing_review
from riffler.review.new_file import copy_to_file
from riffler.review.schema import ReviewRow
from riffler.team import moving
from tests.postgres import PostgresServer
from tests.team.movers import (
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
