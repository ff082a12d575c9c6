"""Who may be talked to: a Dask scheduler runs any code it is sent, so off this machine both sides show certificates."""

from __future__ import annotations

import importlib
import ipaddress
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from riffler.engine.pem import check_pem
from riffler.errors import EngineError, InputError

SCHEMES = "tcp", "tls", "ws", "wss", "ucx"
"""How addresses begin that Dask connects to; one within a process (inproc://) is that of a cluster object."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the authority that signed the scheduler's certificate, this client's certificate, and its key."""

    ca: str | Path
    cert: str | Path
    key: str | Path

    def __post_init__(self) -> None:
        check_pem(self.ca, self.cert, self.key)

    def security(self) -> Any:  # noqa: ANN401 - Dask's own
        """Return what Dask wants to know."""
        distributed: Any = importlib.import_module("distributed")
        return distributed.Security(
            tls_ca_file=str(self.ca), tls_client_cert=str(self.cert), tls_client_key=str(self.key),
            require_encryption=True,
        )  # fmt: skip


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine by its name or address alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("10.0.0.1")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def scheduler_address(name: str, tls: TlsFiles | None) -> str:
    """Turn dask://host:port into the address that Dask knows; without TLS it must be on this machine.

    >>> scheduler_address("dask://localhost:8786", None)
    'tcp://localhost:8786'
    """
    host, port = host_and_port(name, ("dask",))
    if tls is None and not is_loopback(host):
        raise EngineError(
            f"{name}: a scheduler on another machine is talked to with TLS only, as it runs whatever it is sent. "
            "Pass the files of the authority, the certificate and its key."
        )
    return f"{'tcp' if tls is None else 'tls'}://{f'[{host}]' if ':' in host else host}:{port}"


def dask_address(given: str, tls: TlsFiles | None) -> str:
    """Take an address as this package writes it, or as Dask does.

    >>> dask_address("dask://localhost:8786", None), dask_address("tls://10.0.0.1:8786", None)
    ('tcp://localhost:8786', 'tls://10.0.0.1:8786')
    """
    if given.startswith("dask://"):
        return scheduler_address(given, tls)
    host_and_port(given, SCHEMES)
    return given


def host_and_port(name: str, schemes: Collection[str]) -> tuple[str, int]:
    """Take an address apart, or raise and say what is wrong with it.

    >>> host_and_port("tcp://localhost:8786", ["tcp"])
    ('localhost', 8786)
    """
    try:
        parts = urlsplit(name)
        host, port = parts.hostname, parts.port
    except ValueError as error:  # the port is no number or too large, or brackets are missing
        raise _no_address(name, str(error)) from error
    if name.partition("://")[0] not in schemes:
        raise _no_address(name, f"it does not begin with {', '.join(f'{one}://' for one in schemes)}")
    if not host or not port:
        raise _no_address(name, "it has no host" if not host else "it has no port")
    if parts.path not in ("", "/") or parts.query or parts.fragment or "@" in name:
        raise _no_address(name, "it has more than a host and a port")
    return host, port


def _no_address(name: str, why: str) -> InputError:
    return InputError(
        f"{name!r} is no address of a scheduler: {why}. Write dask://host:port, such as dask://localhost:8786."
    )


def need_trusted(addresses: Iterable[str]) -> None:
    """Raise where somebody on another machine would be talked to without TLS: a scheduler or one of its workers.

    >>> need_trusted(["tls://10.0.0.1:8786", "tcp://127.0.0.1:8786", "inproc://10.0.0.1/7/1"])
    """
    for one in addresses:
        try:
            host = urlsplit(one).hostname or ""
        except ValueError as error:
            raise InputError(f"{one!r} is no address of a scheduler: {error}.") from error
        if one.startswith(("tls://", "inproc://")) or is_loopback(host):
            continue
        raise EngineError(
            f"{one} is on another machine and has no TLS, and who is there runs, and sees, whatever it is sent. Start "
            "scheduler and workers with certificates, and pass those of this client."
        )


def need_shut_in(address: str) -> None:
    """Raise where a scheduler, by the address that it has itself, is open to other machines without TLS.

    >>> need_shut_in("tcp://127.0.0.1:8786")
    """
    try:
        need_trusted([address])
    except EngineError as error:
        raise EngineError(
            f"The scheduler calls itself {address}, so it is open to others, and has no TLS: whoever reaches it runs "
            "what they like where the documents are. Start it with --host 127.0.0.1, or with certificates."
        ) from error


def need_closed(worker: str, open_at: Iterable[str]) -> None:
    """Raise where a worker without TLS listens to other machines.

    >>> need_closed("tcp://127.0.0.1:40000", [])
    """
    hosts = ", ".join(open_at)
    if hosts:
        raise EngineError(
            f"Worker {worker} listens to others (at {hosts}) and has no TLS: whoever reaches it runs what they like "
            "where the documents are. Start it with --host 127.0.0.1, or with certificates."
        )


def has_certificates() -> bool:
    """Tell whether Dask's own settings name certificates for clients."""
    distributed: Any = importlib.import_module("distributed")
    return distributed.Security().get_connection_args("client").get("ssl_context") is not None
