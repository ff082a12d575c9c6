"""Arrays as files of a temporary folder, for other processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from riffler.data.held_folder import HeldFolder
from riffler.errors import EngineError

PREFIX = "riffler-steps-"


class TidiedUp(Exception):
    """A file of the folder is not there any more: who wrote it writes it again when it is told so."""


@contextmanager
def told_if_tidied_up() -> Iterator[None]:
    """Tell a file of the folder that is gone from any other that the work misses."""
    try:
        yield
    except FileNotFoundError as error:
        raise TidiedUp(str(error)) from error


class Scratch:
    """Arrays as files that other processes map; all of them go with :meth:`close`."""

    def __init__(self) -> None:
        self._held = _held_folder()

    @property
    def folder(self) -> Path:
        """Where the files lie."""
        return self._held.path

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
        self._held.remove()

    def _path(self, name: str) -> Path:
        if not self.folder.exists():  # somebody tidied up
            self._held.remove()
            self._held = _held_folder()
        return self.folder / name


def _held_folder() -> HeldFolder:
    with _writing():
        return HeldFolder(PREFIX)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        told = f"The folder of temporary files cannot be written to ({error}). Make room, or set TMPDIR to another."
        raise EngineError(told) from error
