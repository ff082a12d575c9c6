"""`riffler review` on a collection on disk: seconds to the first document, and how long the next ones take.

Of the slowest it is told what it was spent on, and beside all of it runs a process that only sleeps (`scale_idle`):
when that one wakes late too, it was the machine.
"""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from scale_idle import IdleLoop, stolen_ms
from scale_memory import RUN, tree_megabytes

from riffler.disk import DiskCollection
from riffler.review.store import open_review

WANTED_SECONDS, WANTED_MS = 30.0, 100.0
READING_SECONDS = 0.2
MARKS = {
    "asking": "http11.send_request_body.complete",
    "waiting": "http11.receive_response_headers.complete",
    "reading": "http11.response_closed.complete",
}
"""What a request is spent on, with the event of httpx that ends it; then what came is taken apart."""


@dataclass(frozen=True, slots=True)
class Next:
    """A request for the next document.

    phases : milliseconds from the one event to the other, as the client saw them
    cpu, queued : milliseconds in which the threads of the server computed, and waited for a processor
    stolen : milliseconds that the host took from the cores of a virtual machine
    is_late : there was none at first
    """

    number: int
    start: float
    end: float
    phases: dict[str, float]
    cpu: float
    queued: float
    stolen: float
    is_late: bool

    @property
    def ms(self) -> float:
        """How long it took."""
        return 1000 * (self.end - self.start)

    def __str__(self) -> str:
        spent = ", ".join(f"{name} {ms:.1f}" for name, ms in self.phases.items())
        return (
            f"number {self.number + 1} ({self.ms:.1f} ms: {spent}; the server's threads computed for {self.cpu:.1f} ms "
            f"and waited {self.queued:.1f} ms for a processor; the host took {self.stolen:.0f} ms)"
        )


def review_seconds(collection: DiskCollection, folder: Path, n_answers: int) -> dict[str, Any]:
    """Start a new review of a collection, answer truly for a while, and say how long was waited."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"review-{collection.n_items}.riffler"
    for old in folder.glob(f"{file.name}*"):
        old.unlink()
    assert collection.labels is not None
    relevant = np.flatnonzero(collection.labels == 1)
    command = [
        sys.executable, "-c", RUN, "review", str(collection.folder), "--file", str(file), "--no-browser", "--port", "0",
        "--ignore-labels", "--description", collection.titles[int(relevant[0])],
    ]  # fmt: skip
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = next(line.split()[-1].partition("/?")[0] for line in process.stdout if "http" in line)
        with open_review(file) as review:
            _, secret = review.make_token("benchmark")
        with httpx.Client(
            base_url=f"{address}/api/v1", headers={"authorization": f"Bearer {secret}"}, trust_env=False, timeout=60
        ) as client:
            _next(client)
            first = time.monotonic() - start
            gc.freeze()  # else the pauses of the benchmark's own garbage collector count as the server's
            with IdleLoop() as idle:
                took, answered = _read(client, process.pid, collection, n_answers)
            gc.unfreeze()
            memory = tree_megabytes(process.pid)
        process.send_signal(signal.SIGINT)
    answering = _spread(answered)
    found = {
        "documents": collection.n_items, "first_seconds": first, **_spread([one.ms for one in took]),
        "waits": sum(one.is_late for one in took), "answers": n_answers, "answering": answering,
        "resident_mb": memory[0], "own_mb": memory[1], "idle_ms": idle.longest_ms(),
    }  # fmt: skip
    slowest = max(took, key=lambda one: one.ms)
    print(
        f"review: {collection.n_items:,} documents: first after {first:.1f} s (wanted: {WANTED_SECONDS:g} s), next p50 "
        f"{found['p50_ms']:.1f} ms, p95 {found['p95_ms']:.1f} ms, longest {found['max_ms']:.1f} ms of {n_answers} "
        f"(wanted: {WANTED_MS:g} ms), {found['waits']} times there was none; {memory[1]:,.0f} MB beyond mapped files\n"
        f"review: the slowest was {slowest}\n"
        f"review: an idle process woke up to {idle.longest_ms():.1f} ms late, during the slowest "
        f"{idle.longest_ms(slowest.start, slowest.end):.1f} ms\n"
        f"review: answers p50 {answering['p50_ms']:.1f} ms, p95 {answering['p95_ms']:.1f} ms, longest "
        f"{answering['max_ms']:.1f} ms; a page does not wait for them",
        flush=True,
    )
    return {**found, "slowest": str(slowest)}


def _spread(ms: list[float]) -> dict[str, float]:
    return {"p50_ms": float(np.median(ms)), "p95_ms": float(np.quantile(ms, 0.95)), "max_ms": max(ms)}


def _read(
    client: httpx.Client, server: int, collection: DiskCollection, n_answers: int
) -> tuple[list[Next], list[float]]:
    """Read and answer; return the requests for documents, and the milliseconds of the answers."""
    took, answered = [], []
    for number in range(n_answers):
        marks: dict[str, float] = {}
        before, start = (*_thread_ms(server), stolen_ms()), time.monotonic()
        shown, is_late = _next(client, marks)
        end, after = time.monotonic(), (*_thread_ms(server), stolen_ms())
        times = [start, *(marks[event] for event in MARKS.values()), end]
        phases = dict(zip((*MARKS, "parsing"), (1000 * np.diff(times)).tolist(), strict=True))
        cpu, queued, stolen = np.subtract(after, before).tolist()
        took.append(Next(number, start, end, phases, cpu, queued, stolen, is_late))
        answered.append(_answer(client, collection, shown, f"scale/{number}"))
        time.sleep(READING_SECONDS)
    return took, answered


def _next(client: httpx.Client, marks: dict[str, float] | None = None) -> tuple[dict[str, Any], bool]:
    """The next document, and whether it had to be waited for; ``marks`` gets the moment of each event."""
    noted = {} if marks is None else marks

    def note(event: str, _: object) -> None:
        noted[event] = time.monotonic()

    is_late = False
    while not (found := client.get("/next?n=1", extensions={"trace": note}).raise_for_status().json()):
        is_late = True
        time.sleep(0.01)
    return found[0], is_late


def _thread_ms(pid: int) -> tuple[float, float]:
    """Milliseconds that the threads of a process have computed, and waited for a processor."""
    cpu, queued = 0, 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it ended
            here = (thread / "schedstat").read_text().split()
            cpu, queued = cpu + int(here[0]), queued + int(here[1])
    return cpu / 1e6, queued / 1e6


def _answer(client: httpx.Client, collection: DiskCollection, shown: dict[str, Any], key: str) -> float:
    """Answer truly; return the milliseconds until the answer was on the disk."""
    name = shown["document"]["id"]
    assert collection.labels is not None
    is_relevant = collection.labels[collection.ids.row_of(name)] == 1
    answer = {
        "document": name, "verdict": "relevant" if is_relevant else "irrelevant", "key": key,
        "suggestion": shown["suggestion"], "seconds": 1.0,
    }  # fmt: skip
    start = time.monotonic()
    client.post("/answers", json={"answers": [answer]}).raise_for_status()
    return 1000 * (time.monotonic() - start)
