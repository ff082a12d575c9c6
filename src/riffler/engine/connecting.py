"""Which scheduler a caller means, and whether one answers there, before Dask makes a client for it.

A client of Dask's whose scheduler takes connections and says nothing waits for ever, and one that failed to connect
leaves threads behind that hold up the end of the process.
"""

from __future__ import annotations

import asyncio
import importlib
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any

from riffler.engine.tls import TlsFiles, dask_address, has_certificates, need_trusted
from riffler.errors import EngineError, InputError

TO_GREET = 2.0  # seconds for who takes a connection at the last moment to say something


@dataclass(frozen=True, slots=True)
class Scheduler:
    """What Dask makes a client of, where that is, and the certificates for it; None: as Dask's settings say."""

    target: Any
    address: str
    security: Any = None

    @property
    def arguments(self) -> dict[str, Any]:
        """What the client is told beside the target."""
        return {} if self.security is None else {"security": self.security}

    def need_answer(self, timeout: float) -> None:
        """Raise where no scheduler answers; a cluster object is connected to its own already."""
        if not isinstance(self.target, str) or self.address.startswith("inproc://"):
            return
        try:
            kind = _asked_elsewhere(self, timeout)
        except Exception as error:  # whatever may be there instead
            raise unanswered(self.address, self._reason(error, timeout)) from error
        if kind is not None:
            raise unanswered(self.address, f"a {kind} is there")

    def _reason(self, error: Exception, timeout: float) -> str:
        if type(error) is TimeoutError:
            return f"something takes connections there, and says nothing for {timeout:g} seconds"
        if isinstance(error, OSError) and str(error):
            return str(error)
        if self.address.startswith(("tls://", "wss://")):
            return "it does not speak TLS, or not with these certificates"
        return f"what is there does not speak as a scheduler does ({type(error).__name__})"


def scheduler_of(given: Any, tls: TlsFiles | None) -> Scheduler:  # noqa: ANN401 - an address, or an object of Dask's
    """Take an address, a client of Dask's or a cluster object, and raise where it may not be talked to."""
    security = None if tls is None else tls.security()
    if isinstance(given, str):
        meant = Scheduler(address := dask_address(given, tls), address, security)
        if tls is None and address.startswith(("tls://", "wss://")) and not has_certificates():
            raise EngineError(f"{address} needs certificates. Pass TlsFiles(ca, cert, key), or a dask:// address.")
    elif isinstance(given, importlib.import_module("distributed").Client):
        address = _address_of_client(given)
        meant = Scheduler(address, address, security or given.security)
    else:
        meant = Scheduler(given, _address_of_cluster(given), security)
    need_trusted([meant.address])
    return meant


def _address_of_client(client: Any) -> str:  # noqa: ANN401 - Dask's own
    if client.scheduler is None:
        raise EngineError("The client that was given is closed. Make another, or pass the address of its scheduler.")
    return str(client.scheduler.address)


def _address_of_cluster(given: Any) -> str:  # noqa: ANN401 - an object of any kind
    address = getattr(given, "scheduler_address", None)
    if not isinstance(address, str):
        raise InputError(
            "cluster must be the address of a scheduler, a Client or a cluster object of Dask, or None for workers of "
            f"its own, got {given!r}."
        )
    if "://" not in address:
        raise EngineError(f"{given!r} has no scheduler: it is closed, or was not started. Start one, and pass that.")
    return address


def unanswered(address: str, reason: str) -> EngineError:
    """Say that there is no scheduler."""
    return EngineError(
        f"No Dask scheduler answers at {address}: {reason.rstrip('.')}. Start it, or check host, port and certificates."
    )


def _asked_elsewhere(scheduler: Scheduler, timeout: float) -> str | None:
    """Ask in a thread, as this one may be within a loop; it ends by itself when nobody waits for it any more."""
    answer: Future[str | None] = Future()

    async def ask() -> None:  # answers before its loop ends, which waits until a name is looked up
        try:
            answer.set_result(await asyncio.wait_for(_kind_of(scheduler, timeout), timeout + TO_GREET))
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=asyncio.run, args=(ask(),), name="riffler-connect", daemon=True).start()
    return answer.result()


async def _kind_of(scheduler: Scheduler, timeout: float) -> str | None:
    """Return what answers that is no scheduler, such as a Worker; None for a scheduler, of which there are kinds."""
    distributed: Any = importlib.import_module("distributed")
    arguments = (scheduler.security or distributed.Security()).get_connection_args("client")
    comm = await distributed.comm.connect(scheduler.address, timeout=timeout, **arguments)
    try:
        identity = await distributed.core.send_recv(comm, op="identity")
    finally:
        comm.abort()
    return None if "workers" in identity else str(identity["type"])
