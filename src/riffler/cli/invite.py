"""``riffler invite``: an address with which somebody makes an account, joins a review, or sets a new password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from riffler.cli import output
from riffler.cli.team_options import DATABASE, checked_database, checked_url
from riffler.errors import InputError, UnknownName

if TYPE_CHECKING:
    from riffler.team.office import Office

EXAMPLES = """Examples:

riffler invite anna --database team.riffler

riffler invite --database team.riffler --review whales --role reviewer

riffler invite olga --admin --url https://reviews.example.org
"""
HERE = "http://127.0.0.1:8765"


def invite(
    database: Annotated[str, DATABASE],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Of the account; one that is there gets a new password. Without it, who comes chooses one.",
        ),
    ] = None,
    admin: Annotated[bool, typer.Option("--admin", help="As an admin, who looks after the server.")] = False,
    review: Annotated[str | None, typer.Option(help="Name or identity of a review to take part in.")] = None,
    role: Annotated[
        str | None, typer.Option(help="What they may do in it: reader, reviewer (the usual) or owner.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help=f"How people reach the server (default: {HERE}).", show_default=False)
    ] = None,
) -> None:
    """Print an address that works once, within a week: for a new account, a review, or a forgotten password."""
    from riffler.review.database import file_of, is_postgres
    from riffler.team.office import open_office
    from riffler.web.links import secret_link

    address, public = checked_database(database), checked_url(url)
    if role is not None and review is None:
        raise InputError("--role is what somebody may do in a review. Name it with --review.")
    if not is_postgres(address) and not file_of(address).is_file():
        raise InputError(f"{file_of(address)}: there is no such database. `riffler serve` makes one.")
    with open_office(address) as office:
        number = None if review is None else _review(office, review)
        chosen = None if review is None else role or "reviewer"
        made, secret = office.people.invite(by=None, name=name, review_id=number, role=chosen, is_admin=admin)
    what = "set a new password" if made.is_reset else "make an account"
    console = output.console()
    console.print(
        f"With this address {made.name or 'somebody'} can {what}, once, within a week:", soft_wrap=True, markup=False
    )
    console.print(secret_link(public or HERE, secret), soft_wrap=True, markup=False)


def _review(office: Office, wanted: str) -> int:
    """Return the number of the review with a name or an identity."""
    reviews = office.reviews()
    found = [one for one in reviews if wanted in (one.name, one.identity)]
    if not found:
        raise UnknownName.among("review", wanted, sorted({one.name for one in reviews}))
    if len(found) > 1:
        same = ", ".join(one.identity for one in found)
        raise InputError(f"There are {len(found)} reviews called {wanted!r}. Name one by its identity: {same}.")
    return found[0].id
