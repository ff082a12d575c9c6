"""``riffler serve`` and ``riffler invite``: from an empty database to the first admin; the rest is said in words."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import make_url

from riffler.cli import run
from riffler.cli.serve_page import TeamPage
from riffler.team.office import open_office
from riffler.web.serving import free_socket
from tests.postgres import PostgresServer
from tests.team.people import PASSWORD, cheapen

COMMAND = [sys.executable, "-c", "from riffler.cli import main; main()"]
API = "/api/v1"


@contextmanager
def running(database: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the server; gives its process and what it printed until it was ready."""
    command = [*COMMAND, "serve", "--database", database, "--port", "0", "--learners", "0", *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        yield process, "".join(lines)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the address of a database that nobody has used, and that a command makes or fills."""
    if request.param == "sqlite":
        yield str(tmp_path / "team.riffler")
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    address = postgres.new_database()
    yield address
    postgres.drop_database(address)


def accept(address: str, name: str | None) -> httpx.Response:
    """Use an invitation as its page does."""
    server, _, secret = address.partition("/invitation#")
    given = {"secret": secret, "name": name, "password": PASSWORD}
    return httpx.post(
        f"{server}{API}/invitations/accept", json=given, headers={"origin": server}, trust_env=False, timeout=60
    )


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_the_first_admin_is_invited_once_and_the_end_is_clean(database: str, tmp_path: Path) -> None:
    password = str(make_url(database).password) if "://" in database else "no password"
    with running(database) as (process, printed):
        (address,) = re.findall(r"http://\S+/invitation#\S+", printed)
        assert accept(address, "ada").json() == {"name": "ada", "base": None}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert "The server has ended" in out
        assert password not in printed + out
    if "://" not in database:
        assert [path.name for path in tmp_path.iterdir()] == ["team.riffler"]
    with open_office(database) as office:
        assert [(one.name, one.is_admin) for one in office.people.accounts()] == [("ada", True)]
    with running(database) as (_, printed):
        assert "invitation" not in printed


def test_no_secret_is_in_the_log(tmp_path: Path) -> None:
    with running(str(tmp_path / "team.riffler")) as (process, printed):
        (address,) = re.findall(r"http://\S+/invitation#\S+", printed)
        server = address.partition("/invitation")[0]
        entered = accept(address, "ada")
        (cookie,) = entered.cookies.values()
        wrong = {"name": "ada", "password": "a-wrong-password"}
        httpx.post(f"{server}{API}/login", json=wrong, headers={"origin": server}, trust_env=False)
        httpx.get(f"{server}{API}/me", headers={"authorization": "Bearer a-wrong-key"}, trust_env=False)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    for hidden in (address.partition("#")[2], cookie, PASSWORD, "a-wrong-password", "a-wrong-key"):
        assert hidden not in out + err


def test_an_invitation_of_the_command_line_is_for_an_account_a_review_or_a_new_password(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cheapen(monkeypatch)
    with open_office(database) as office:
        ada = office.people.make_account("ada", PASSWORD, is_admin=True)
        office.create("whales", by=ada.id)
    monkeypatch.setenv("RIFFLER_DATABASE", database)
    assert run(["invite", "anna", "--review", "whales", "--url", "https://reviews.example.org/"]) == 0
    words, address = capsys.readouterr().out.splitlines()
    assert words == "With this address anna can make an account, once, within a week:"
    server, _, secret = address.partition("/invitation#")
    assert server == "https://reviews.example.org"
    assert run(["invite", "ADA"]) == 0
    words, reset = capsys.readouterr().out.splitlines()
    assert "can set a new password" in words
    assert run(["invite", "--admin"]) == 0
    assert "somebody can make an account" in capsys.readouterr().out
    with open_office(database) as office:
        anna = office.people.accept(secret, password=PASSWORD)
        assert [(one.name, one.role) for one in office.people.reviews_of(anna.id)] == [("whales", "reviewer")]
        again = office.people.accept(reset.partition("#")[2], password="gulls cry at dawn")
        assert again.id == ada.id


def test_what_cannot_be_invited_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cheapen(monkeypatch)
    file = str(tmp_path / "team.riffler")
    assert "there is no such database" in error_of(capsys, "invite", "anna", "--database", file)
    with open_office(file) as office:
        ada = office.people.make_account("ada", PASSWORD, is_admin=True)
        identities = [office.create("whales", by=ada.id).identity for _ in range(2)]
    told = error_of(capsys, "invite", "--database", file, "--review", "whales")
    assert all(identity in told for identity in identities)
    assert run(["invite", "--database", file, "--review", identities[0], "--role", "owner"]) == 0
    assert "Known: whales" in error_of(capsys, "invite", "--database", file, "--review", "gulls")
    assert "Name it with --review" in error_of(capsys, "invite", "--database", file, "--role", "owner")
    assert "role" in error_of(capsys, "invite", "--database", file, "--review", identities[0], "--role", "king")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--database", "postgresql+psycopg://anna:hush@127.0.0.1:1/reviews"], "does not answer"),
        (["--database", "mysql://anna:hush@127.0.0.1/reviews"], "no known database"),
        (["--database", "nowhere/team.riffler"], "there is no folder nowhere"),
        (["--database", "team.riffler", "--url", "reviews.example.org"], "--url"),
        (["--database", "team.riffler", "--url", "https://example.org/reviews"], "--url"),
        (["--database", "team.riffler", "--proxy", "nginx"], "--proxy"),
        ([], "--database"),
    ],
)
def test_a_server_that_cannot_start_says_why_in_one_line_without_passwords(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RIFFLER_DATABASE", raising=False)
    told = error_of(capsys, "serve", *arguments)
    assert words in told
    assert "hush" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_not_exchanged_for_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with free_socket("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        told = error_of(capsys, "serve", "--database", str(tmp_path / "team.riffler"), "--port", port)
    assert f"Port {port} is taken" in told


def test_the_engine_of_folders_is_for_the_learners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []

    class Noted:
        def __init__(self, *given: object, **named: object) -> None:
            told.append(named["told"])

    monkeypatch.setattr("riffler.team.learners.Learners", Noted)
    monkeypatch.setattr(TeamPage, "show", lambda page: page.listening.close())
    options = ["--port", "0", "--engine", "dask://localhost:8786"]
    assert run(["serve", "--database", str(tmp_path / "team.riffler"), *options]) == 0
    assert told == [["--engine", "dask://localhost:8786"]]


def test_an_engine_that_cannot_be_is_said_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["serve", "--database", str(tmp_path / "team.riffler")]
    assert "TLS only" in error_of(capsys, *base, "--engine", "dask://far:8786")
    assert "three files" in error_of(capsys, *base, "--tls-ca", "ca.pem")


@pytest.mark.parametrize(
    ("host", "proxies", "is_warned"),
    [("0.0.0.0", (), True), ("0.0.0.0", ("10.0.0.5",), False), ("127.0.0.1", (), False)],
)
def test_a_server_that_others_reach_without_a_proxy_warns(
    host: str, proxies: tuple[str, ...], is_warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = TeamPage(str(tmp_path / "team.riffler"), host, 0, (), proxies, None, 0)
    page._warn_if_open()
    page.listening.close()
    assert ("not encrypted" in capsys.readouterr().out.replace("\n", " ")) is is_warned
