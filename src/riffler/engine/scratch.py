"""A folder of temporary files, locked while it is in use: what a killed process left behind is removed by the next."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from riffler.errors import EngineError

PREFIX = "riffler-steps-"
YOUNG_SECONDS = 60.0  # a folder that is younger may belong to somebody who is about to lock it


class Scratch:
    """Arrays as files that other processes of this machine map; all of them go with :meth:`close`."""

    def __init__(self) -> None:
        self._lock: int | None = None
        with _writing():
            sweep(Path(tempfile.gettempdir()))
        self._make()

    @property
    def folder(self) -> Path:
        """Where the files lie."""
        return Path(self._held.name)

    def file(self, name: str, array: NDArray[np.generic]) -> Path:
        """Write an array, unless a file has that name: it is there whole or not at all."""
        path = self._path(name)
        if not path.exists():
            draft = path.with_name(f"{name}.draft")
            with _writing():
                array.tofile(draft)
                draft.replace(path)
        return path

    def written_over(self, name: str, array: NDArray[np.generic]) -> Path:
        """Write an array over what a file held, which takes a fifth of the time of a new file."""
        path = self._path(name)
        with _writing(), path.open("r+b" if path.exists() else "wb") as stream:
            stream.write(array.data.cast("B"))
        return path

    def remove(self, name: str) -> None:
        """Remove a file; who has it mapped keeps it."""
        (self.folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder."""
        self._held.cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _path(self, name: str) -> Path:
        if not self.folder.exists():  # somebody tidied up
            self.close()
            self._make()
        return self.folder / name

    def _make(self) -> None:
        with _writing():
            self._held = TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
            self._lock = _locked(self.folder)


def sweep(where: Path) -> None:
    """Remove the folders of processes that are gone."""
    for folder in where.glob(f"{PREFIX}*"):
        with suppress(OSError):  # it is somebody else's, or goes at this moment
            if time.time() - folder.stat().st_mtime < YOUNG_SECONDS:
                continue
            handle = _locked(folder)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


def _locked(folder: Path) -> int | None:
    """Lock a folder for as long as this process lives; None where somebody has it, or no folder can be locked."""
    try:
        import fcntl
    except ImportError:  # a system without such locks, where nothing is swept
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        told = f"The folder of temporary files cannot be written to ({error}). Make room, or set TMPDIR to another."
        raise EngineError(told) from error
