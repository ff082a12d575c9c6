"""A PostgreSQL server of the tests' own: a cluster in a temporary folder, on a free port, never run by root."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

USER = "riffler"
HOST = "127.0.0.1"
PORTS = range(20_000, 30_000)  # below those of outgoing connections: while the server is away nobody takes its port
SMALL = ("shared_buffers=32MB", "max_connections=200", f"listen_addresses={HOST}", "unix_socket_directories=")
QUICK = ("fsync=off", "full_page_writes=off")  # a crash of the machine may cost data, a killed server loses none
DURABLE = ()  # as PostgreSQL comes
START_SECONDS = 120.0
STOP_SECONDS = 60.0


def server_programs() -> Path | None:
    """Find the folder of initdb and postgres: the one that RIFFLER_POSTGRES names, Debian's newest, or that in PATH."""
    if named := os.environ.get("RIFFLER_POSTGRES"):
        return Path(named)
    if debian := list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return max(debian, key=lambda path: int(path.parts[-3])).parent
    found = shutil.which("initdb")
    return None if found is None else Path(found).resolve().parent


@dataclass
class PostgresServer:
    """One server with its cluster, which can be stopped or killed and started again; `close` removes both."""

    programs: Path
    settings: tuple[str, ...] = QUICK
    port: int = field(default_factory=lambda: free_port())
    folder: Path | None = None
    _password: str = field(default_factory=secrets.token_hex, repr=False)
    _process: subprocess.Popen[bytes] | None = None
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Give the process id of the server, the parent of all its other processes."""
        assert self._process is not None, "the server was not started"
        return self._process.pid

    def start(self) -> None:
        """Start it, on the cluster of before if there is one, and wait until it answers."""
        if self.folder is None:
            self.folder = self._new_cluster()
        options = [part for setting in (*SMALL, *self.settings) for part in ("-c", setting)]
        self._process = self._run("postgres", "-D", "data", "-p", str(self.port), *options)
        end = time.monotonic() + START_SECONDS
        while True:
            assert self._process.poll() is None, f"PostgreSQL ended by itself:\n{self._log()}"
            try:
                return self._execute(sql.SQL("SELECT 1"))
            except psycopg.OperationalError:
                assert time.monotonic() < end, f"PostgreSQL did not start in time:\n{self._log()}"
                time.sleep(0.02)

    def stop(self) -> None:
        """Stop it in order, without waiting for its clients; it may be started again."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """Kill -9 the server and all its processes at once, as a crash would."""
        server = psutil.Process(self.pid)
        server.suspend()  # from here on it begins no more processes
        children = server.children(recursive=True)
        for one in (*children, server):
            with suppress(psutil.NoSuchProcess):
                one.kill()
        assert self._process is not None
        self._process.wait()
        while any(is_alive(one) for one in children):
            time.sleep(0.01)

    def close(self) -> None:
        """Stop it and remove all it has written."""
        try:
            # A killed server leaves its lock file, and shared memory that only the next start frees.
            if self.folder is not None and self._ended() and (self.folder / "data" / "postmaster.pid").exists():
                self.start()
            self.stop()
        finally:
            if self.folder is not None:
                shutil.rmtree(self.folder)
            self.folder = self._process = None

    def new_database(self) -> str:
        """Make an empty database, and give its address for SQLAlchemy."""
        name = f"test_{next(self._numbers)}"
        self._execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        address = URL.create("postgresql+psycopg", USER, self._password, HOST, self.port, name)
        return address.render_as_string(hide_password=False)

    def drop_database(self, address: str) -> None:
        """Remove a database, with the connections that are still open to it."""
        name = make_url(address).database
        assert name is not None
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _new_cluster(self) -> Path:
        # Directly below the temporary folder: those of pytest are closed to the user that runs the server.
        self.folder = Path(tempfile.mkdtemp(prefix="riffler-postgres-"))
        (self.folder / "password").write_text(self._password)
        if (owner := system_user()) is not None:
            for path in (self.folder, self.folder / "password"):
                shutil.chown(path, owner, owner)
        kind = ("--encoding=UTF8", "--locale=C.UTF-8", "--auth=scram-sha-256", f"--username={USER}")
        made = self._run("initdb", "-D", "data", *kind, "--pwfile=password", "--no-sync").wait()
        assert made == 0, f"initdb failed:\n{self._log()}"
        return self.folder

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        assert self.folder is not None
        owner = system_user()
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [self.programs / program, *arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                user=owner,
                group=owner,
                extra_groups=None if owner is None else [],
            )

    def _execute(self, statement: sql.SQL | sql.Composed) -> None:
        where = {"host": HOST, "port": self.port, "user": USER, "password": self._password, "dbname": "postgres"}
        with closing(psycopg.connect(**where, autocommit=True)) as connection:  # type: ignore[arg-type]
            connection.execute(statement)

    def _ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def _log(self) -> str:
        assert self.folder is not None
        return (self.folder / "log").read_text(errors="replace")[-3000:]


def system_user() -> str | None:
    """Name the user that runs the server: PostgreSQL refuses root, for whom Debian's package brings one."""
    return "postgres" if os.geteuid() == 0 else None


def free_port() -> int:
    """Find a port nobody listens on."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as one, suppress(OSError):
            one.bind((HOST, port))
            return port


def is_alive(process: psutil.Process) -> bool:
    """Tell whether a process still runs; one that nobody has asked for its end yet does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
