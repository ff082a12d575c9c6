"""What a server is started with: the page of one reader, or the server of a team."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from riffler.review.database import Address
from riffler.review.upload_limits import Limits
from riffler.team.learners import Learners

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
    def names(self) -> tuple[str, ...]:
        """Names that are its own."""
        return (*LOOPBACK, self.host, *self.allowed_hosts)

    @property
    def cookie(self) -> str:
        """Name of the session cookie: cookies do not tell ports apart, their names must."""
        return f"riffler-{self.port}"

    def address(self, invitation: str) -> str:
        """The address that lets one browser in."""
        return f"{_address(self.host, self.port)}/?token={invitation}"


@dataclass(frozen=True, slots=True)
class TeamSettings:
    """Settings of one server of a team; any number of them may share a database.

    database : its address
    host, port : where the server listens
    learners : start learners on this server where reviews need them; None leaves that to other servers
    allowed_hosts : names beside the loopback ones and that of ``url`` by which the server may be called
    limits : of files that are imported
    url : how people reach it, such as https://reviews.example.org; None for where it listens
    """

    database: Address
    host: str = "127.0.0.1"
    port: int = 8765
    learners: Learners | None = None
    allowed_hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    url: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK

    @property
    def names(self) -> tuple[str, ...]:
        """Names that are its own."""
        public = urlsplit(self.url or "").hostname
        return (*LOOPBACK, self.host, *self.allowed_hosts, *([] if public is None else [public]))

    @property
    def address(self) -> str:
        """How people reach it, as far as it knows; without a slash at the end."""
        return _address(self.host, self.port) if self.url is None else self.url.rstrip("/")


def _address(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"
