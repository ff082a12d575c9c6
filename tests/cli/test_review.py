"""``riffler review``: from a file to the page and to a clean end, and clear words about what cannot be reviewed."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import polars as pl
import pytest

from riffler.cli import run
from riffler.cli.review_source import Asked, review_file
from riffler.cli.search_sources import Columns
from riffler.review.archive import write_archive
from riffler.review.store import open_review
from riffler.web.serving import free_socket
from riffler.web.uploads import PREFIX
from tests.review.reviews import library, new_review

COMMAND = [sys.executable, "-c", "from riffler.cli import main; main()", "review"]


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    library(40).columns.write_csv(tmp_path / "papers.csv")
    return tmp_path / "papers.csv"


def review(*arguments: object) -> int:
    return run(["review", *map(str, arguments)])


@contextmanager
def running(*arguments: object, **more: object) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start the command; gives its process and the lines that it printed until its page was ready."""
    command = [*COMMAND, *map(str, arguments), "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )  # type: ignore[call-overload]
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "works once" in line:
                break
        yield process, lines
    finally:
        process.kill()
        process.communicate()


def address_in(lines: list[str]) -> str:
    found: list[str] = re.findall(r"http://\S+", "".join(lines))
    return found[0]


def test_once_makes_the_review_and_fetches_the_first_document(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert review(papers, "--once", "--port", "0") == 0
    printed = capsys.readouterr().out
    for words in ("40 documents", "title     title", "The review is in", "The first document to read: "):
        assert words in printed
    assert sorted(path.name for path in papers.parent.iterdir()) == ["papers.csv", "papers.riffler"]
    with open_review(papers.with_suffix(".riffler")) as made:
        title = printed.partition("first document to read: ")[2].strip()
        assert title in list(made.collection().titles)


def test_a_review_goes_on_where_it_ended_with_settings_that_are_given_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with new_review(tmp_path) as made:
        file = made.path
    assert review(file, "--once", "--port", "0", "--target", "0.7", "--criteria", "any whale") == 0
    printed = capsys.readouterr().out
    assert "Going on with" in printed
    assert "0 of 60 documents read" in printed
    assert "target is now 0.7, was 0.8" in printed
    with open_review(file) as made:
        assert (made.settings.target, made.settings.criteria, made.settings.description) == (0.7, "any whale", "whale")


def test_interrupting_ends_cleanly_and_leaves_one_whole_file(papers: Path) -> None:
    with running(papers) as (process, lines):
        with httpx.Client(trust_env=False, follow_redirects=True) as browser:
            page = browser.get(address_in(lines))
            assert page.status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "The review is closed" in out
        assert err == ""
    assert sorted(path.name for path in papers.parent.iterdir()) == ["papers.csv", "papers.riffler"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_terminal_or_a_stopped_service_leaves_one_whole_file(papers: Path, how: signal.Signals) -> None:
    with running(papers) as (process, _):
        process.send_signal(how)
        process.communicate(timeout=60)
    assert sorted(path.name for path in papers.parent.iterdir()) == ["papers.csv", "papers.riffler"]


def test_no_secret_is_in_the_log(papers: Path) -> None:
    with running(papers) as (process, lines):
        address = address_in(lines)
        base, _, secret = address.partition("/?token=")
        with httpx.Client(trust_env=False, follow_redirects=True) as browser:
            browser.get(f"{base}/?token=a-wrong-secret")
            browser.get(address)
            browser.get(f"{base}/api/v1/review", headers={"authorization": "Bearer another-secret"})
            cookie = next(iter(browser.cookies.values()))
            browser.get(f"{base}/nowhere")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    for hidden in (secret, "a-wrong-secret", "another-secret", cookie):
        assert hidden not in out + err


def test_the_browser_gets_the_printed_address_from_a_private_file_and_not_from_its_command_line(
    papers: Path, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$1" > {seen}/given\npage=${{1#file://}}\nstat -c %a "$page" > {seen}/mode\n'
        f'cp "$page" {seen}/draft\nmv {seen}/draft {seen}/page\n'
    )
    browser.chmod(0o700)
    command = [*COMMAND, str(papers), "--port", "0"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": str(browser)},
    )
    try:
        end = time.monotonic() + 60
        while not (seen / "page").exists() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        printed = process.communicate(timeout=60)[0]
    finally:
        process.kill()
        process.wait()
    given = (seen / "given").read_text().strip()
    assert "token" not in given
    assert (seen / "mode").read_text().strip() == "600"
    assert f'url={address_in([printed])}"' in (seen / "page").read_text()
    assert not Path(given.removeprefix("file://")).exists()


def test_enter_prints_another_address_that_works_once(papers: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*COMMAND, str(papers), "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        first = read_until(ours, r"http://\S+\?token=\S+.*works once")
        os.write(ours, b"\n")
        second = read_until(ours, r"http://\S+\?token=\S+")
        addresses = [re.findall(r"http://\S+", text)[-1] for text in (first, second)]
        assert addresses[0] != addresses[1]
        for address in addresses:
            assert httpx.get(address, trust_env=False).status_code == 303
            assert httpx.get(address, trust_env=False).status_code == 401
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, pattern: str) -> str:
    text, end = "", time.monotonic() + 60
    while not re.search(pattern, text, flags=re.DOTALL):
        assert time.monotonic() < end, text
        if select.select([terminal], [], [], 1)[0]:
            text += os.read(terminal, 4096).decode()
    return text


def test_a_taken_port_gives_way_to_the_next(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with free_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert review(papers, "--once", "--port", port) == 0
    assert f"Port {port} is taken by another program" in capsys.readouterr().out


def test_two_servers_may_show_one_review(papers: Path) -> None:
    with running(papers) as (_, first), running(papers) as (_, second):
        for lines in (first, second):
            assert httpx.get(address_in(lines), trust_env=False).status_code == 303


def test_a_host_beside_this_machine_is_warned_about(papers: Path) -> None:
    with running(papers, "--host", "0.0.0.0") as (_, lines):
        assert "WARNING" in " ".join(lines)
        assert "not encrypted" in " ".join(" ".join(lines).split())
        assert httpx.get(address_in(lines), trust_env=False).status_code == 303


def test_an_archive_is_opened_beside_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "elsewhere").mkdir()
    with new_review(tmp_path / "elsewhere") as made:
        write_archive(made, tmp_path / "papers.zip")
    for wrong in (("--title", "title"), ("--seed", "3"), ("--target", "1.5")):
        assert review(tmp_path / "papers.zip", "--once", "--port", "0", *wrong) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "papers.zip"]
    assert review(tmp_path / "papers.zip", "--once", "--port", "0") == 0
    assert "is an archive of a review" in capsys.readouterr().out
    assert (tmp_path / "papers.riffler").is_file()


def test_a_review_of_something_else_is_not_opened(
    papers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_of(papers, papers.with_suffix(".riffler"))
    before = papers.with_suffix(".riffler").read_bytes()
    (tmp_path / "elsewhere").mkdir()
    with new_review(tmp_path / "elsewhere") as made:
        write_archive(made, papers.with_suffix(".zip"))
    other = papers.with_suffix(".tsv")
    other.write_text("id\ttitle\n1\tSnow\n", encoding="utf-8")
    for source, words in (
        (other, "is a review of papers.csv, not of papers.tsv"),
        (papers.with_suffix(".zip"), "may be"),
    ):
        assert review(source, "--once", "--port", "0") == 2
        said = capsys.readouterr().err
        assert words in said
        assert "--file" in said
    assert papers.with_suffix(".riffler").read_bytes() == before
    assert made_of(papers, papers.with_suffix(".riffler"))[1][0].startswith("Going on with")


def made_of(source: Path, file: Path, **asked: bool) -> tuple[dict[str, int], list[str]]:
    """Make a review without its page; return its counts and what was said."""
    wishes = Asked(Columns(), {}, **{"keep_duplicates": False, "ignore_labels": False, **asked})
    said: list[str] = []
    with open_review(review_file(str(source), file, wishes, said.append, lambda share, doing: None)) as made:
        return made.counts(), said


def test_labels_of_the_file_are_known_from_the_start(papers: Path, tmp_path: Path) -> None:
    pl.read_csv(papers).with_columns(included=pl.Series(["yes", "no", *[""] * 38])).write_csv(papers)
    counts, said = made_of(papers, tmp_path / "a.riffler")
    assert counts == {"relevant": 1, "irrelevant": 1, "maybe": 0, "skip": 0, "unread": 38}
    assert any("included: 1 relevant and 1 irrelevant ones are known" in line for line in said)
    assert made_of(papers, tmp_path / "b.riffler", ignore_labels=True)[0]["unread"] == 40
    with open_review(tmp_path / "b.riffler") as made:
        assert "included" in made.collection().columns


def test_duplicates_are_shown_together_unless_told_otherwise(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a", "b", "c"], "title": ["Deep snow melts", "deep snow melts.", "Trade"]})
    frame.write_csv(tmp_path / "t.csv")
    counts, said = made_of(tmp_path / "t.csv", tmp_path / "a.riffler")
    assert counts["unread"] == 2
    assert any("1 duplicates in 1 groups" in line for line in said)
    assert made_of(tmp_path / "t.csv", tmp_path / "b.riffler", keep_duplicates=True)[0]["unread"] == 3


def test_the_columns_that_were_taken_are_said(tmp_path: Path) -> None:
    frame = pl.DataFrame({"key": ["a", "b"], "Article Title": ["Snow", "Trade"], "Full Text": ["melts", "grows"]})
    frame.write_csv(tmp_path / "t.csv")
    said = made_of(tmp_path / "t.csv", tmp_path / "a.riffler")[1]
    assert [line.split("  (")[0].split() for line in said[1:4]] == [
        ["title", "Article", "Title"],
        ["text", "Full", "Text"],
        ["id", "key"],
    ]


def newer(path: Path) -> None:
    with new_review(path.parent) as made:
        made.path.rename(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()


def test_what_cannot_be_reviewed_is_said_in_one_line(
    tmp_path: Path, papers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.riffler").write_text("no review\n" * 500, encoding="utf-8")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    (tmp_path / "papers.pdf").write_bytes(b"%PDF")
    (tmp_path / "all.csv").write_text("id,title,included\n1,Snow,yes\n2,Trade,no\n", encoding="utf-8")
    newer(tmp_path / "newer.riffler")
    cases: list[tuple[list[object], str]] = [
        ([tmp_path / "nowhere.ris"], "neither a file"),
        ([tmp_path / "gone.riffler"], "no such file"),
        ([tmp_path / "text.riffler"], "no review"),
        ([tmp_path / "newer.riffler"], "newer Riffler"),
        ([tmp_path / "empty.csv"], "empty"),
        ([tmp_path / "papers.pdf"], "pdf"),
        ([papers, "--title", "Titel"], "Titel"),
        ([papers, "--target", "1.5"], "target"),
        ([papers, "--stop", "nonsense"], "nonsense"),
        ([papers, "--file", tmp_path], "folder"),
        ([papers, "--host", "256.256.256.256"], "cannot be used"),
        ([tmp_path / "all.csv"], "nothing to review"),
        (["demo"], "numbers"),
        ([papers, "--label", "x", "--ignore-labels"], "one of them"),
    ]
    for arguments, words in cases:
        assert review(*arguments, "--once") == 2, arguments
        said = capsys.readouterr().err
        assert said.startswith("riffler: error:")
        assert words.lower() in said.lower()
        assert said.count("\n") == 1
    made = [path for path in tmp_path.glob("*.riffler") if path.name not in ("text.riffler", "newer.riffler")]
    assert [path.name for path in made] == ["papers.riffler"]  # of the case whose host was wrong
    assert review(papers, "--once", "--title", "title") == 2
    assert "only be said of a new one" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_said(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    papers.parent.chmod(0o500)
    try:
        assert review(papers, "--once") == 2
        assert "no permission to write" in capsys.readouterr().err
    finally:
        papers.parent.chmod(0o700)


def test_a_killed_server_leaves_a_review_that_opens_and_files_that_are_swept(papers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    env = {**os.environ, "TMPDIR": str(folder)}
    with running(papers, env=env) as (process, _):
        assert len(list(folder.glob(f"{PREFIX}*"))) == 1
        process.kill()
        process.wait()
    assert len(list(folder.glob(f"{PREFIX}*"))) == 1
    with running(papers, env=env) as (process, _):
        assert len(list(folder.glob(f"{PREFIX}*"))) == 1
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert list(folder.glob(f"{PREFIX}*")) == []


def test_ports_that_are_all_taken_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.web.serving.N_PORTS", 1)
    with free_socket("127.0.0.1", 0) as taken, pytest.raises(ValueError, match="all taken"):
        free_socket("127.0.0.1", taken.getsockname()[1])
