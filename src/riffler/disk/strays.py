"""Names of the files of a collection: what is left of runs before is removed by them, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from riffler.data.folder import MANIFEST, PARTITIONS
from riffler.disk.files import FileEntry
from riffler.disk.lock import LOCK, is_lock
from riffler.disk.manifest import FINISHED, JOURNAL, JOURNAL_HEAD, has_journal, read_manifest, start_of_journal
from riffler.errors import InputError

DRAFT = "draft"
OF_A_DRAFT = r"-[a-z0-9_]{8}"
"""What ``atomic_write`` puts behind the name of a file that is not whole yet."""

PARTITION = re.compile(rf"[0-9]{{5,}}(\.{DRAFT})?")
IN_A_PARTITION = re.compile(
    r"\.?(records|ids|id_ends|labels|counts|indices|indptr|data|memberships_(data|indices|indptr))"
    rf"(\.[0-9]+)?({OF_A_DRAFT}(\.[0-9]+)?)?\.(npy|parquet)"
)
OF_THE_WHOLE = re.compile(
    rf"\.?(idf|id_hashes|id_rows|clusters)\.[0-9]+({OF_A_DRAFT}\.[0-9]+)?\.np[yz]|\.manifest{OF_A_DRAFT}\.json"
)


def check_folder(folder: Path) -> None:
    """Refuse a folder for a collection that holds something else; nothing is made or changed in it."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file. Name a folder for the collection.")
    if folder.is_symlink() and not folder.exists():
        raise InputError(
            f"{folder} is a link to {folder.readlink()}, which is not there. Make that folder, or remove the link, or "
            "name another folder."
        )
    if not folder.exists():
        return
    if (folder / MANIFEST).exists():
        read_manifest(folder)
    elif not has_journal(folder) and (other := next(_foreign(folder), None)) is not None:
        name = other.relative_to(folder).as_posix()
        raise InputError(
            f"{folder} is no collection and not empty ({name} is in it). Name a new folder, or an empty one."
        )


def remove_strays(folder: Path, files: Iterable[FileEntry]) -> None:
    """Remove what neither a manifest nor a journal names: drafts, and files of generations before."""
    known = {folder / entry.name for entry in files}
    for place in _partitions(folder):
        _remove_own(place, known)
    for path in list(folder.iterdir()):
        if OF_THE_WHOLE.fullmatch(path.name) and path not in known and path.is_file():
            path.unlink()


def clear_place(place: Path) -> None:
    """Remove a partition that nothing names; what else somebody has put there is an error."""
    if place.exists():
        _remove_own(place, set())
    if place.exists():
        other = next(place.iterdir())
        raise InputError(f"{other} is in the way of a new partition and is not of this collection. Move it away.")


def _partitions(folder: Path) -> list[Path]:
    places = (folder / PARTITIONS).iterdir()
    return [place for place in places if PARTITION.fullmatch(place.name) and place.is_dir() and not place.is_symlink()]


def _remove_own(place: Path, known: set[Path]) -> None:
    """Remove files of a partition but those that are known, and its folder if that is empty then."""
    for path in list(place.iterdir()):
        if path not in known and IN_A_PARTITION.fullmatch(path.name) and path.is_file():
            path.unlink()
    if not any(place.iterdir()):
        place.rmdir()


def _foreign(folder: Path) -> Iterator[Path]:
    """What cannot be left of a collection that was begun here and given up."""
    was_ours, start = is_lock(folder / LOCK), start_of_journal(folder)
    for path in sorted(folder.iterdir()):
        if path.name == PARTITIONS and path.is_dir():
            yield from _foreign_in_partitions(path) if was_ours else path.iterdir()
        elif path.name == JOURNAL and start is not None and JOURNAL_HEAD.startswith(start):
            continue  # its first line was being written
        elif not (was_ours and _is_own(path)):
            yield path


def _is_own(path: Path) -> bool:
    if path.name == FINISHED:  # of a manifest that was lost, which is told later
        return path.is_file() and path.stat().st_size == 0
    return path.name == LOCK or (OF_THE_WHOLE.fullmatch(path.name) is not None and path.is_file())


def _foreign_in_partitions(folder: Path) -> Iterator[Path]:
    for place in sorted(folder.iterdir()):
        if not (PARTITION.fullmatch(place.name) and place.is_dir()):
            yield place
        else:
            yield from (path for path in sorted(place.iterdir()) if not IN_A_PARTITION.fullmatch(path.name))
