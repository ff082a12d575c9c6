"""Addresses that people send each other."""

from __future__ import annotations

from starlette.requests import Request


def public_address(request: Request) -> str:
    """Return how people reach this server: as it was told, or else as who asks has reached it."""
    given: str | None = request.app.state.settings.url
    if given is not None:
        return given.rstrip("/")
    return f"{request.scope['scheme']}://{request.headers['host']}"  # the gate knows the name


def invitation_link(request: Request, secret: str) -> str:
    """Return the address of an invitation."""
    return secret_link(public_address(request), secret)


def secret_link(server: str, secret: str) -> str:
    """Return the address of an invitation to a server; browsers keep what is behind the # to themselves.

    >>> secret_link("https://reviews.example.org", "7f3a")
    'https://reviews.example.org/invitation#7f3a'
    """
    return f"{server}/invitation#{secret}"
