"""What a journal or a manifest names is on the disk before it is named, and nothing goes that the newest one names."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from riffler.data.folder import MANIFEST
from riffler.disk import IndexOptions, VectoriserSettings, index_collection, reindex_collection
from riffler.disk.journal import Journal
from riffler.disk.manifest import FINISHED, JOURNAL, read_manifest
from tests.disk.documents import contents, documents


class Disk:
    """Looks on: what would be there if the power went now is what was flushed, contents and names apart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents: dict[int, tuple[int, int]] = {}
        self._names: dict[int, set[tuple[str, int]]] = {}
        self._fsync, self._replace, self._unlink = os.fsync, os.replace, os.unlink
        self.seen: list[str] = []

    def fsync(self, handle: int) -> None:
        self._fsync(handle)
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(handle) as entries:
                self._names[status.st_ino] = {(entry.name, entry.inode()) for entry in entries}
            return
        self._contents[status.st_ino] = status.st_size, status.st_mtime_ns
        journal = self._folder / JOURNAL
        if journal.exists() and journal.stat().st_ino == status.st_ino:
            self._see("journal", [entry.name for entry in Journal(self._folder).files()])

    def replace(self, draft: Path, target: Path) -> None:
        target = Path(target)
        if target.is_relative_to(self._folder) and Path(draft).is_file():
            assert self._is_flushed(Path(draft)), draft
        self._replace(draft, target)
        if target == self._folder / MANIFEST:
            self._see("manifest", [entry.name for entry in read_manifest(self._folder).all_files()])

    def unlink(self, path: Path) -> None:
        path = Path(path)
        if path.exists() and path.is_relative_to(self._folder):
            known = {entry.name for entry in read_manifest(self._folder).all_files()}
            assert self._is_named(self._folder / MANIFEST)
            assert path.relative_to(self._folder).as_posix() not in known
            if path.name == JOURNAL:
                assert contents(self._folder).keys() == {*known, MANIFEST, FINISHED, JOURNAL}
                self._see("end", [MANIFEST, FINISHED])
        self._unlink(path)

    def _see(self, what: str, names: list[str]) -> None:
        self.seen.append(what)
        for name in names:
            path = self._folder / name
            assert self._is_flushed(path), f"{what} names {name}, whose contents are not on the disk"
            for place in (path, *path.parents):
                if place == self._folder:
                    break
                assert self._is_named(place), f"{what} names {name}, whose name is not on the disk"

    def _is_flushed(self, path: Path) -> bool:
        status = path.stat()
        return status.st_size == 0 or self._contents.get(status.st_ino) == (status.st_size, status.st_mtime_ns)

    def _is_named(self, path: Path) -> bool:
        return (path.name, path.stat().st_ino) in self._names.get(path.parent.stat().st_ino, set())


def test_everything_is_on_the_disk_before_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(25).write_csv(tmp_path / "a.csv")
    documents(12, prefix="e").write_csv(tmp_path / "b.csv")
    folder = tmp_path / "c"
    disk = Disk(folder)
    for name in ("fsync", "replace", "unlink"):
        monkeypatch.setattr(os, name, getattr(disk, name))
    options = IndexOptions(n_items=10, n_clusters=2, vectoriser=VectoriserSettings(n_bits=8))
    index_collection(tmp_path / "a.csv", folder, options, n_jobs=1)
    index_collection(tmp_path / "b.csv", folder, IndexOptions(n_items=10), n_jobs=1)
    reindex_collection(folder, n_clusters=3, n_jobs=1)
    assert disk.seen.count("manifest") == disk.seen.count("end") == 3
    assert disk.seen.count("journal") > 30
