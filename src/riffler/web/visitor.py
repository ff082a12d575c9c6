"""Whose request it is, and the door that tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from riffler.team.accounts import Account


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks, and what they are to the review that they ask for.

    csrf : what the pages of a browser send back with each change; "" for a program with a key
    account : None on the page of one reader, which knows nobody by name
    identity : of the review, "" where there is only one, or none was asked for
    review_id : its number on a server
    role : in that review; None for who is not a member
    is_program : whether it came with a key, which opens its review and nothing else
    afterwards : what is written down about the visit when it was answered, so that nobody waits for it
    """

    csrf: str = ""
    account: Account | None = None
    identity: str = ""
    review_id: int | None = None
    role: str | None = None
    is_program: bool = False
    afterwards: Callable[[], None] | None = None

    @property
    def is_admin(self) -> bool:
        """Whether they look after the server."""
        return self.account is not None and self.account.is_admin

    @property
    def is_known(self) -> bool:
        """Whether they were let in at all."""
        return self.account is not None or self.role is not None

    @property
    def base(self) -> str:
        """Where the pages of the review begin.

        >>> Visitor(identity="7f3a").base, Visitor().base
        ('/reviews/7f3a', '')
        """
        return f"/reviews/{self.identity}" if self.identity else ""


class Door(Protocol):
    """Knows who comes: one way for the page of one reader, another for the server of a team."""

    may_be_linked: bool
    """Whether a link in another page may lead here."""

    def welcome(self, request: Request) -> Response | None:
        """Answer a request that the door itself is for; None for all others."""

    async def browser(self, request: Request, identity: str) -> Visitor | None:
        """Return whose browser it is, and their role in a review; None where nobody was let in with it."""

    async def program(self, request: Request, identity: str) -> Visitor:
        """Return whose program it is; refuse a wrong key."""

    def locked(self, request: Request) -> Response | None:
        """Answer a page that nobody was let in for; None where a refusal is all there is to say."""
