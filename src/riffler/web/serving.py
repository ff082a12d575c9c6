"""Running the server: a free port, a word when it is ready, a clean end."""

from __future__ import annotations

import errno
import gc
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import current_thread, main_thread

import uvicorn
from fastapi import FastAPI

from riffler.errors import InputError

SWITCH_SECONDS = 0.0005
"""After which a thread lets another go on: a request waits for the database often and briefly, and each time anew for
whoever computes; Python's own 5 ms would be most of its time where many people read."""

N_PORTS = 50
LOOPBACK_PROXIES = ("127.0.0.1", "::1")
GRACE_SECONDS = 5
"""For requests that are under way when the server shall end."""

KEEP_ALIVE_SECONDS = 75
"""For connections that wait: longer than a proxy keeps them (nginx: 60), which else writes to a closed one."""


def free_socket(host: str, port: int, n_ports: int | None = None) -> socket.socket:
    """Return a socket on the port, or on the next of some that no other program has; port 0 takes any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    n_tried = N_PORTS if n_ports is None else n_ports
    for wanted in range(port, min(port + n_tried, 65536)):
        # named as TCP: asyncio sends small packets of such sockets at once, others wait 40 ms for an acknowledgement
        one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((host, wanted))
            one.listen()
            return one
        except OSError as error:
            one.close()
            if error.errno != errno.EADDRINUSE:
                raise InputError(
                    f"{host}:{wanted} cannot be used: {error.strerror or error}. Choose another --host or --port."
                ) from error
    taken = f"Port {port} is" if n_ports == 1 else f"The ports from {port} on are all"
    raise InputError(f"{taken} taken by other programs. Choose another one with --port.")


class Server(uvicorn.Server):
    """A server that says when it is ready.

    proxies : addresses whose word is taken for where a request came from, and whether over https
    """

    def __init__(self, app: FastAPI, on_ready: Callable[[], None], proxies: Sequence[str] = LOOPBACK_PROXIES) -> None:
        # no access log: the address that lets a browser in would stand in it
        super().__init__(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                ws="none",
                forwarded_allow_ips=list(proxies),
                timeout_graceful_shutdown=GRACE_SECONDS,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the review, listen, and say so."""
        await super().startup(sockets)
        if self.started:
            # What is loaded now stays. The garbage collector would go through all of it now and then, for a tenth of a
            # second, in which nobody is answered.
            gc.freeze()
            self._on_ready()

    def serve_on(self, listening: socket.socket) -> None:
        """Serve until somebody interrupts it; what is under way is finished first."""
        sys.setswitchinterval(SWITCH_SECONDS)
        if hasattr(signal, "SIGHUP") and current_thread() is main_thread():  # a closed terminal is an end as any other
            signal.signal(signal.SIGHUP, self.handle_exit)
        try:
            with suppress(KeyboardInterrupt):  # the usual way to end it
                self.run(sockets=[listening])
        finally:
            gc.unfreeze()
        if not self.started:
            raise InputError("The server could not start; the lines above say why.")
