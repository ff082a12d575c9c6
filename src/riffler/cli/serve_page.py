"""The server of a team while it runs: what it prints when it is ready, and its end."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network

from riffler.cli import output
from riffler.errors import InputError


class TeamPage:
    """A server of a team, with what it prints.

    database : its address
    host, port : where it listens
    allowed_hosts : further names by which it may be called
    proxies : on other machines, whose word is taken for where a request came from
    url : how people reach it
    learners : at most so many on this server; None for the usual number
    told : options of the learners
    """

    def __init__(
        self, database: str, host: str, port: int, allowed_hosts: tuple[str, ...], proxies: tuple[str, ...],
        url: str | None, learners: int | None, told: Sequence[str] = (),
    ) -> None:  # fmt: skip
        from riffler.team.learners import MOST, Learners
        from riffler.team.office import open_office
        from riffler.web.serving import LOOPBACK_PROXIES, Server, free_socket
        from riffler.web.settings import TeamSettings
        from riffler.web.team_app import make_team_app

        self.console = output.console()
        with open_office(database) as office:  # what is wrong with it is said before anything else
            self.has_accounts = office.people.has_accounts()
        most = MOST if learners is None else learners
        self.listening = free_socket(host, port, n_ports=1)
        self.settings = TeamSettings(
            database=database,
            host=host,
            port=self.listening.getsockname()[1],
            learners=Learners(database, most=most, told=told) if most else None,
            allowed_hosts=allowed_hosts,
            url=url,
        )
        self.proxies = proxies
        self.app = make_team_app(self.settings)
        self.server = Server(self.app, self._ready, (*LOOPBACK_PROXIES, *proxies))

    def say(self, words: str) -> None:
        """Print a line, whole."""
        self.console.print(words, soft_wrap=True, markup=False)

    def show(self) -> None:
        """Serve until Ctrl-C."""
        from riffler.review.database import shown_address

        self._warn_if_open()
        self.server.serve_on(self.listening)
        self.say(f"The server has ended. Everything is in {shown_address(self.settings.database)}.")

    def _ready(self) -> None:
        from riffler.web.links import secret_link

        self.say(f"The server: {self.settings.address}")
        if not self.has_accounts:
            _, secret = self.app.state.house.office.people.invite(by=None, is_admin=True)
            self.say(
                "\nNobody has an account yet. The first one, of an admin, is made here (it works once, within a week):"
                f"\n{secret_link(self.settings.address, secret)}\n"
            )
        self.say("Ctrl-C ends it; nothing is lost.")

    def _warn_if_open(self) -> None:
        if not self.settings.is_local and not self.proxies:
            self.console.print(
                f"WARNING: everybody who reaches {self.settings.host} over the network can reach this server, and what "
                "is sent is not encrypted: passwords and reviews can be read on the way. Use it in a network that you "
                "trust, or let it listen on this machine alone (without --host), behind a proxy that speaks https.",
                style="bold red",
            )


def checked_proxies(given: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses of proxies that are trusted, or refuse what is none.

    >>> checked_proxies(["10.0.0.5", "10.1.0.0/16"])
    ('10.0.0.5', '10.1.0.0/16')
    """
    for one in given:
        try:
            ip_network(one)
        except ValueError as error:
            raise InputError(
                f"--proxy {one!r}: expected the number of a machine or network, such as 10.0.0.5."
            ) from error
    return tuple(given)
