"""What a command has finished so far: lines of JSON that are only added, so that a killed one goes on from there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from riffler.disk.files import FileEntry, flush_folder, room_wanted
from riffler.disk.manifest import JOURNAL, JOURNAL_HEAD, JOURNAL_KIND, files_of_json, start_of_journal
from riffler.disk.sources import Source
from riffler.errors import DataFileError, InputError

VERSION = 3
COMMAND, STEP = ("version", "command", "generation", "options", "sources"), ("step", "left")
"""What the first line tells, and each of the others."""

PARTITION, SOURCES = "partition", "sources"
CLUSTERS, ASKED = "clusters", "asked"
"""The clusters that were found, and how many with which seed were asked for."""

WITHOUT_FILES = (SOURCES, ASKED)


class Journal:
    """Steps by name, each with what came out of it.

    The first line says which command it is. A line that was not finished when the power went is left out. A partition
    voids what was made of those before it, such as their idf: it comes late where a source got rows meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL
        self._folder = folder
        self._command: Mapping[str, Any] | None = None
        self._left: dict[str, list[Any]] = {}
        if lines := _whole_lines(folder):
            self._command = lines[0]
            for line in lines[1:]:
                self._take(line["step"], line["left"])

    @property
    def command(self) -> Mapping[str, Any] | None:
        """The command that wrote the journal, None if there is no journal."""
        return self._command

    @property
    def has_steps(self) -> bool:
        """Whether anything is finished that would be lost without the journal."""
        return bool(self._left)

    def begin(self, command: Mapping[str, Any]) -> None:
        """Begin a new journal, in place of any other."""
        self.remove()
        self._add({"kind": JOURNAL_KIND, "version": VERSION, **command})
        self._command = command

    def find(self, step: str) -> Any:  # noqa: ANN401 - whatever the step left
        """What a step left, None if it is not finished."""
        return self._left[step][-1] if step in self._left else None

    def found(self, step: str) -> list[Any]:
        """What all steps of this name left, in order."""
        return list(self._left.get(step, ()))

    def files(self) -> list[FileEntry]:
        """Files that the steps left: they are not to be removed while the journal is there."""
        try:
            named = [one["partition"]["files"] for one in self.found(PARTITION)]
            named += [self.find(step) for step in self._left if step not in (PARTITION, *WITHOUT_FILES)]
            return [entry for files in named for entry in files_of_json(files).values()]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise damaged(self._path, f"{type(error).__name__}: {error}") from error

    def finish(self, step: str, left: object) -> None:
        """Write down that a step is finished; it is on the disk when this returns."""
        self._add({"step": step, "left": left})
        self._take(step, left)

    def remove(self) -> None:
        """End the journal: the command is done."""
        self._path.unlink(missing_ok=True)
        self._command, self._left = None, {}

    def _take(self, step: str, left: object) -> None:
        if step == PARTITION:
            self._left = {name: all_left for name, all_left in self._left.items() if name in (PARTITION, SOURCES)}
        self._left.setdefault(step, []).append(left)

    def _add(self, line: dict[str, Any]) -> None:
        is_new = not self._path.exists()
        # in ASCII: so a folder whose name is not UTF-8 is written and read back
        data = (json.dumps(line, allow_nan=False) + "\n").encode("utf-8")
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


@contextmanager
def holding(folder: Path, journal: Journal) -> Iterator[None]:
    """Let the folder go where the input is wrong and nothing is finished; else the error says how to let it go."""
    try:
        yield
    except InputError as error:
        if not journal.has_steps:
            journal.remove()
            raise
        raise type(error)(f"{error} {_what_stays(folder / JOURNAL, journal)}") from error


def _what_stays(path: Path, journal: Journal) -> str:
    """Say what can be done behind an error: a source of which documents are indexed is not read a second time."""
    kept = "(a collection that was there before stays as it was)"
    place, command = journal.find(PARTITION), journal.command or {}
    if place is None:
        return (
            "What is finished so far stays, and the same command goes on from there when this is put right; for "
            f"another one, remove {path} first {kept}."
        )
    number = place["place"][0]
    sources = journal.find(SOURCES) or command["sources"]
    more = f" and {number:,} more before it" if number else ""
    return (
        f"What is finished so far stays, among it documents of {sources[number]['path']}{more}. Where such a file is "
        f"corrected it is read from its beginning: remove {path} then, as for another command, and begin again {kept}. "
        "When this is put right in another way, the same command goes on."
    )


def _whole_lines(folder: Path) -> list[dict[str, Any]]:
    """Lines of a journal; the end of one that was being written is cut off. Of another file nothing is."""
    start, path = start_of_journal(folder), folder / JOURNAL
    if start is None:
        return []
    if not JOURNAL_HEAD.startswith(start):
        raise damaged(path, "its first line is not that of a journal of Riffler")
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    try:
        lines = [json.loads(line) for line in data[:end].splitlines()]
        version = lines[0]["version"] if lines else VERSION
        for line in lines:
            _ = [line[name] for name in (COMMAND if line is lines[0] else STEP)]
        if version == VERSION:
            _check_values(lines)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from error
    if version != VERSION:
        raise DataFileError(
            f"{path}: a journal of version {version}, this Riffler goes on with those of version {VERSION}. Finish the "
            "command with the Riffler that began it, or remove this file to give it up."
        )
    if end < len(data):
        with path.open("r+b") as stream:
            stream.truncate(end)
    return lines


def _check_values(lines: Sequence[dict[str, Any]]) -> None:
    """Raise where a command or its sources cannot be what a journal tells; what steps left is left to who takes it."""
    if not lines:
        return
    generation, options = lines[0]["generation"], lines[0]["options"]
    if type(generation) is not int or not isinstance(options, dict):
        raise ValueError(f"a generation of {generation!r} with the options {options!r}")
    sources = lines[0]["sources"]
    if not all(isinstance(line["step"], str) for line in lines[1:]):
        raise ValueError("the name of a step is no text")
    for told in (sources, *(line["left"] for line in lines[1:] if line["step"] == SOURCES)):
        if len([Source.of_json(one) for one in told]) != len(sources):
            raise ValueError(f"{len(told)} sources, {len(sources)} were expected")


def damaged(path: Path, why: str) -> DataFileError:
    """The error of a journal that holds what Riffler did not write."""
    return DataFileError(
        f"{path}: the journal is damaged, or a file of something else ({why}). If it is of this collection, remove it: "
        "what is not in the manifest is indexed again."
    )
