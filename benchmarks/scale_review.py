"""`riffler review` on a collection on disk: seconds to the first document, and how long the next ones take."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from scale_memory import RUN, tree_megabytes

from riffler.disk import DiskCollection
from riffler.review.store import open_review

WANTED_SECONDS, WANTED_MS = 30.0, 100.0
READING_SECONDS = 0.2


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
            took, n_waits = _read(client, collection, n_answers)
            memory = tree_megabytes(process.pid)
        process.send_signal(signal.SIGINT)
    ms = 1000 * np.array(took)
    found = {
        "documents": collection.n_items, "first_seconds": first, "p50_ms": float(np.median(ms)),
        "p95_ms": float(np.quantile(ms, 0.95)), "max_ms": float(ms.max()), "waits": n_waits, "answers": n_answers,
        "resident_mb": memory[0], "own_mb": memory[1],
    }  # fmt: skip
    print(
        f"review: {collection.n_items:,} documents: first after {first:.1f} s (wanted: {WANTED_SECONDS:g} s), next p50 "
        f"{found['p50_ms']:.1f} ms, p95 {found['p95_ms']:.1f} ms, longest {found['max_ms']:.1f} ms of {n_answers} "
        f"(wanted: {WANTED_MS:g} ms), {n_waits} times there was none; {memory[1]:,.0f} MB beyond mapped files",
        flush=True,
    )
    return found


def _read(client: httpx.Client, collection: DiskCollection, n_answers: int) -> tuple[list[float], int]:
    took, n_waits = [], 0
    for number in range(n_answers):
        start = time.perf_counter()
        shown, waited = _next(client)
        took.append(time.perf_counter() - start)
        n_waits += waited
        _answer(client, collection, shown, f"scale/{number}")
        time.sleep(READING_SECONDS)
    return took, n_waits


def _next(client: httpx.Client) -> tuple[dict[str, Any], bool]:
    """The next document, and whether it had to be waited for."""
    waited = False
    while not (found := client.get("/next?n=1").raise_for_status().json()):
        waited = True
        time.sleep(0.01)
    return found[0], waited


def _answer(client: httpx.Client, collection: DiskCollection, shown: dict[str, Any], key: str) -> None:
    name = shown["document"]["id"]
    assert collection.labels is not None
    is_relevant = collection.labels[collection.ids.row_of(name)] == 1
    answer = {
        "document": name, "verdict": "relevant" if is_relevant else "irrelevant", "key": key,
        "suggestion": shown["suggestion"], "seconds": 1.0,
    }  # fmt: skip
    client.post("/answers", json={"answers": [answer]}).raise_for_status()
