"""What a server is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from riffler.review.upload_limits import Limits

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_BODY = 1 << 20
"""Bytes of a request that is no upload."""


class Keeper(Protocol):
    """Keeps a learner process alive."""

    def start(self) -> object:
        """Start it."""

    def stop(self) -> object:
        """End it."""

    @property
    def alive(self) -> bool:
        """Whether it runs now."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of one server.

    review : file of the review
    host, port : where it listens
    learner : what keeps the learner alive; None where another process does, or nobody
    allowed_hosts : names beside the loopback ones by which the server may be called
    limits : of files that are imported
    """

    review: Path
    host: str = "127.0.0.1"
    port: int = 8765
    learner: Keeper | None = None
    allowed_hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK

    @property
    def cookie(self) -> str:
        """Name of the session cookie: cookies do not tell ports apart, their names must."""
        return f"riffler-{self.port}"

    def address(self, invitation: str) -> str:
        """The address that lets one browser in."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={invitation}"
