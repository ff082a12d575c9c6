"""A private folder for files that come and go: readable by nobody else, empty after the server, however it ends."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, Generic, TypeVar

from riffler.errors import UnknownName

PREFIX = "riffler-files-"
LOCK = "lock"
MAX_WAITING = 8

Waiting = TypeVar("Waiting")


class PrivateFolder:
    """A folder of this server alone; its lock tells the living from those that a killed server left behind."""

    def __init__(self) -> None:
        sweep()
        self.path, self._lock = _locked_folder()

    def new_path(self, ending: str = "") -> Path:
        """Return a path that nobody can guess; names that users give never become part of one."""
        return self.path / f"{secrets.token_hex(16)}{ending}"

    @contextmanager
    def passing(self, ending: str = "") -> Iterator[Path]:
        """Give a path whose file is removed if anything fails; else it stays, to be sent and removed then."""
        path = self.new_path(ending)
        try:
            yield path
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Remove everything."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


class WaitingRoom(Generic[Waiting]):
    """Things that wait for a second request, by a token; only the latest few may."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()

    def add(self, one: Waiting) -> tuple[str, list[Waiting]]:
        """Let something wait; return its token, and what had to go for it."""
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._waiting[token] = one
            gone = [self._waiting.popitem(last=False)[1] for _ in range(len(self._waiting) - MAX_WAITING)]
        return token, gone

    @contextmanager
    def held(self, token: str) -> Iterator[Waiting]:
        """Give what waits, to nobody else meanwhile; it waits on where the block fails, and is gone otherwise."""
        with self._lock:
            found = self._waiting.pop(token, None)
        if found is None:
            raise UnknownName("This import is not waiting any more: it was done or dropped. Choose the file again.")
        try:
            yield found
        except BaseException:
            with self._lock:
                self._waiting[token] = found
            raise


def sweep() -> None:
    """Remove the folders of servers that were killed: those of this user whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if not folder.is_symlink() and _is_ours(folder):
                _remove_abandoned(folder)


def _locked_folder() -> tuple[Path, IO[str]]:
    """Make a folder and take its lock; another server that sweeps may come between the two, and then it is gone."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # mkdtemp: nobody else may look inside
        lock = (folder / LOCK).open("w")
        if _try_lock(lock) and (folder / LOCK).exists():
            return folder, lock
        lock.close()


def _is_ours(folder: Path) -> bool:
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder whose lock is free, and hold it meanwhile: who has just made it then sees that it is going."""
    with (folder / LOCK).open("r+") as lock:
        if not _try_lock(lock):
            return
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)  # Windows removes no file that is open


def _try_lock(file: IO[str]) -> bool:
    """Take the lock of a file, which ends with the process at the latest; return whether it was free."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
