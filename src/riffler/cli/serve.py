"""``riffler serve``: the review page for a team, on a database that any number of servers share."""

from __future__ import annotations

from typing import Annotated

import typer

from riffler.cli.engine_options import EngineName, TlsCa, TlsCert, TlsKey, chosen_engine
from riffler.cli.team_options import DATABASE, checked_database, checked_url

EXAMPLES = """Examples:

riffler serve --database team.riffler

riffler serve --database postgresql+psycopg://riffler@localhost/reviews

riffler serve --database postgresql+psycopg://riffler@db.example.org/reviews --url https://reviews.example.org

A password in an address can be seen by other users of the machine: set RIFFLER_DATABASE or PGPASSWORD, or use a file
~/.pgpass, instead.
"""


def serve(
    database: Annotated[str, DATABASE],
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own lets others reach the server.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any that is free.")] = 8765,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name by which others call this server; may be repeated.")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(help="Address or network of a proxy on another machine that is trusted; may be repeated."),
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="How people reach the server, such as https://reviews.example.org.")
    ] = None,
    learners: Annotated[
        int | None, typer.Option(min=0, max=64, help="Reviews that this server learns for at a time; 0 for none.")
    ] = None,
    engine: EngineName = "local",
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Serve the reviews of a team: people log in, and read together.

    The first time, the address is printed with which the first admin makes an account; everybody else is invited.
    """
    choice = chosen_engine(engine, tls_ca, tls_cert, tls_key)
    address, public = checked_database(database), checked_url(url)

    from riffler.cli.serve_page import TeamPage, checked_proxies

    names = tuple(name.lower() for name in allow_host or ())
    trusted = checked_proxies(proxy or ())
    TeamPage(address, host, port, names, trusted, public, learners, choice.arguments()).show()
