"""A server that is killed again and again, and clients that answer all the while and remember what was acknowledged."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

SERVE = "from riffler.cli import main; main()"
VERDICTS = ("relevant", "irrelevant", "maybe", "skip")
START_SECONDS = 120.0


@dataclass
class Server:
    """`riffler review` on a port of its own, which can be killed and started again."""

    path: Path
    token: str
    port: int = 0
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]

    def client(self) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}/api/v1", headers=headers, trust_env=False)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-c", SERVE, "review", str(self.path), "--no-browser", "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        end = time.monotonic() + START_SECONDS
        with self.client() as client:
            while True:
                assert self._process.poll() is None, "the server ended by itself"
                assert time.monotonic() < end, "the server did not start in time"
                with suppress(httpx.TransportError):
                    if client.get("/review").status_code == 200:
                        return
                time.sleep(0.1)

    def kill(self) -> None:
        """Kill -9; the learner finds out by itself."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def wait_for_learner(self) -> None:
        """Wait until a learner has begun to work: it has the lease, and keeps it."""
        start, end = time.time(), time.monotonic() + START_SECONDS
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)) as connection:
            while (connection.execute("SELECT max(renewed_at) FROM leases").fetchone()[0] or 0.0) < start:
                assert time.monotonic() < end, "no learner came"
                time.sleep(0.1)

    def kill_learner(self) -> None:
        """Kill -9 the learner, if it is there just now."""
        assert self._process is not None
        for child in psutil.Process(self._process.pid).children():
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it as Ctrl-C does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait(60) == 0


@dataclass
class Client:
    """Somebody who reads and answers, and sends a request again until there is a reply."""

    name: str
    server: Server
    names: tuple[str, ...]
    seed: int
    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict)  # by key: what the server said
    refused: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> threading.Thread:
        thread = threading.Thread(target=self._run)
        thread.start()
        return thread

    def stop(self) -> None:
        self._over.set()

    def _run(self) -> None:
        rng = np.random.default_rng(self.seed)
        with self.server.client() as client:
            n = 0
            while not self._over.wait(float(rng.uniform(0.0, 0.05))):
                n += 1
                key = f"{self.name}/{n}"
                answers = [one["id"] for one in list(self.acknowledged.values())[-5:] if one["kind"] == "answer"]
                if rng.random() < 0.1 and answers:
                    self._send(client, key, "/undo", {"key": key, "answer": answers[-1]})
                else:
                    answer = self._chosen(client, rng)
                    if answer is not None:
                        self._send(client, key, "/answers", {"answers": [{**answer, "key": key}]})

    def _chosen(self, client: httpx.Client, rng: np.random.Generator) -> dict[str, Any] | None:
        """Choose a document of the queue, or any; None while the server is away."""
        verdict = str(rng.choice(VERDICTS, p=[0.3, 0.5, 0.1, 0.1]))
        if rng.random() < 0.3:
            return {"document": str(rng.choice(self.names)), "verdict": verdict}
        with suppress(httpx.TransportError):
            queue = client.get("/next", params={"n": 4}).json()
            if queue:
                one = queue[int(rng.integers(len(queue)))]
                return {"document": one["document"]["id"], "verdict": verdict, "suggestion": one["suggestion"]}
        time.sleep(0.1)
        return None

    def _send(self, client: httpx.Client, key: str, path: str, body: dict[str, Any]) -> None:
        """Send until there is a reply; after the end no more, so what has none stays open."""
        while not self._over.is_set():
            try:
                reply = client.post(path, json=body, timeout=30)
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            if reply.status_code == 200:
                said = reply.json()
                self.acknowledged[key] = said["receipt"] if path == "/undo" else said["receipts"][0]
            elif reply.status_code == 409:
                self.refused.add(key)
            else:
                self.faults.append(f"{path}: {reply.status_code} {reply.text[:200]}")
            return
