"""One process at a time changes a collection; the lock goes with the process, however it ends."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from riffler.data.folder import PARTITIONS
from riffler.disk.files import room_wanted
from riffler.errors import InputError

LOCK = "lock"
LONGEST = 20
CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)
"""What it says of a folder that cannot be written to."""

HELD = (errno.EWOULDBLOCK, errno.EACCES)
"""What the system says of a lock that another process has."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a collection; another process that has it is an error at once.

    Where the folder is removed meanwhile, whatever goes wrong by that is told as such.
    """
    if (folder / LOCK).is_dir():
        raise InputError(f"{folder / LOCK} is a folder; Riffler has a file of that name there. Move it away.")
    try:
        with room_wanted(folder):
            handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno not in CLOSED:
            raise
        raise InputError(
            f"{folder} cannot be written to ({error.strerror}), and was not changed. Make it writable, or name another "
            "folder."
        ) from error
    try:
        _take(handle, folder)
        with room_wanted(folder):
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        with _still_there(handle, folder):
            yield
    finally:
        os.close(handle)


@contextmanager
def _still_there(handle: int, folder: Path) -> Iterator[None]:
    had_partitions = (folder / PARTITIONS).is_dir()
    try:
        yield
    except Exception as error:
        if os.fstat(handle).st_nlink and (folder / PARTITIONS).is_dir() >= had_partitions:
            raise
        raise InputError(
            f"{folder}, or files in it, were removed while it was written to. Begin again when nobody else changes it, "
            "or name another folder."
        ) from error


def _take(handle: int, folder: Path) -> None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in HELD:
            raise InputError(
                f"{folder} cannot be locked ({error.strerror}), so nothing keeps two processes from changing it at a "
                "time. Name a folder on another disk, such as one of this machine."
            ) from error
        holder = os.read(handle, 100).decode(errors="replace").strip() or "unknown"
        raise InputError(
            f"{folder}: another process (number {holder}) is indexing into this folder. Wait until it is done, or "
            "name another folder."
        ) from error


def is_lock(path: Path) -> bool:
    """Whether a file is the lock of a collection: it holds nothing but the number of a process."""
    return (
        path.is_file() and path.stat().st_size <= LONGEST and re.fullmatch(rb"[0-9]*\n?", path.read_bytes()) is not None
    )
