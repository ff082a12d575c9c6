"""The connection to a Dask cluster: what goes wrong with it is one clear error."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from riffler.engine import at_worker
from riffler.engine.local import n_cores
from riffler.engine.tls import TlsFiles, need_loopback_workers
from riffler.errors import EngineError

LOST = object()


class Cluster:
    """A client of a scheduler: at an address, of a cluster object, or of a cluster of its own."""

    def __init__(self, given: Any, *, tls: TlsFiles | None, n_workers: int | None, timeout: float) -> None:  # noqa: ANN401
        distributed = need_distributed()
        self._timeout = timeout
        self._own: Any = own_cluster(n_workers or n_cores()) if given is None else None
        target = self._own if given is None else given
        self.name = str(getattr(target, "scheduler_address", target))
        security = {} if tls is None else {"security": tls.security()}
        try:
            self._client = distributed.Client(target, timeout=timeout, set_as_default=False, **security)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            raise EngineError(
                f"No Dask scheduler answers at {self.name}: {error}. Start it, or check host, port and certificates."
            ) from error
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def threads_by_worker(self) -> dict[str, int]:
        """Return the workers that are there, in a fixed order, and their threads; wait a while for the first."""
        with self._named_faults():
            threads = self._client.nthreads()
            if not threads:
                try:
                    self._client.wait_for_workers(1, timeout=self._timeout)
                except TimeoutError as error:
                    raise EngineError(
                        f"The scheduler at {self.name} has no workers, and none came in {self._timeout:g} seconds. "
                        "Start some (dask worker), then go on: nothing is lost."
                    ) from error
                threads = self._client.nthreads()
            return {worker: int(threads[worker]) for worker in sorted(threads)}

    def call(self, workers: list[str], function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        """Call a function that raises nothing by itself in some workers; LOST stands for those that do not answer.

        It goes past the scheduler's queue of tasks, whose bookkeeping would cost more than the step of a search.
        """
        from distributed.comm.core import CommClosedError

        if self._client.scheduler is None:  # a cluster that is closed in this process takes its clients with it
            raise self._gone()
        try:
            found = self._client.run(function, *arguments, workers=workers, on_error="return")
        except (CommClosedError, OSError, TimeoutError, CancelledError, RuntimeError):
            found = {}  # the scheduler went away: who asks it for the workers next will say so
        answers = {worker: found.get(worker, LOST) for worker in workers}
        return {worker: LOST if isinstance(one, BaseException) else one for worker, one in answers.items()}

    def close(self, names: tuple[str, ...] = ()) -> None:
        """Let workers drop what they hold, and end the connection, and a cluster of its own."""
        with suppress(Exception):  # whoever is gone holds nothing
            if names and self._client.status == "running":
                self._client.run(at_worker.drop, names, on_error="ignore")
        self._client.close(timeout=2)
        if self._own is not None:
            self._own.close(timeout=10)

    def _check(self) -> None:
        """Raise where workers are far away without TLS, or have another version of this package."""
        workers = list(self.threads_by_worker())
        if str(self._client.scheduler.address).startswith("tcp"):
            need_loopback_workers(workers, self.name)
        here = at_worker.version_here()
        try:
            versions = self._client.run(at_worker.version_here)
        except (ImportError, AttributeError) as error:
            raise EngineError(
                f"The workers of {self.name} cannot import this package: {error}. Install riffler=={here} there."
            ) from error
        for worker, version in versions.items():
            if version != here:
                raise EngineError(f"Worker {worker} has riffler {version}, here is {here}. Install the same on both.")

    @contextmanager
    def _named_faults(self) -> Iterator[None]:
        from distributed.comm.core import CommClosedError

        if self._client.scheduler is None:
            raise self._gone()
        try:
            yield
        except (CommClosedError, OSError, TimeoutError, CancelledError, RuntimeError) as error:
            raise self._gone() from error

    def _gone(self) -> EngineError:
        return EngineError(
            f"The Dask scheduler at {self.name} went away. Start it again and go on: every answer so far is kept."
        )


def need_distributed() -> Any:  # noqa: ANN401 - a module
    """Import Dask distributed, or say how it is installed."""
    try:
        import distributed
    except ImportError as error:
        raise EngineError(
            "Work on a cluster needs the package distributed. Install it with: pip install 'riffler[dask]'"
        ) from error
    return distributed


def own_cluster(n_workers: int) -> Any:  # noqa: ANN401 - Dask's own
    """Start workers on this machine, which nobody without their temporary certificates can talk to."""
    distributed = need_distributed()
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", protocol="tls://",
        security=distributed.Security.temporary(), dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0", memory_limit=0,
        silence_logs=logging.CRITICAL,
    )  # fmt: skip
