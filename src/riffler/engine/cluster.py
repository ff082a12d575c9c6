"""The connection to a Dask cluster: what goes wrong with it is one clear error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager, suppress
from threading import get_ident
from time import monotonic, sleep
from typing import Any

from riffler.cores import n_cores
from riffler.engine import at_worker
from riffler.engine.connecting import scheduler_of, unanswered
from riffler.engine.interrupts import kept_from_workers
from riffler.engine.quiet import SILENT, Unheard, end_silence, silence
from riffler.engine.seats import Place, seated
from riffler.engine.tls import TlsFiles, need_closed, need_shut_in, need_trusted
from riffler.engine.worker_pool import WorkerPool
from riffler.errors import EngineError, RifflerError

LOST = object()
INSTALL = "pip install 'riffler[dask]'"
TO_CONNECT = 3.0  # seconds for a worker on this machine
TO_ANSWER = 20.0  # seconds for a scheduler to say who is there
TO_LET_GO = 3.0  # seconds for all workers to drop what they hold
FOR_STEPS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.scheduler.worker-ttl": "60s",
}
"""Settings of a cluster of its own: nobody looks at Dask's profile of threads and the beat of its loops (which was one
of 20 ms in each of them), and both take time from those who score. A worker that hangs is given up after one to two
minutes: Dask looks once a minute for those that were silent for one."""


class Cluster:
    """A client of a scheduler: at an address, of a cluster object, or of a cluster of its own."""

    def __init__(self, given: Any, *, tls: TlsFiles | None, n_workers: int | None, timeout: float) -> None:  # noqa: ANN401
        need_distributed()
        self._timeout, self._is_closed = timeout, False
        self._places: dict[str, Place] = {}  # of the workers that were looked at
        meant = None if given is None else scheduler_of(given, tls)
        self._n_own = n_workers or n_cores()
        self._own: Any = None
        self._unheard: Unheard | None = None
        if meant is None:
            self._begin()
        else:
            meant.need_answer(timeout)
            self._connect(meant.target, meant.arguments)
        try:
            if isinstance(given, str):  # a cluster object of this process logs in the same thread, and is not ours
                self._unheard = Unheard(self._client.sync(_number_of_thread))
            need_shut_in(str(self._client.scheduler_info()["address"]))
            self.threads_by_worker()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        """Start a cluster of its own."""
        silence(self)
        try:
            self._own = own_cluster(self._n_own)
            self._connect(self._own, {})
        except BaseException:
            if self._own is not None:
                self._own.close(timeout=10)
            end_silence(self)
            raise

    def _connect(self, target: Any, security: dict[str, Any]) -> None:  # noqa: ANN401 - an address or a cluster
        self.name = str(getattr(target, "scheduler_address", target))
        try:
            self._client = need_distributed().Client(target, timeout=self._timeout, set_as_default=False, **security)
        except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
            raise unanswered(self.name, str(error)) from error

    @property
    def is_own(self) -> bool:
        """Whether the workers were started here, on this machine, and serve nobody else."""
        return self._own is not None

    def threads_by_worker(self) -> dict[str, int]:
        """Return the workers that are there, in a fixed order, and their threads; wait a while for the first.

        Each is looked at once: whether it may be trusted, and has the same version of this package. Who has not said
        so, as it went away at this moment, is left out.
        """
        end = monotonic() + self._timeout
        while True:
            threads = self._threads_now()
            new = [worker for worker in threads if worker not in self._places]
            need_trusted(new)
            self._places.update(self._introduced(new))
            known = {worker: n for worker, n in threads.items() if worker in self._places}
            if known:
                return known
            if monotonic() > end:
                raise EngineError(f"No worker of {self.name} answers. Look into their logs, start others, then go on.")
            sleep(0.1)

    def seats(self, threads: Mapping[str, int], busy: Collection[str]) -> dict[str, int]:
        """Which of the workers that are there work, with how many threads: no more of a machine than it has cores."""
        return seated(threads, self._places, busy)

    def _threads_now(self) -> dict[str, int]:
        threads = self._threads_there()
        if not threads and self._own is not None:  # who looks after workers gave up, as too many died as they began
            self._end()
            self._begin()
            threads = self._threads_there()
        if not threads:  # or the first that came is gone again
            raise EngineError(
                f"The scheduler at {self.name} has no workers, and none came in {self._timeout:g} seconds. "
                "Start some (dask worker), then go on."
            )
        return {worker: int(threads[worker]) for worker in sorted(threads)}

    def _threads_there(self) -> dict[str, int]:
        """Ask the scheduler who is there; wait a while for the first."""
        with self._named_faults():
            threads = self._told_threads()
            if self._own is not None and len(threads) < self._n_own:
                self._own.scale(self._n_own)  # Dask gives one up for good that is away at an unlucky moment
            if not threads:
                with suppress(TimeoutError):
                    self._client.wait_for_workers(1, timeout=self._timeout)
                threads = self._told_threads()
            return threads

    def _told_threads(self) -> dict[str, int]:
        threads: dict[str, int] = self._client.sync(self._client.scheduler.ncores, callback_timeout=TO_ANSWER)
        return threads

    def call(self, workers: list[str], function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        """Call a function that raises nothing by itself in some workers; LOST stands for those that do not answer.

        It goes past the scheduler's queue of tasks, whose bookkeeping would cost more than the step of a search.
        """
        from distributed.comm.core import CommClosedError

        if self._client.scheduler is None:  # a cluster that is closed in this process takes its clients with it
            raise self._gone()
        try:
            if self._own is None:
                found = self._client.sync(self._run_through, workers, function, *arguments)
            else:  # who is on this machine can be reached without the scheduler between
                found = self._client.sync(self._run_directly, workers, function, arguments)
        except (CommClosedError, OSError, TimeoutError, CancelledError, RuntimeError):
            found = {}  # the scheduler went away: who asks it for the workers next will say so
        except Exception as error:
            self.need_open()  # Dask has many errors for a client that another thread closed
            if not isinstance(error, TypeError):
                raise
            raise EngineError(f"What {self.name} is asked, or answers, cannot travel: {first_line(error)}") from error
        return {worker: self._answer_of(worker, found.get(worker, LOST)) for worker in workers}

    async def _run_through(self, workers: list[str], function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        """Do what `Client.run` does, as long as the scheduler answers otherwise: one that hangs is not waited for."""
        asked = asyncio.ensure_future(self._client._run(function, *arguments, workers=workers, on_error="return"))
        try:
            while not (await asyncio.wait({asked}, timeout=TO_ANSWER))[0]:
                await asyncio.wait_for(self._client.scheduler.ncores(), TO_ANSWER)
            found: dict[str, Any] = asked.result()
            return found
        finally:
            asked.cancel()

    async def _run_directly(
        self, workers: list[str], function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> dict[str, Any]:
        """Do what `Client.run` does, without the scheduler: what each worker gives, or its error."""
        from distributed.protocol.pickle import dumps

        calls = {"function": function, "args": arguments, "kwargs": {}}
        message = {name: dumps(one) for name, one in calls.items()} | {"wait": True}  # type: ignore[no-untyped-call]
        answers = await asyncio.gather(*(self._asked(worker, message) for worker in workers))
        return dict(zip(workers, answers, strict=True))

    async def _asked(self, worker: str, message: dict[str, Any]) -> Any:  # noqa: ANN401 - what the function gives
        """Send a worker of this machine a message; who is gone is given up soon, as nobody is far away."""
        from distributed.core import clean_exception, send_recv

        try:
            comm = await self._client.rpc.connect(worker, timeout=TO_CONNECT)
            try:
                reply = await send_recv(comm, op="run", reply=True, **message)
            finally:
                self._client.rpc.reuse(worker, comm)
        except Exception as error:  # whoever asked sorts them
            return error
        return reply["result"] if reply["status"] == "OK" else clean_exception(**reply)[1]

    @contextmanager
    def pool(self) -> Iterator[Executor]:
        """Give the workers as a pool of the standard library: work goes through the scheduler's queue."""
        pool = WorkerPool(self)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def sent(self, work: Callable[[], Any], workers: Iterable[str]) -> Any:  # noqa: ANN401 - a future of Dask's
        """Put a piece of work into the scheduler's queue, for these workers alone."""
        return self._client.submit(work, workers=list(workers), allow_other_workers=False, pure=False)

    def is_made_anew_since(self, future: Any) -> bool:  # noqa: ANN401 - a future of Dask's
        """Whether a piece of work was sent to a cluster of its own in whose place there is another one now."""
        return future.client is not self._client

    @contextmanager
    def faults_of_work(self) -> Iterator[None]:
        """Name what goes wrong with work in the scheduler's queue; errors of the work itself are raised as they are."""
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        if self._is_away:  # Dask lost all work, and would look for its scheduler for a while
            raise self._gone()
        try:
            yield
        except RifflerError:
            raise
        except KilledWorker as error:
            raise self.ended_by_work() from error
        except Exception as error:  # a client that gave up says so in many ways
            if isinstance(error, CommClosedError | CancelledError) or self._is_away:
                raise self._gone() from error
            raise

    def close(self, names: tuple[str, ...] = ()) -> None:
        """Let workers drop what they hold, and end the connection, and a cluster of its own."""
        self._is_closed = True
        with suppress(Exception):  # whoever is gone holds nothing, and who hangs is not waited for
            if names and self._own is None and self._client.status == "running":
                told = self._client._run, at_worker.drop, names
                self._client.sync(*told, on_error="ignore", callback_timeout=TO_LET_GO)
        self._end()

    def _end(self) -> None:
        with suppress(Exception):
            self._client.close(timeout=2)
        if self._unheard is not None:
            self._unheard.end()
        if self._own is not None:
            with suppress(Exception):  # what is left of it ends with this process
                self._own.close(timeout=10)
            end_silence(self)

    def _answer_of(self, worker: str, answer: Any) -> Any:  # noqa: ANN401 - what the function gives
        """Return an answer, LOST where the worker is gone, or raise: it could not even read what it was asked."""
        from distributed.comm.core import CommClosedError

        if isinstance(answer, RifflerError):
            raise answer
        if isinstance(answer, CommClosedError | OSError | TimeoutError | CancelledError):
            return LOST
        if isinstance(answer, BaseException):
            raise EngineError(f"Worker {worker} of {self.name} cannot do its part: {answer!r}.") from answer
        return answer

    def _introduced(self, workers: list[str]) -> dict[str, Place]:
        """Raise where workers have another version of this package, or none; return where those are that answered."""
        here = at_worker.introduction()
        if not workers:
            return {}
        from distributed.comm.core import CommClosedError

        gone = CommClosedError, OSError, TimeoutError, CancelledError
        try:
            answers = self._client.sync(self._run_through, workers, at_worker.introduction)
        except (*gone, RuntimeError):
            return {}  # who is gone meanwhile is left out
        places: dict[str, Place] = {}
        for worker, answer in answers.items():
            if isinstance(answer, gone):
                continue
            if isinstance(answer, ImportError | AttributeError):
                raise EngineError(
                    f"The worker {worker} cannot import this package: {answer}. Install riffler=={here.version} there."
                ) from answer
            self._answer_of(worker, answer)
            if getattr(answer, "version", "another version") != here.version:
                its = getattr(answer, "version", f"one that answers {first_line(answer)!r}")
                raise EngineError(
                    f"Worker {worker} has riffler {its}, here is {here.version}. Install the same on both."
                )
            need_closed(worker, answer.open_at)
            places[worker] = answer.place
        return places

    @contextmanager
    def _named_faults(self) -> Iterator[None]:
        from distributed.comm.core import CommClosedError

        if self._client.scheduler is None:
            raise self._gone()
        try:
            yield
        except (CommClosedError, OSError, TimeoutError, CancelledError, RuntimeError) as error:
            raise self._gone() from error
        except Exception:
            self.need_open()
            raise

    @property
    def _is_away(self) -> bool:
        return self._client.scheduler is None or self._client.status != "running"

    def ended_by_work(self) -> EngineError:
        """Say that a piece of work ends whoever does it."""
        return EngineError(
            f"A piece of work ended its workers of {self.name} several times. Look into their logs: mostly it needs "
            "more memory than they have. Give them more, or fewer threads, then go on."
        )

    def need_open(self) -> None:
        """Raise once this was closed, here, whichever thread did it."""
        if self._is_closed:
            raise EngineError(f"This engine was closed, and its connection to {self.name} with it. Make another one.")

    def _gone(self) -> EngineError:
        self.need_open()
        return EngineError(f"The Dask scheduler at {self.name} went away, or hangs. Start it again and go on.")


