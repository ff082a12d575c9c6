"""A review server in a process of its own, and what the benchmark asks it over loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import psutil
from server_texts import SOUGHT, write_records

from riffler.data.collection_reading import read_collection
from riffler.review.creating import create_review
from riffler.review.settings import ReviewSettings
from riffler.review.store import open_review

RUN = "from riffler.cli import main; main()"
DESCRIPTION = "statistical distributions and tests"
PATIENCE_SECONDS = 600.0
Reply = TypeVar("Reply")


def records(folder: Path, n: int, seed: int) -> Path:
    """Return a file of n records; it is made once."""
    path = folder / f"records-{n}-{seed}.csv"
    if not path.exists():
        write_records(path, n, seed)
    return path


def made_review(path: Path, source: Path) -> Path:
    """Return a new review of records."""
    path.unlink(missing_ok=True)
    create_review(path, read_collection(source), ReviewSettings(description=DESCRIPTION)).close()
    return path


def first_document_seconds(source: Path) -> float:
    """Return how long `riffler review` takes from the command until a browser has the first document."""
    new = ["--description", DESCRIPTION] if source.suffix != ".riffler" else []
    command = [sys.executable, "-c", RUN, "review", str(source), "--port", "0", "--once", *new]
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_plain_environment()) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "first document" in line:
                took = time.monotonic() - start
    if process.returncode:
        raise SystemExit(f"riffler review ended with code {process.returncode}.")
    return took


class Server:
    """`riffler review` on a review that is there, called with a token."""

    def __init__(self, path: Path) -> None:
        with open_review(path) as review:
            _, secret = review.make_token("benchmark")
            columns = review.collection()
        self._relevant = {
            name for name, topic in zip(columns.ids, columns.columns["topic"], strict=True) if topic == SOUGHT
        }
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self._command = [sys.executable, "-c", RUN, "review", str(path), "--no-browser", "--port", str(port)]
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1",
            headers={"authorization": f"Bearer {secret}"},
            trust_env=False,
            timeout=60,
        )

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=_plain_environment()
        )
        self._until(lambda: self.get("/review"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait()
        self._client.close()

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Return what a path says."""
        return self._client.get(path).raise_for_status().json()

    def next(self, n: int) -> list[dict[str, Any]]:
        """Return the next documents, at least one: a queue that ran dry is waited for, as a reader would have to."""
        while not (found := self.get(f"/next?n={n}")):
            time.sleep(0.002)
        return list(found)

    def answer(self, shown: Sequence[dict[str, Any]], key: str) -> None:
        """Answer truly about documents of the queue."""
        answers = [
            {
                "document": one["document"]["id"],
                "verdict": "relevant" if one["document"]["id"] in self._relevant else "irrelevant",
                "key": f"{key}/{place}",
                "suggestion": one["suggestion"],
                "seconds": 1.0,
            }
            for place, one in enumerate(shown)
        ]
        self._client.post("/answers", json={"answers": answers}).raise_for_status()

    def timed(self, kept: list[float], ask: Callable[[], Reply]) -> Reply:
        """Return a reply, and keep how long it took."""
        start = time.perf_counter()
        reply = ask()
        kept.append(time.perf_counter() - start)
        return reply

    def wait_until_learned(self) -> None:
        """Wait until the learner has read the texts and taken in all answers."""
        self._until(lambda: (now := self.get("/progress"))["made_at"] is not None and now["behind"] == 0)

    def pids(self) -> dict[str, int]:
        """Return both processes."""
        (learner,) = psutil.Process(self._process.pid).children()
        return {"server": self._process.pid, "learner": learner.pid}

    def _until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            with suppress(httpx.HTTPError):
                if condition():
                    return
            time.sleep(0.05)
        raise SystemExit("The server did not get there in time.")


def _plain_environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
