"""One simulated run on disk: its settings, then its answers batch by batch, each batch whole or not there.

The file is JSON lines: a head with the settings, then for every batch the entries and events of the ledger and a line
that closes the batch with its time. What stands behind the last closed batch was cut by a kill and is dropped.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

from riffler.errors import DataFileError, InputError
from riffler.ledger import Entry, Event, Ledger

PATIENCE = 20.0
"""Seconds to wait for another process that writes the same run: one whose parent was killed ends after its batch."""

Settings = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Step:
    """What one batch took: time on the clock, time of the processor."""

    seconds: float
    cpu: float


@dataclass(eq=False)
class Recorded:
    """What a file holds: the settings, the ledger and the steps up to the last closed batch."""

    settings: dict[str, object]
    ledger: Ledger = field(default_factory=Ledger)
    steps: list[Step] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # entries up to the end of each step
    n_bytes: int = 0  # up to the end of the last closed batch


def read_run(path: Path) -> Recorded | None:
    """Read a run; None where the file has no whole batch yet."""
    found: Recorded | None = None
    closed: Recorded | None = None
    open_lines: list[Entry | Event] = []
    place = 0
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        place += len(line)
        if not line.endswith(b"\n"):
            break  # cut within a line
        values = _values(path, number, line)
        kind = values.pop("kind", None)
        try:
            if kind == "run":
                found = Recorded(dict(values["settings"]))  # type: ignore[call-overload]
            elif found is None:
                raise KeyError("head")
            elif kind == "step":
                _keep(found, open_lines, Step(**values))  # type: ignore[arg-type]
                found.n_bytes, closed, open_lines = place, found, []
            else:
                known = {"entry": Entry, "event": Event}
                open_lines.append(known[str(kind)](**values))
        except (KeyError, TypeError, ValueError) as error:
            raise _not_a_run(path, number, line) from error
    return closed


def _keep(found: Recorded, lines: list[Entry | Event], step: Step) -> None:
    for one in lines:
        if isinstance(one, Entry):
            found.ledger.append(one)
        else:
            found.ledger.note(one)
    found.steps.append(step)
    found.ends.append(len(found.ledger))


def _values(path: Path, number: int, line: bytes) -> dict[str, object]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise _not_a_run(path, number, line) from error
    if not isinstance(values, dict):
        raise _not_a_run(path, number, line)
    return values


def _not_a_run(path: Path, number: int, line: bytes) -> DataFileError:
    return DataFileError(
        f"{path}, line {number}: expected a line of a simulated run as JSON, got {line[:60]!r}. "
        "Name another folder with --out, or delete the file to run it again."
    )


class RunFile:
    """A run that is being written; ``recorded`` is what an earlier, killed process left."""

    def __init__(self, handle: int, recorded: Recorded | None, settings: Settings) -> None:
        self._handle, self.recorded = handle, recorded
        self._n_entries = 0 if recorded is None else len(recorded.ledger)
        self._n_events = 0 if recorded is None else len(recorded.ledger.events)
        self._head: dict[str, object] | None = None
        if recorded is None:
            self._head = {"kind": "run", "settings": dict(settings)}

    def write(self, ledger: Ledger, step: Step) -> None:
        """Append what the ledger has got since the last time, in one go."""
        lines: list[dict[str, object]] = [] if self._head is None else [self._head]
        lines += [{"kind": "entry", **asdict(entry)} for entry in islice(ledger, self._n_entries, None)]
        lines += [{"kind": "event", **asdict(event)} for event in ledger.events[self._n_events :]]
        lines.append({"kind": "step", **asdict(step)})
        rest = memoryview("".join(json.dumps(line) + "\n" for line in lines).encode())
        while rest:
            rest = rest[os.write(self._handle, rest) :]
        self._n_entries, self._n_events, self._head = len(ledger), len(ledger.events), None


@contextmanager
def open_run(path: Path, settings: Settings) -> Iterator[RunFile]:
    """Open a run for writing, alone; what was recorded with the same settings is kept, other settings are refused."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        _lock(handle, path)
        recorded = read_run(path)
        if recorded is not None:
            check_settings(path, recorded.settings, settings)
        os.ftruncate(handle, 0 if recorded is None else recorded.n_bytes)
        yield RunFile(handle, recorded, settings)
        os.fsync(handle)
    finally:
        os.close(handle)  # gives the lock back


def check_settings(path: Path, recorded: Settings, wanted: Settings) -> None:
    """Refuse to go on with a run that was made with other settings, and say which."""
    plain: dict[str, object] = json.loads(json.dumps(dict(wanted)))  # as a file gives them back
    for name in [*plain, *(name for name in recorded if name not in plain)]:
        if recorded.get(name) != plain.get(name):
            raise InputError(
                f"{path} was recorded with {name} {recorded.get(name)!r}, and now it is {plain.get(name)!r}. "
                "Name another folder with --out, or delete this one to run it again."
            )


def _lock(handle: int, path: Path) -> None:
    """Keep other processes out until the file is closed, where the system can."""
    with contextlib.suppress(ImportError):
        import fcntl

        end = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise InputError(
                        f"{path} is being written by another simulation. Wait for it, or name another folder (--out)."
                    ) from None
                time.sleep(0.1)
