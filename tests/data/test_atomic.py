"""A file is written whole or not at all."""

from __future__ import annotations

import os
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


def test_the_mode_of_a_new_file_is_made_without_a_change_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", None)  # other threads would make files under it meanwhile
            with atomic_write(tmp_path / "a.txt"):
                pass
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_what_replaces_a_private_file_is_never_readable_by_others(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("mine")
    target.chmod(0o400)
    with atomic_write(target) as draft:
        assert draft.stat().st_mode & 0o777 == 0o600
    assert target.stat().st_mode & 0o777 == 0o400


def test_a_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none.a\.txt"), atomic_write(tmp_path / "none" / "a.txt"):
        pass
