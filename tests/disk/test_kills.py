"""Whatever moment a command is killed at, the same command again leaves the files of one that nothing ended."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from riffler.disk import IndexOptions, VectoriserSettings, index_collection, reindex_collection
from tests.disk.documents import contents, documents

OPTIONS = IndexOptions(n_items=8, n_clusters=2, vectoriser=VectoriserSettings(n_bits=8))
MOMENTS = ("fsync", "replace", "unlink", "rmdir", "mkdir")
"""What the disk can be seen to do; a run is killed before one of these."""

Run = Callable[[Path, Path], object]


def index(sources: Path, folder: Path) -> object:
    return index_collection(sources / "a.csv", folder, OPTIONS, n_jobs=1)


def add(sources: Path, folder: Path) -> object:
    return index_collection([sources / "a.csv", sources / "b.csv"], folder, IndexOptions(n_items=8), n_jobs=1)


def reindex(_: Path, folder: Path) -> object:
    return reindex_collection(folder, n_clusters=3, n_jobs=1)


class Killed(BaseException):
    """What ends a run in these tests."""


@contextmanager
def killed_at(n: int | None) -> Iterator[list[str]]:
    """Let nothing change on the disk from the nth moment on; gives the moments before it."""
    seen: list[str] = []

    def counted(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def run(*arguments: Any, **options: Any) -> object:  # noqa: ANN401 - whatever the real one takes
            if n is not None and len(seen) + 1 >= n:
                raise Killed
            seen.append(name)
            return real(*arguments, **options)

        return run

    with pytest.MonkeyPatch.context() as patch:
        for name in MOMENTS:
            patch.setattr(os, name, counted(name))
        yield seen


def prepared(before: tuple[Run, ...], sources: Path) -> Path:
    documents(12).write_csv(sources / "a.csv")
    documents(7, prefix="e").write_csv(sources / "b.csv")
    for run in before:
        run(sources, sources / "before")
    return sources / "before"


@pytest.mark.parametrize(("run", "before"), [(index, ()), (add, (index,)), (reindex, (index, add))])
def test_a_kill_at_any_moment_leaves_what_the_same_command_completes(
    run: Run, before: tuple[Run, ...], tmp_path: Path
) -> None:
    start, whole, folder = prepared(before, tmp_path), tmp_path / "whole", tmp_path / "killed"
    if before:
        shutil.copytree(start, whole)
    run(tmp_path, whole)
    seen: set[str] = set()
    for moment in count(1):
        shutil.rmtree(folder, ignore_errors=True)
        if before:
            shutil.copytree(start, folder)
        with killed_at(moment) as moments, suppress(Killed):
            run(tmp_path, folder)
            break  # it was done before this moment
        seen.update(moments)
        run(tmp_path, folder)
        assert contents(folder) == contents(whole), f"killed at moment {moment}"
    assert {"fsync", "replace", "unlink"} <= seen


@pytest.mark.parametrize("give_up", ["add", "reindex"])
def test_what_a_command_left_that_was_given_up_is_removed_where_nothing_is_new(give_up: str, tmp_path: Path) -> None:
    folder = prepared((index,), tmp_path)
    before = contents(folder)
    run = {"add": add, "reindex": reindex}[give_up]
    whole = tmp_path / "whole"
    shutil.copytree(folder, whole)
    with killed_at(None) as moments:
        run(tmp_path, whole)
    last = max(at for at, name in enumerate(moments, start=1) if name == "replace")  # of the manifest
    with killed_at(last), pytest.raises(Killed):
        run(tmp_path, folder)
    (folder / "journal.jsonl").unlink()
    assert contents(folder).keys() > before.keys()
    index(tmp_path, folder)
    assert contents(folder) == before
