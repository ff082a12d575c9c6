"""Finished runs in a file of one JSON object a line, so that a reproduction that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

Run = TypeVar("Run")


class KeptRuns(Generic[Run]):
    """Runs by their key; without a path nothing is kept. Runs of another version are not taken.

    write, read : a run as plain values, and back
    """

    def __init__(
        self, path: Path | None, write: Callable[[Run], Mapping[str, Any]], read: Callable[[Mapping[str, Any]], Run]
    ) -> None:
        from riffler import __version__

        self.path, self._version, self._write = path, __version__, write
        self._runs: dict[str, Run] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else ():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # the line that was being written when a run was stopped
                continue
            if entry["riffler"] == self._version:
                self._runs[entry["key"]] = read(entry["run"])

    def get(self, key: str) -> Run | None:
        """Give the run of that key, or None."""
        return self._runs.get(key)

    def add(self, key: str, run: Run) -> None:
        """Write a run at the end of the file."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A line cut short by a stop must not swallow this one: every entry starts on a line of its own.
        line = json.dumps({"riffler": self._version, "key": key, "run": self._write(run)}, allow_nan=False)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}" if file.tell() else line)
