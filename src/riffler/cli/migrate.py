"""``riffler migrate``: a review goes from a file to a server, or back, and loses nothing on the way."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from riffler.cli import output

EXAMPLES = """Examples:

riffler migrate papers.riffler postgresql+psycopg://anna@db.example.org/reviews --owner anna

riffler migrate postgresql+psycopg://anna@db.example.org/reviews papers.riffler --review papers

riffler migrate papers.riffler team.riffler --copy

A password in an address can be seen by other users of the machine: set PGPASSWORD, or use a file ~/.pgpass, instead.
"""


def migrate(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Where the review is: a file (.riffler) or postgresql+psycopg://user@host/name."
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="Where it goes: a file, which is made if it is not there, or postgresql+psycopg://user@host/name.",
        ),
    ],
    review: Annotated[
        str | None, typer.Option(help="Name or identity of the review, where SOURCE has several.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option(help="Name of an account of TARGET that owns the review there; where it has no owner.")
    ] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Leave the review in SOURCE as it is; else it is frozen there.")
    ] = False,
) -> None:
    """Move a review between a file and a PostgreSQL database, in either direction: all of it, or nothing.

    Nobody answers while it moves; where it was it is frozen then, and can still be read. Keys for programs, passwords
    and log-ins stay where they are.
    """
    from riffler.review.database import is_postgres, shown_address
    from riffler.team.moving import move_review

    with output.progress_bar() as tell:
        moved = move_review(source, review, target, keep=copy, tell=tell, owner=owner)
    here, there = shown_address(source), shown_address(target)
    lines = [
        f"{'copied' if copy else 'moved'} {moved.name!r} to {there}: {moved.n_documents:,} documents, "
        f"{moved.n_answers:,} answers, {moved.n_people:,} people",
        f"{here} was not changed" if copy else f"in {here} it is frozen now: it can be read, and nobody answers there",
        f"next: {_next_step(there, moved.name, is_server=is_postgres(target), has_owner=moved.has_owner)}",
    ]
    for line in lines:
        output.console().print(line, soft_wrap=True, markup=False)


def _next_step(there: str, name: str, *, is_server: bool, has_owner: bool) -> str:
    if not is_server:
        return f"riffler review {there}"
    if has_owner:
        return f"riffler serve --database {there}; who cannot log in there gets an address from an admin"
    invite = f"riffler invite --database {there} --review {shlex.quote(name)} --role owner"
    return f"nobody is a member of it yet: {invite}"
