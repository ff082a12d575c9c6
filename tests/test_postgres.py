"""The PostgreSQL server of the tests keeps its promises: apart, durable, not root's, and gone at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from sqlalchemy import Connection, NullPool, create_engine, inspect, text
from sqlalchemy.exc import OperationalError

from tests.postgres import DURABLE, QUICK, PostgresServer


@contextmanager
def connected(address: str) -> Iterator[Connection]:
    with create_engine(address, poolclass=NullPool).connect() as connection:
        yield connection


def numbers_in(address: str) -> list[int]:
    with connected(address) as connection:
        return list(connection.scalars(text("SELECT number FROM numbers ORDER BY number")))


def write_numbers(address: str) -> None:
    with connected(address) as connection:
        connection.execute(text("CREATE TABLE numbers AS SELECT generate_series(1, 3) AS number"))
        connection.commit()


def shared_files(server: PostgresServer) -> list[Path]:
    """List the files through which the processes of a server share memory, and which can outlive them."""
    maps = psutil.Process(server.pid).memory_maps()
    return [Path(one.path) for one in maps if one.path.startswith("/dev/shm/")]


def segments_of(pid: int) -> list[str]:
    """List the segments of System V memory that a process has made."""
    rows = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return [segment for _, segment, _, _, creator, *_ in rows if int(creator) == pid]


def processes_in(folder: Path) -> list[str]:
    return [one.info["name"] for one in psutil.process_iter(["name", "cwd"]) if str(folder) in str(one.info["cwd"])]


def test_a_new_database_is_empty_and_apart_from_the_others(postgres: PostgresServer) -> None:
    one, other = postgres.new_database(), postgres.new_database()
    write_numbers(one)
    with connected(other) as connection:
        assert inspect(connection).get_table_names() == []
        assert connection.scalar(text("SHOW server_encoding")) == "UTF8"
        assert connection.scalar(text("SELECT lower('ÄÉ')")) == "äé"
    assert numbers_in(one) == [1, 2, 3]


def test_a_dropped_database_is_gone_with_its_connections(postgres: PostgresServer) -> None:
    address = postgres.new_database()
    with connected(address) as connection:
        connection.execute(text("SELECT 1"))
        postgres.drop_database(address)
        with pytest.raises(OperationalError):
            connection.execute(text("SELECT 1"))
    with pytest.raises(OperationalError, match="does not exist"):
        numbers_in(address)


def test_no_process_of_the_server_is_roots(postgres: PostgresServer) -> None:
    server = psutil.Process(postgres.pid)
    for process in (server, *server.children(recursive=True)):
        assert 0 not in process.uids()
        assert 0 not in process.gids()


def test_nobody_enters_without_the_password(postgres: PostgresServer) -> None:
    with pytest.raises(OperationalError, match="password"):
        numbers_in(postgres.new_database().replace(postgres._password, "wrong"))


@pytest.mark.parametrize("settings", [QUICK, DURABLE])
def test_what_was_committed_survives_a_kill_and_nothing_is_left_at_the_end(
    postgres: PostgresServer, settings: tuple[str, ...]
) -> None:
    with PostgresServer(postgres.programs, settings) as server:
        folder = server.folder
        assert folder is not None
        address = server.new_database()
        write_numbers(address)
        with connected(address) as unfinished:
            unfinished.execute(text("INSERT INTO numbers VALUES (4)"))
            server.kill()
            assert processes_in(folder) == []
            with pytest.raises(OperationalError):
                unfinished.execute(text("SELECT 1"))
        with pytest.raises(OperationalError, match="refused"):
            numbers_in(address)
        server.start()
        assert numbers_in(address) == [1, 2, 3]
        server.stop()
        server.start()
        assert numbers_in(address) == [1, 2, 3]
        pid, files = server.pid, shared_files(server)
        assert segments_of(pid)
        assert files
        server.kill()  # and so the end finds it
    assert not folder.exists()
    assert processes_in(folder) == []
    assert segments_of(pid) == []
    assert not any(file.exists() for file in files)


def test_a_server_that_does_not_start_says_why_and_leaves_nothing(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)  # the user of the server passes through
        monkeypatch.setattr(tempfile, "tempdir", place)
        with pytest.raises(AssertionError, match='invalid value for parameter "work_mem"'):
            PostgresServer(postgres.programs, ("work_mem=much",)).__enter__()
        assert list(Path(place).iterdir()) == []
