"""What the commands for teams share: where the database is, and how people reach the server."""

from __future__ import annotations

from urllib.parse import urlsplit

import typer

from riffler.errors import InputError

DATABASE = typer.Option(
    envvar="RIFFLER_DATABASE",
    help="Where accounts and reviews are: postgresql+psycopg://user@host/name, or a file.",
    show_default=False,
)


def checked_database(address: str) -> str:
    """Return the address of a database, or refuse one of a kind that nobody knows.

    >>> checked_database("team.riffler")
    'team.riffler'
    """
    from riffler.review.database import is_postgres

    if not is_postgres(address) and "://" in address.removeprefix("sqlite:///"):
        raise InputError(
            "--database is the address of no known database. Name a file, or write "
            "postgresql+psycopg://user@host:port/name."
        )
    return address


def checked_url(url: str | None) -> str | None:
    """Return the address of a server as people see it, without a slash at its end.

    >>> checked_url("https://reviews.example.org/")
    'https://reviews.example.org'
    """
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise InputError(f"--url {url!r}: expected the address of a host, such as https://reviews.example.org.")
    return url.rstrip("/")