async def _number_of_thread() -> int:
    return get_ident()


def first_line(what: object) -> str:
    """Return what a message begins with: Dask's go on with tracebacks."""
    return next(iter(str(what).splitlines()), "")


def need_distributed() -> Any:  # noqa: ANN401 - a module
    """Import Dask distributed, or say how it is installed."""
    try:
        import distributed
    except ImportError as error:
        raise EngineError(f"Work on a cluster needs the package distributed. Install it with: {INSTALL}") from error
    return distributed


def own_cluster(n_workers: int) -> Any:  # noqa: ANN401 - Dask's own
    """Start workers on this machine, which nobody without their temporary certificates can talk to."""
    distributed = need_distributed()
    import dask

    made: Any = None
    try:
        # workers get the settings of the moment in which they are made
        with dask.config.set(FOR_STEPS), kept_from_workers():
            made = distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", protocol="tls://",
                security=distributed.Security.temporary(), dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0", memory_limit=0,
                silence_logs=SILENT,
            )  # fmt: skip
    except KeyboardInterrupt:
        if made is not None:
            made.close(timeout=10)
        raise
    except ImportError as error:  # of cryptography
        raise EngineError(f"{error} Install what clusters need with: {INSTALL}") from error
    except (OSError, RuntimeError, TimeoutError) as error:
        raise EngineError(
            f"Worker processes cannot be started on this machine: {error}. In a script of your own they begin by "
            'importing it: put what it does behind `if __name__ == "__main__":`. Else the local engine needs none.'
        ) from error
    else:
        return made
