"""``riffler export``: every format from the command line, safe names, and one line for what goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler import read_collection
from riffler.cli import run
from riffler.review.archive import open_archive
from riffler.review.export import FORMATS
from riffler.review.export_table import SELECTIONS
from riffler.review.store import open_review
from tests.review.reviews import new_review, say


@pytest.fixture
def review(tmp_path: Path) -> Path:
    with new_review(tmp_path, n=10) as opened:
        opened.answer([say("d0", "relevant"), say("d1", "irrelevant")])
    return tmp_path / "whales.riffler"


def export(*arguments: object) -> int:
    return run(["export", *map(str, arguments)])


def error_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert export(*arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_written(review: Path, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(review, "--format", format) == 0
    path = review.with_name(f"whales-all{FORMATS[format].ending}")
    assert capsys.readouterr().out == f"10 documents written to {path}\n"
    assert read_collection(path).n_items == 10
    chosen = review.with_name(f"x{FORMATS[format].ending}")
    assert export(review, "--out", chosen, "--which", "relevant") == 0
    assert capsys.readouterr().out == f"1 document written to {chosen}\n"
    assert read_collection(chosen).ids == ("d0",)


def test_archive_history_and_counts(review: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(review, "--out", tmp_path / "new folder" / "all.zip") == 0
    open_archive(tmp_path / "new folder" / "all.zip", tmp_path / "again.riffler")
    with open_review(tmp_path / "again.riffler") as opened:
        assert opened.counts()["relevant"] == 1
    capsys.readouterr()
    assert export(review, "--format", "history") == 0
    assert "2 lines written to" in capsys.readouterr().out
    assert len((tmp_path / "whales-history.csv").read_text().splitlines()) == 3
    capsys.readouterr()
    assert export(review, "--format", "prisma") == 0
    assert "Records screened" in capsys.readouterr().out
    assert "Records included,1" in (tmp_path / "whales-prisma.csv").read_text()


def test_nothing_is_overwritten_by_chance(review: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "whales-all.csv").write_text("mine")
    assert "a file already" in error_of(capsys, review)
    assert (tmp_path / "whales-all.csv").read_text() == "mine"
    assert "must end in .csv" in error_of(capsys, review, "--format", "csv", "--out", review)
    whole = review.read_bytes()
    renamed = review.rename(tmp_path / "whales.csv")
    assert "the review itself" in error_of(capsys, renamed, "--out", renamed)
    assert renamed.read_bytes() == whole


def test_mistakes_are_one_line(review: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Known: archive, csv" in error_of(capsys, review, "--format", "docx")
    assert "tells no known format" in error_of(capsys, review, "--out", tmp_path / "x.docx")
    assert "Known: all" in error_of(capsys, review, "--which", "best")
    assert "Leave it out" in error_of(capsys, review, "--format", "archive", "--which", "relevant")
    assert "no such file" in error_of(capsys, tmp_path / "no.riffler")
    (tmp_path / "text.riffler").write_text("hello")
    assert "no review" in error_of(capsys, tmp_path / "text.riffler")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["text.riffler", "whales.riffler"]


def test_the_help_names_every_format_and_selection(capsys: pytest.CaptureFixture[str]) -> None:
    assert export("--help") == 0
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name in (*FORMATS, "archive", "history", "prisma", *SELECTIONS):
        assert name in words
