"""``riffler migrate``: says what it moved and what to do next, and every mistake in one line without a password."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, make_url

from riffler.cli import run
from riffler.review import new_file
from riffler.review.store import open_review
from riffler.review.upgrade import make_tables
from riffler.team.office import open_office
from tests.review.reviews import new_review, say
from tests.team.people import PASSWORD, cheapen


def migrate(*arguments: object) -> int:
    return run(["migrate", *map(str, arguments)])


def error_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert migrate(*arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.fixture
def review(tmp_path: Path) -> Path:
    with new_review(tmp_path, n=10) as opened:
        opened.answer([say("d0", "relevant")], reviewer="anna")
        opened.answer([say("d1", "maybe")], reviewer="berta")
    return tmp_path / "whales.riffler"


def set_version(path: Path, version: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
        connection.commit()


def test_a_review_goes_to_a_server_and_back(
    review: Path, tmp_path: Path, postgres_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    password = str(make_url(postgres_address).password)
    assert migrate(review, postgres_address) == 0
    said = capsys.readouterr()
    assert password not in said.out + said.err
    moved, frozen, todo = said.out.splitlines()
    assert moved.startswith("moved 'whales' to postgresql+psycopg://riffler:***@")
    assert moved.endswith(": 10 documents, 2 answers, 2 people")
    assert str(review) in frozen
    assert "frozen now" in frozen
    assert todo.startswith("next: nobody is a member of it yet: riffler invite --database postgresql+psycopg://")
    assert todo.endswith("--review whales --role owner")
    assert migrate(postgres_address, tmp_path / "new" / "back.riffler", "--review", "whales") == 0
    said = capsys.readouterr()
    assert password not in said.out + said.err
    assert f"next: riffler review {tmp_path / 'new' / 'back.riffler'}" in said.out.splitlines()
    with open_review(tmp_path / "new" / "back.riffler") as back:
        assert list(back.standings()) == ["d0", "d1"]
        back.answer([say("d2", "relevant")])
    with open_review(review) as source:
        assert [details for _, name, details in source.events() if name == "moved"] == [
            {"to": make_url(postgres_address).render_as_string(hide_password=True)}
        ]
    assert "was moved to postgresql+psycopg://riffler:***@" in error_of(capsys, review, tmp_path / "x.riffler")


def test_a_copy_leaves_the_source_as_it_is(review: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert migrate(review, f"sqlite:///{tmp_path / 'copy.riffler'}", "--copy") == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"copied 'whales' to sqlite:///{tmp_path / 'copy.riffler'}: 10 documents, 2 answers, 2 people",
        f"{review} was not changed",
    ]
    with open_review(review) as source:
        source.answer([say("d3", "relevant")])
    assert "is there already" in error_of(capsys, review, tmp_path / "copy.riffler")


def test_mistakes_are_one_line(
    review: Path, tmp_path: Path, postgres_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, target = review.read_bytes(), tmp_path / "x.riffler"
    assert "are the same" in error_of(capsys, review, review)
    assert "are the same" in error_of(capsys, review, f"sqlite:///{tmp_path}/../{tmp_path.name}/whales.riffler")
    assert "are the same" in error_of(capsys, postgres_address, postgres_address)
    assert "there is no such file" in error_of(capsys, tmp_path / "no.riffler", target)
    assert "there is no review in it" in error_of(capsys, postgres_address, target)
    assert "is a folder" in error_of(capsys, review, tmp_path)
    assert "no review called 'snow'. Known: 'whales'" in error_of(capsys, review, target, "--review", "snow")
    (tmp_path / "text.riffler").write_text("hello")
    assert "no review" in error_of(capsys, tmp_path / "text.riffler", target)
    assert "no review" in error_of(capsys, review, tmp_path / "text.riffler")
    assert "cannot be written" in error_of(capsys, review, review / "x.riffler")
    unknown = error_of(capsys, review, "mysql://anna:secret@localhost/reviews")
    assert "no known database" in unknown
    assert "secret" not in unknown
    assert sorted(file.name for file in tmp_path.iterdir()) == ["text.riffler", "whales.riffler"]
    assert review.read_bytes() == whole


def test_a_database_that_does_not_answer_is_one_line_without_its_password(
    review: Path, tmp_path: Path, postgres_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known = make_url(postgres_address)
    for url in (known.set(port=1), known.set(password="a5b6c7"), known.set(database="nowhere")):
        address = url.render_as_string(hide_password=False)
        for both in ((review, address), (address, tmp_path / "x.riffler")):
            said = error_of(capsys, *both)
            assert "The database does not answer" in said
            assert str(url.password) not in said
    assert [file.name for file in tmp_path.iterdir()] == ["whales.riffler"]


def test_a_newer_target_is_refused_and_not_changed(
    review: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = tmp_path / "newer.riffler"
    assert migrate(review, newer, "--copy") == 0
    set_version(newer, "9999")
    capsys.readouterr()
    before = newer.read_bytes()
    assert "written by a newer Riffler" in error_of(capsys, review, newer)
    assert "written by a newer Riffler" in error_of(capsys, newer, tmp_path / "x.riffler")
    assert newer.read_bytes() == before


def test_a_full_disk_is_said_and_nothing_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def with_little_room(engine: Engine) -> None:
        make_tables(engine)
        with engine.connect() as connection:
            n = connection.exec_driver_sql("PRAGMA page_count").scalar()

        @event.listens_for(engine, "checkout")
        def limit(connection: sqlite3.Connection, *_: object) -> None:
            connection.execute(f"PRAGMA max_page_count={n}")

    new_review(tmp_path, n=2000).close()
    monkeypatch.setattr(new_file, "make_tables", with_little_room)
    assert "The disk is full" in error_of(capsys, tmp_path / "whales.riffler", tmp_path / "x.riffler")
    assert [file.name for file in tmp_path.iterdir()] == ["whales.riffler"]
    with open_review(tmp_path / "whales.riffler") as opened:
        opened.answer([say("d5", "relevant")])


def test_the_help_shows_both_directions(capsys: pytest.CaptureFixture[str]) -> None:
    assert migrate("--help") == 0
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for part in ("SOURCE", "TARGET", "--review", "--copy", "PGPASSWORD", "postgresql+psycopg://"):
        assert part in words


def test_a_moved_review_gets_an_owner_who_is_there(
    review: Path, postgres_address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cheapen(monkeypatch)
    assert "no account 'olga' that can log in" in error_of(capsys, review, postgres_address, "--owner", "olga")
    with open_office(postgres_address) as office:
        owner = office.people.make_account("olga", PASSWORD)
        assert migrate(review, postgres_address, "--owner", "Olga") == 0
        assert "riffler serve" in capsys.readouterr().out
        [membership] = office.people.reviews_of(owner.id)
    assert (membership.name, membership.role) == ("whales", "owner")
