"""Keeps the learner of a review alive: starts it, starts it again when it dies, and ends it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Self

DATABASE = "RIFFLER_LEARNER_DATABASE"
"""Variable with the address of the database, where the review is in one."""

DONE = 3  # exit code of a learner that is not needed any more
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
HEALTHY_SECONDS = 60.0  # after so long a death is not taken for one more of a row
WELL = "The search is at work."  # a learner says so after its first step: what an earlier one said is forgotten
FAREWELL_SECONDS = 5.0


class LearnerKeeper:
    """Keeps one learner process for a review, in a thread of its own.

    A learner that dies is started again: after 0.2 s at first, and after twice as long each time, up to 10 s. One that
    says that it is done is not.

    Parameters
    ----------
    arguments : of the learner, beside the name of its holder; the file of a review is enough
    python : the interpreter that runs it
    environment : variables that the learner gets beside those of this process
    """

    def __init__(
        self,
        *arguments: str | os.PathLike[str],
        python: str = sys.executable,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.n_starts = 0
        self.is_done = False
        self._environment = environment
        self._said = ""
        self._started_at = 0.0
        told = [os.fspath(one) for one in arguments]
        self._command = [python, "-m", "riffler.review.learner", *told, "--holder", f"keeper {uuid.uuid4()}"]
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def alive(self) -> bool:
        """Whether a learner is running."""
        return self.pid is not None

    @property
    def pid(self) -> int | None:
        """Its process; None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def last_error(self) -> str:
        """What the last learner that failed said, in words for people; "" when another has begun to work since."""
        return self._said

    def start(self) -> None:
        """Start the learner and keep it running; once is enough."""
        if self._thread is None:
            self._over.clear()
            self._thread = threading.Thread(target=self._keep, name="learner keeper", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the learner, and wait until it is gone: it is asked first, and killed after a few seconds."""
        if self._thread is None:
            return
        self._over.set()
        with self._lock:
            if self._process is not None:
                self._process.terminate()
        self._thread.join(FAREWELL_SECONDS)
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()
            self._thread.join()
        self._thread = None

    def _keep(self) -> None:
        wait = FIRST_WAIT
        while not (self._over.is_set() or self.is_done):
            self._run_once()
            if time.monotonic() - self._started_at > HEALTHY_SECONDS:
                wait = FIRST_WAIT
            self._over.wait(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _run_once(self) -> None:
        """Run a learner to its end, and keep what it said last."""
        with self._lock:
            if self._over.is_set():
                return
            self._started_at = time.monotonic()
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,  # the learner ends when this one does, and with it the pipe
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env={**os.environ, **self._environment},
                process_group=0,  # Ctrl-C in the terminal is for this process, which ends the learner in order
            )
            self.n_starts += 1
        said = ""
        with self._process as process:  # closes its pipes, and waits for it
            assert process.stderr is not None
            for line in process.stderr:
                if line.strip() == WELL:
                    said = self._said = ""
                else:
                    said = line.strip() or said
        self.is_done = process.returncode == DONE
        if process.returncode and not self.is_done and not self._over.is_set():
            self._said = said or f"The learner ended with code {process.returncode}."
