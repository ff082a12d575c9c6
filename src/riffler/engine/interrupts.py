"""Ctrl-C at a terminal reaches every process that was started there: who starts workers keeps it to this one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType


@contextmanager
def kept_from_workers() -> Iterator[None]:
    """Start processes and threads that never hear of Ctrl-C; one that comes meanwhile is heard when all have begun.

    Broken off in the middle, Dask would tell of every task that it had begun. Who cannot wait presses it twice.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which lets the signal through when it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # what is started has the same
    usual = signal.getsignal(signal.SIGINT)
    may_wait = threading.current_thread() is threading.main_thread() and callable(usual)
    heard: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        if len(heard) > 1 and callable(usual):
            usual(number, frame)

    if may_wait:  # another thread that was there before may take the signal, and this one is told
        signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if may_wait:
            signal.signal(signal.SIGINT, usual)
        if heard and callable(usual):
            usual(heard[0], None)
