"""Opening data files: plain or compressed by their ending, with a clear error when one is missing, empty or cut."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any, cast

from riffler.errors import DataFileError

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
FORMATS = {
    "svmlight": (".svm", ".svmlight", ".libsvm", ".txt", ".t", ".tr", ".val", ".dat"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "npz": (".npz",),
    "parquet": (".parquet", ".pq"),
}
"""Endings of each format; text formats may carry one of ``COMPRESSIONS`` behind."""

DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
"""What the decompressors raise on a cut or foreign file."""


def format_of(
    path: Path,
    formats: Mapping[str, tuple[str, ...]] = FORMATS,
    never_compressed: tuple[str, ...] = ("npz", "parquet"),
    others: str = "",
) -> str:
    """Name the format by the ending of a file name; ``others`` says in the error what else could have been passed.

    >>> format_of(Path("a9a/train.svm.xz")), format_of(Path("review.CSV"))
    ('svmlight', 'csv')
    """
    name = path.name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    compressed = len(name) < len(path.name)
    for kind, endings in formats.items():
        if name.endswith(endings) and not (compressed and kind in never_compressed):
            return kind
    known = ", ".join(ending for endings in formats.values() for ending in endings)
    raise DataFileError(
        f"{path}: the ending tells no known format. Known: {known}; "
        f"text formats also with {', '.join(COMPRESSIONS)} behind{others}."
    )


def check_file(path: Path) -> None:
    """Raise unless ``path`` is a file with something in it that may be read."""
    with readable(path):
        if not path.exists():
            raise DataFileError(f"{path}: no such file. Check the path, relative to the folder you run in.")
        if path.is_dir():
            raise DataFileError(f"{path}: a data file was expected, this is a folder.")
        if not path.is_file():
            raise DataFileError(
                f"{path}: a data file was expected, this is a pipe or a device. Write what it gives to a file first."
            )
        if path.stat().st_size == 0:
            raise DataFileError(f"{path}: the file is empty (0 bytes).")
        path.open("rb").close()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say of a file or folder that somebody has closed to us that its damage is not the reason."""
    try:
        yield
    except PermissionError as error:
        raise DataFileError(
            f"{error.filename or path} may not be read by you ({error.strerror}). Change its permissions, or copy it "
            "to where you may read it."
        ) from error


def shown_name(name: str) -> str:
    """The last part of a name, on any system, without what cannot be printed: for messages and tables, not a path.

    >>> shown_name("C:\\\\papers\\\\my.ris"), shown_name("../x.csv"), shown_name("")
    ('my.ris', 'x.csv', 'the file')
    """
    last = PureWindowsPath(PurePosixPath(name).name).name
    return "".join(letter for letter in last if letter.isprintable())[-200:] or "the file"


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open for reading, decompressing by ending; damage met while reading becomes a DataFileError."""
    damage = (*DAMAGE, zstd().ZstdError) if path.suffix.lower() == ".zst" else DAMAGE
    try:
        with readable(path), _opened(path) as stream:
            yield stream
    except damage as error:
        raise DataFileError(
            f"{path}: cannot be read to its end ({error}). The file is cut short or not what its ending says; "
            "copy or download it again."
        ) from error


def _opened(path: Path) -> IO[bytes]:
    ending = path.suffix.lower()
    if ending == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if ending == ".bz2":
        return bz2.open(path, "rb")
    if ending == ".zst":
        return cast(IO[bytes], zstd().open(path, "rb"))
    return lzma.open(path, "rb") if ending == ".xz" else path.open("rb")


def zstd() -> Any:  # noqa: ANN401 - a module
    """Import the module for Zstandard: of Python from 3.14 on, before of the package that brings it to older ones."""
    if sys.version_info >= (3, 14):
        from compression import zstd as found
    else:
        from backports import zstd as found
    return found
