"""A private folder for files that come and go: readable by nobody else, empty after the server, however it ends."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from riffler.data.held_folder import HeldFolder
from riffler.errors import UnknownName

PREFIX = "riffler-files-"
MAX_WAITING = 8

Waiting = TypeVar("Waiting")


class PrivateFolder(HeldFolder):
    """A folder of this server alone; those that a killed server left behind are removed."""

    def __init__(self) -> None:
        super().__init__(PREFIX)

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
