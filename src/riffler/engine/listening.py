"""Where a worker without TLS can be reached from other machines, whatever it calls itself."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from riffler.engine.tls import is_loopback


def open_at(dask_worker: Any) -> tuple[str, ...]:  # noqa: ANN401 - Dask's own
    """Return the hosts that a worker listens at without TLS, those of its machine alone left out.

    Its sockets are looked at: one that is told a port alone listens to everybody, and says it listens at 127.0.0.1.
    """
    import psutil  # comes with Dask

    addresses = [urlsplit(listener.listen_address) for listener in dask_worker.listeners]
    ports = {address.port for address in addresses if address.scheme not in ("tls", "wss", "inproc")}
    if not ports:
        return ()
    sockets = psutil.Process().net_connections("inet")
    hosts = {one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN and one.laddr.port in ports}
    return tuple(sorted(host for host in hosts if not is_loopback(host)))
