"""Pauses of the machine, which no program on it can help: how late a process woke that only sleeps, and stolen time.

with IdleLoop() as idle:
    ...
print(idle.longest_ms(), idle.longest_ms(start, end))
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

SLEEP_SECONDS = 0.005


class IdleLoop:
    """Sleeps beside a measurement, in a process of its own; ``pauses`` are (monotonic seconds, how much too late)."""

    def __init__(self) -> None:
        self.pauses: list[tuple[float, float]] = []

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        said, _ = self._process.communicate()  # closes its input, by which it ends
        self.pauses = [(start, late) for start, late in json.loads(said)]

    def longest_ms(self, start: float = 0.0, end: float = float("inf")) -> float:
        """The longest pause, of all or of those that touch a stretch of time."""
        touching = (late for at, late in self.pauses if at < end and at + SLEEP_SECONDS + late > start)
        return 1000 * max(touching, default=0.0)


def stolen_ms() -> float:
    """Milliseconds so far in which the host of a virtual machine ran others on its cores; in steps of 10 or so."""
    steal = int(Path("/proc/stat").read_text().split(maxsplit=9)[8])
    return 1000 * steal / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Sleep until standard input is closed, then say how late each waking was."""
    other = threading.Thread(target=sys.stdin.read, daemon=True)
    other.start()
    pauses = []
    while other.is_alive():
        start = time.monotonic()
        time.sleep(SLEEP_SECONDS)
        pauses.append((start, time.monotonic() - start - SLEEP_SECONDS))
    json.dump(pauses, sys.stdout)


if __name__ == "__main__":
    main()
