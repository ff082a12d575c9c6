"""What a command has finished so far: lines of JSON that are only added, so that a killed one goes on from there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riffler.disk.files import flush_folder, room_wanted
from riffler.disk.manifest import JOURNAL
from riffler.errors import DataFileError


class Journal:
    """Steps by name, each with what came out of it.

    The first line says which command it is. A line that was not finished when the power went is left out.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL
        self._folder = folder
        self._command: Mapping[str, Any] | None = None
        self._left: dict[str, list[Any]] = {}
        if lines := _whole_lines(self._path):
            self._command = lines[0]
            for line in lines[1:]:
                self._left.setdefault(line["step"], []).append(line["left"])

    @property
    def command(self) -> Mapping[str, Any] | None:
        """The command that wrote the journal, None if there is no journal."""
        return self._command

    def begin(self, command: Mapping[str, Any]) -> None:
        """Begin a new journal, in place of any other."""
        self.remove()
        self._add(dict(command))
        self._command = command

    def find(self, step: str) -> Any:  # noqa: ANN401 - whatever the step left
        """What a step left, None if it is not finished."""
        return self._left[step][-1] if step in self._left else None

    def found(self, step: str) -> list[Any]:
        """What all steps of this name left, in order."""
        return list(self._left.get(step, ()))

    def finish(self, step: str, left: object) -> None:
        """Write down that a step is finished; it is on the disk when this returns."""
        self._add({"step": step, "left": left})
        self._left.setdefault(step, []).append(left)

    def remove(self) -> None:
        """End the journal: the command is done."""
        self._path.unlink(missing_ok=True)
        self._command, self._left = None, {}

    def _add(self, line: dict[str, Any]) -> None:
        is_new = not self._path.exists()
        data = (json.dumps(line, allow_nan=False, ensure_ascii=False) + "\n").encode("utf-8")
        with room_wanted(self._folder), self._path.open("ab", buffering=0) as stream:
            start = stream.seek(0, os.SEEK_END)
            try:
                n_written = stream.write(data)
                while n_written < len(data):
                    n_written += stream.write(data[n_written:])
                os.fsync(stream.fileno())
            except OSError:
                stream.truncate(start)
                raise
        if is_new:
            flush_folder(self._folder)


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a journal; the end of one that was being written is cut off."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        with path.open("r+b") as stream:
            stream.truncate(end)
    try:
        return [json.loads(line) for line in data[:end].splitlines()]
    except ValueError as error:
        raise DataFileError(
            f"{path}: the journal is damaged ({error}). Remove this file; what is not in the manifest is indexed again."
        ) from error
