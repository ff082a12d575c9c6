"""Servers of a team that are killed again and again, and members who read and answer all the while."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import psutil

SERVE = "from riffler.cli import main; main()"
START_SECONDS = 120.0
AWAY = (502, 503, 504)  # the server is there, its database is not


@dataclass
class TeamServer:
    """`riffler serve` on a port of its own, which can be killed and started again."""

    database: str
    port: int = 0
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it; it answers some seconds later."""
        command = [sys.executable, "-c", SERVE, "serve", "--port", str(self.port)]
        environment = {**os.environ, "RIFFLER_DATABASE": self.database, "OMP_NUM_THREADS": "1"}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, env=environment, **quiet)  # type: ignore[call-overload]

    def wait(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + START_SECONDS
        while True:
            self.revive()
            assert time.monotonic() < end, "the server did not start in time"
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.address}/api/v1/health", trust_env=False).status_code == 200:
                    return
            time.sleep(0.1)

    def revive(self) -> None:
        """Start it again where it ended by itself, as systemd would: its database was away when it began."""
        if self._process is not None and self._process.poll() is not None:
            self.start()

    def kill(self) -> None:
        """Kill -9; its learners find out by themselves."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def kill_a_learner(self) -> None:
        """Kill -9 a learner of this server, if there is one just now."""
        with suppress(psutil.NoSuchProcess, ProcessLookupError, AttributeError):
            assert self._process is not None
            for child in psutil.Process(self._process.pid).children()[:1]:
                os.kill(child.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it as Ctrl-C does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait(60) == 0


@dataclass
class Reader:
    """A member who reads and answers through whichever server, and sends a request again until there is a reply."""

    name: str
    token: str
    path: str  # of the review in the API
    servers: list[TeamServer]
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
        self._rng = np.random.default_rng(self.seed)
        headers = {"authorization": f"Bearer {self.token}"}
        number = 0
        with httpx.Client(headers=headers, trust_env=False, timeout=30) as self._client:
            while not self._over.wait(float(self._rng.uniform(0.0, 0.2))):
                number += 1
                self._read(f"{self.name}/{number}")

    def _read(self, key: str) -> None:
        """Read the next document, or take the last answer back."""
        if self._rng.random() < 0.1 and self.acknowledged:
            self._send("/undo", {"key": key}, key)
            return
        reply = self._ask("GET", "/next", params={"n": 3})
        queue = reply.json() if reply is not None and reply.status_code == 200 else []
        if not queue:
            time.sleep(0.1)
            return
        one, verdict = queue[0], str(self._rng.choice(["relevant", "irrelevant", "maybe"], p=[0.3, 0.6, 0.1]))
        shown = self._ask("POST", f"/suggestions/{one['suggestion']}/shown")
        if shown is not None and shown.status_code == 204:
            answer = {"document": one["document"]["id"], "verdict": verdict, "suggestion": one["suggestion"]}
            self._send("/answers", {"answers": [{**answer, "key": key, "seconds": 1.0}]}, key)

    def _send(self, path: str, body: dict[str, Any], key: str) -> None:
        """Send until there is a reply; after the end no more, so what has none stays open."""
        while not self._over.is_set():
            reply = self._ask("POST", path, json=body)
            if reply is None or reply.status_code in AWAY:
                time.sleep(0.1)
            elif reply.status_code == 200:
                said = reply.json()
                self.acknowledged[key] = said["receipt"] if path == "/undo" else said["receipts"][0]
                return
            else:
                self.refused.add(key)
                if reply.status_code != 409:
                    self.faults.append(f"{path}: {reply.status_code} {reply.text[:200]}")
                return

    def _ask(self, method: str, path: str, **more: Any) -> httpx.Response | None:  # noqa: ANN401
        server = self.servers[int(self._rng.integers(len(self.servers)))]
        try:
            return self._client.request(method, f"{server.address}/api/v1{self.path}{path}", **more)
        except httpx.TransportError:
            return None
