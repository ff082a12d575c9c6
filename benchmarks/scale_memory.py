"""How much memory processes take: the peak of a command and all it starts, and what one process holds by itself."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

RUN = "from riffler.cli import main; main()"
BETWEEN_LOOKS = 0.1  # seconds


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds, and the highest megabytes seen: all that is resident, and without what is mapped from files."""

    seconds: float
    peak_mb: float
    peak_own_mb: float


def cost_of_command(*arguments: str) -> Cost:
    """Run a command of riffler and watch it and its children."""
    start, peak, own = time.monotonic(), 0.0, 0.0
    with subprocess.Popen([sys.executable, "-c", RUN, *arguments], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            resident, anonymous = tree_megabytes(process.pid)
            peak, own = max(peak, resident), max(own, anonymous)
            time.sleep(BETWEEN_LOOKS)
    if process.returncode:
        raise SystemExit(f"riffler {arguments[0]} ended with code {process.returncode}.")
    return Cost(time.monotonic() - start, peak, own)


def tree_megabytes(pid: int) -> tuple[float, float]:
    """Resident megabytes of a process and its children, and those of them that belong to no file."""
    resident, own = 0.0, 0.0
    with suppress(psutil.Error):
        for one in (root := psutil.Process(pid), *root.children(recursive=True)):
            with suppress(psutil.Error):
                found = one.memory_info()
                resident, own = resident + found.rss / 1e6, own + (found.rss - found.shared) / 1e6
    return resident, own


def own_megabytes(process: int | str = "self") -> float:
    """Resident megabytes of a process, this one if no other is named, that are no pages of files."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1e3 * 1.024


class PeakOfOwn:
    """The highest own megabytes of this process while a block runs, looked at by a thread."""

    def __enter__(self) -> PeakOfOwn:
        self.before = self.megabytes = own_megabytes()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.megabytes = max(self.megabytes, own_megabytes())

    def _watch(self) -> None:
        while not self._ended.wait(BETWEEN_LOOKS):
            self.megabytes = max(self.megabytes, own_megabytes())


def in_new_process(work: Callable[..., Any], arguments: Sequence[Any]) -> Any:  # noqa: ANN401 - whatever it returns
    """Call a function of a module in a process of its own, whose memory nobody has used before."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, tuple(arguments))


def n_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))
