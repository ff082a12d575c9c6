"""A temporary folder that a process holds by a lock; what a killed process left behind is removed by the next one."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

LOCK = "lock"


class HeldFolder:
    """A folder of this process alone, in which nobody else may look; it is removed at the end, however that comes."""

    def __init__(self, prefix: str) -> None:
        sweep(prefix)
        self.path, lock = _locked_folder(prefix)
        self._end = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Remove everything."""
        self._end()


def sweep(prefix: str) -> None:
    """Remove the folders of processes that were killed: those of this user whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            if not folder.is_symlink() and _is_ours(folder):
                _remove_abandoned(folder)


def _remove(folder: Path, lock: IO[str]) -> None:
    lock.close()
    shutil.rmtree(folder, ignore_errors=True)


def _locked_folder(prefix: str) -> tuple[Path, IO[str]]:
    """Make a folder and take its lock; another process that sweeps may come between the two, and then it is gone."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))  # mkdtemp: nobody else may look inside
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
