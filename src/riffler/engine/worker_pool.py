"""The workers of Dask as a pool of the standard library: work goes only to those that were looked at."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from riffler.engine.cluster import Cluster

Given = ParamSpec("Given")
Made = TypeVar("Made")

BETWEEN_LOOKS = 1.0  # seconds after which it is asked again who is there
TO_FETCH = 60.0  # seconds for a result that is ready: whoever has it may be gone
MOST_TRIES = 4  # of a piece of work, each of which loses all workers that it might run on; Dask itself has as many
AT_LEAST = 32  # pieces that are with the workers at a time, for more of them may come later


class WorkerPool(ThreadPoolExecutor):
    """Threads here that wait for workers there; each piece of work names those that may run it.

    Left to itself Dask gives work to whoever comes, before anybody asked whether that one may be trusted and has the
    same version.
    """

    def __init__(self, cluster: Cluster) -> None:
        n_threads = sum(cluster.threads_by_worker().values())
        super().__init__(max(AT_LEAST, 2 * n_threads), thread_name_prefix="riffler-worker")
        self._cluster = cluster
        self._workers: frozenset[str] = frozenset()
        self._looked = -float("inf")
        self._lock = RLock()  # who looks may make the cluster anew

    def submit(self, fn: Callable[Given, Made], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Made]:
        """Let a worker call a function; both it and what it returns travel."""
        return super().submit(self._made_there, partial(fn, *args, **kwargs))

    def _made_there(self, work: Callable[[], Made]) -> Made:
        """Return what a worker makes; where all that might are gone, or their cluster is, others are asked."""
        for _ in range(MOST_TRIES):
            future, workers = self._sent(work)
            try:
                with self._cluster.faults_of_work():
                    if self._is_done(future, workers):
                        try:
                            made: Made = future.result(timeout=TO_FETCH)
                            return made
                        except TimeoutError:
                            if future.status == "error":  # it is the work's own
                                raise
                    future.cancel()  # Dask would wait for ever: who is started again has another address
            except Exception:
                if not self._is_lost(future):
                    raise
        raise self._cluster.ended_by_work()

    def _sent(self, work: Callable[[], Any]) -> tuple[Any, frozenset[str]]:
        """Send a piece of work to those who are there; the cluster that they are of is not made anew meanwhile."""
        with self._lock:
            workers = self._looked_at()
            with self._cluster.faults_of_work():
                return self._cluster.sent(work, workers), workers

    def _is_lost(self, future: Any) -> bool:  # noqa: ANN401 - a future of Dask's
        """Whether the cluster was made anew since: the old one took all work along, whatever it says of it now."""
        with self._lock:  # another thread may be about it
            return self._cluster.is_made_anew_since(future)

    def _is_done(self, future: Any, workers: frozenset[str]) -> bool:  # noqa: ANN401 - a future of Dask's
        """Wait for the end, good or bad; return False where all who might come to it are gone."""
        while workers & self._looked_at():
            try:
                future.exception(timeout=BETWEEN_LOOKS)
                return True
            except TimeoutError:
                pass
        return False

    def _looked_at(self) -> frozenset[str]:
        """Who is there and was looked at; one of the threads asks for all of them."""
        with self._lock:
            if monotonic() - self._looked > BETWEEN_LOOKS:
                with self._cluster.faults_of_work():
                    self._workers = frozenset(self._cluster.threads_by_worker())
                self._looked = monotonic()
            return self._workers
