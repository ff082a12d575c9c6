"""``riffler backup``: a copy of one moment, while others write, that is whole by itself."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from riffler.cli import run
from riffler.review.store import open_review
from tests.review.reviews import new_review, say


def backup(*arguments: object) -> int:
    return run(["backup", *map(str, arguments)])


def test_a_review_that_is_open_is_copied_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with new_review(tmp_path, n=10) as review:
        review.answer([say("d0", "relevant")])
        assert backup(tmp_path / "whales.riffler") == 0
        assert backup(tmp_path / "whales.riffler") == 0
        review.answer([say("d1", "relevant")])
    stem = f"whales-{date.today().isoformat()}"
    assert str(tmp_path / f"{stem}-2.riffler") in capsys.readouterr().out
    for name in (f"{stem}.riffler", f"{stem}-2.riffler"):
        with open_review(tmp_path / name) as copy:
            assert copy.counts()["relevant"] == 1
    assert len(list(tmp_path.iterdir())) == 3


def test_a_backup_goes_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_review(tmp_path, n=10).close()
    target = tmp_path / "safe" / "copy.riffler"
    assert backup(tmp_path / "whales.riffler", "--to", target) == 0
    assert backup(tmp_path / "whales.riffler", "--to", target) == 2
    open_review(target).close()
    assert backup(tmp_path / "whales.riffler", "--to", tmp_path / "whales.riffler") == 2
    assert backup(tmp_path / "no.riffler") == 2
    assert backup(tmp_path / "whales.riffler", "--to", tmp_path) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert "there is a file already. Choose another name" in lines[0]
    assert "the review itself" in lines[1]
    assert "no such file" in lines[2]
    assert "is a folder" in lines[3]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["safe", "whales.riffler"]
