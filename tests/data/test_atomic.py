"""A file is written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.data.atomic import atomic_write


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "scores.csv"
    target.write_text("old")

    def fail() -> None:
        with atomic_write(target) as draft:
            draft.write_text("half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


def test_the_target_appears_only_at_the_end_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "chart.html"
    with atomic_write(target) as draft:
        draft.write_text("new")
        assert draft.parent == tmp_path
        assert draft.suffix == ".html"
        assert not target.exists()
    plain = tmp_path / "plain"
    plain.write_text("")
    assert target.read_text() == "new"
    assert target.stat().st_mode == plain.stat().st_mode
    target.chmod(0o640)
    with atomic_write(target) as draft:
        draft.write_text("newer")
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none.a\.txt"), atomic_write(tmp_path / "none" / "a.txt"):
        pass
