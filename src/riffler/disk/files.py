"""Files of a collection: written whole with their SHA-256, opened as mapped arrays, found wrong in words."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.data.atomic import atomic_write
from riffler.disk.open_files import allow_more, few_enough
from riffler.errors import DataFileError, DiskFull

PIECE = 1 << 24
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
HEAD = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<|][a-z][0-9]+)', 'fortran_order': False, 'shape': \(([0-9]+),\), \} *\n",
    re.DOTALL,
)
LONGEST_HEAD = 256
AGAIN = "Copy the collection again, or index its sources again."
_COMPARED: set[tuple[object, ...]] = set()
"""Files whose checksums were compared in this process, as they were then: one that is written to is another."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file as the manifest knows it: its path within the collection, its size and its SHA-256."""

    name: str
    n_bytes: int
    sha256: str

    def to_json(self) -> list[Any]:
        """The entry as JSON."""
        return [self.name, self.n_bytes, self.sha256]

    @classmethod
    def of_json(cls, value: list[Any]) -> FileEntry:
        """The entry of its JSON."""
        name, n_bytes, sha256 = value
        return cls(str(name), int(n_bytes), str(sha256))


@contextmanager
def room_wanted(folder: Path) -> Iterator[None]:
    """Turn a full disk into a DiskFull that says what stays and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DiskFull(
            f"{folder}: there is no room left on the disk ({error.strerror}). What was finished stays; make room and "
            "start the same command again, and it goes on from there."
        ) from error


def write_array(folder: Path, name: str, array: NDArray[Any]) -> FileEntry:
    """Write an array as ``.npy``, whole or not at all, in a way that it can be mapped."""
    array = np.ascontiguousarray(array)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    body = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    return write_bytes(folder, name, head.getbuffer(), body)


def write_bytes(folder: Path, name: str, *parts: memoryview | bytes) -> FileEntry:
    """Write bytes one part after the other, whole or not at all, and sum them on the way."""
    digest = hashlib.sha256()
    n_bytes = 0
    path = folder / name
    with room_wanted(folder), atomic_write(path) as draft, draft.open("wb", buffering=0) as stream:
        for part in parts:
            view = memoryview(part).cast("B")
            for start in range(0, len(view), PIECE):
                piece = view[start : start + PIECE]
                digest.update(piece)
                _write_all(stream, piece)
                n_bytes += len(piece)
    return FileEntry(name, n_bytes, digest.hexdigest())


def _write_all(stream: io.FileIO, piece: memoryview) -> None:
    while len(piece):
        piece = piece[stream.write(piece) :]


def open_array(folder: Path, entry: FileEntry, what: str) -> NDArray[Any]:
    """Map an array of one dimension; a missing, cut, damaged or foreign file is an error that names ``what``.

    Its checksum is compared before, once in a process: compiled loops go where the numbers in a file say. Its header
    is read here: NumPy's own reader compiles it, which CPython 3.11 cannot do in several threads at a time.
    """
    check_once(folder, entry, what)
    path = folder / entry.name
    with _there(folder, entry, what), path.open("rb") as stream:
        allow_more(stream.fileno())
        head = stream.read(LONGEST_HEAD)
    found = HEAD.match(head)
    if found is None or found.end() + np.dtype(found[1].decode()).itemsize * int(found[2]) != entry.n_bytes:
        raise DataFileError(f"{folder}, {what}: {entry.name} is no whole array. {AGAIN}")
    kind, n = np.dtype(found[1].decode()), int(found[2])
    if n == 0:  # nothing cannot be mapped
        return np.empty(0, dtype=kind)
    with _there(folder, entry, what):
        return np.memmap(path, dtype=kind, mode="r", offset=found.end(), shape=(n,))


def check_size(folder: Path, entry: FileEntry, what: str) -> None:
    """Raise unless the file is there and as long as it was."""
    with _there(folder, entry, what):
        n_bytes = (folder / entry.name).stat().st_size
    if n_bytes != entry.n_bytes:
        how = "cut short" if n_bytes < entry.n_bytes else "longer than it was"
        raise DataFileError(
            f"{folder}, {what}: {entry.name} is {how}: {n_bytes:,} bytes, {entry.n_bytes:,} were written. {AGAIN}"
        )


def check_once(folder: Path, entry: FileEntry, what: str) -> None:
    """Raise unless the file holds what was written, or did when this process looked and nobody wrote to it since."""
    with _there(folder, entry, what):
        status = (folder / entry.name).stat()
    # the time of the last change of the entry cannot be set back, that of the contents can
    times = status.st_mtime_ns, status.st_ctime_ns
    known = (status.st_dev, status.st_ino, status.st_size, *times, entry.sha256)
    if known not in _COMPARED:
        check_sum(folder, entry, what)
        _COMPARED.add(known)


def file_state(folder: Path, entry: FileEntry) -> tuple[int, ...] | None:
    """Which file it is (first), how long, and when it was changed; None where there is none."""
    try:
        status = (folder / entry.name).stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def check_sum(folder: Path, entry: FileEntry, what: str) -> None:
    """Raise unless the file holds what was written."""
    check_size(folder, entry, what)
    digest = hashlib.sha256()
    with _there(folder, entry, what), (folder / entry.name).open("rb", buffering=0) as stream:
        buffer = bytearray(PIECE)
        while n := stream.readinto(buffer):
            digest.update(memoryview(buffer)[:n])
    if digest.hexdigest() != entry.sha256:
        raise DataFileError(
            f"{folder}, {what}: {entry.name} has another checksum than when it was written: the file is damaged or was "
            f"changed. {AGAIN}"
        )


@contextmanager
def _there(folder: Path, entry: FileEntry, what: str) -> Iterator[None]:
    """Tell of a file that is missing, or goes at this moment, or is one too many."""
    try:
        with few_enough(folder):
            yield
    except FileNotFoundError as error:
        raise DataFileError(f"{folder}, {what}: the file {entry.name} is missing. {AGAIN}") from error


def flush_folder(folder: Path) -> None:
    """See that names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
