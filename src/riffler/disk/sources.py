"""What is to be indexed: files, patterns and folders as a list of sources, each looked at once before the work."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from riffler.data.collection_reading import text_format_of
from riffler.data.folder import ENDINGS
from riffler.data.opening import check_file
from riffler.data.parquet_footer import read_footer
from riffler.disk.manifest import is_collection
from riffler.disk.text_survey import look_at_text, tags_of
from riffler.errors import DataFileError, InputError

LARGEST_SPREADSHEET = 200_000_000
MAGIC = "*?["
Tell = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder to read.

    Attributes
    ----------
    path : as it was named
    kind : delimited, tagged, jsonl, spreadsheet, parquet or folder
    n_bytes, modified : to know it again: size and time of the last change (number of files and 0 of a folder)
    length : where its end is: bytes of a decoded text, rows of Parquet, files of a folder; 0 where it is read at once
    encoding : of a text
    form : "old" for lines that end in a carriage return alone; the layout of tagged records
    """

    path: str
    kind: str
    n_bytes: int
    modified: int
    length: int = 0
    encoding: str = "utf-8"
    form: str = ""

    @property
    def file(self) -> Path:
        """The path to open."""
        return Path(self.path)

    @property
    def identity(self) -> tuple[str, int, int]:
        """What is the same as long as the file is."""
        return self.path, self.n_bytes, self.modified

    def to_json(self) -> dict[str, Any]:
        """The source as JSON."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Source:
        """The source of its JSON, which may say more."""
        return cls(
            str(value["path"]), str(value["kind"]), int(value["n_bytes"]), int(value["modified"]),
            int(value["length"]), str(value["encoding"]), str(value["form"]),
        )  # fmt: skip


def find_sources(named: Sequence[str | Path]) -> list[Source]:
    """Files and folders of what was named, patterns replaced by what they match; each is known, none is read yet."""
    paths = [path for name in named for path in _matching(str(name))]
    if not paths:
        raise InputError("There is nothing to index. Name at least one file or folder.")
    path, n_times = Counter(paths).most_common(1)[0]
    if n_times > 1:
        raise InputError(f"{path} is named {n_times} times. Name each file once.")
    return [_known(path) for path in paths]


def survey(sources: Sequence[Source], encoding: str | None, tell: Tell) -> list[Source]:
    """Look at each source from its beginning to its end: its encoding, how its lines end, how long it is."""
    total = sum(source.n_bytes for source in sources) or 1
    done = 0
    looked_at = []
    for source in sources:
        tell(done / total, f"looking at {source.file.name}")
        looked_at.append(_looked_at(source, encoding))
        done += source.n_bytes
    return looked_at


def text_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Text files of a folder and below with their paths within it, in the order of these, a folder at a time."""
    yield from _walk(folder, "")


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    # a folder sorts as its files do, by the path with its stroke
    entries = {entry.name + "/" * entry.is_dir(): entry for entry in folder.iterdir() if not entry.name.startswith(".")}
    for name in sorted(entries):
        entry = entries[name]
        if name.endswith("/"):
            yield from _walk(entry, prefix + name)
        elif entry.suffix.lower() in ENDINGS and entry.is_file():
            yield prefix + name, entry


def _matching(name: str) -> list[str]:
    if not any(mark in name for mark in MAGIC) or Path(name).exists():
        return [name]
    found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not found:
        raise DataFileError(f"{name}: no file matches this pattern. Check it, relative to the folder you run in.")
    return found


def _known(path: str) -> Source:
    file = Path(path)
    if file.is_dir():
        if is_collection(file):
            raise InputError(f"{path} is a collection already. Name the files it was made of.")
        n_files = sum(1 for _ in text_files(file))
        if n_files == 0:
            raise DataFileError(f"{path}: no text files in this folder; files ending in {', '.join(ENDINGS)} are read.")
        return Source(path, "folder", n_files, 0, n_files)
    check_file(file)
    kind = text_format_of(file)
    status = file.stat()
    if kind == "spreadsheet" and status.st_size > LARGEST_SPREADSHEET:
        raise DataFileError(
            f"{path}: a spreadsheet of {status.st_size:,} bytes is too large to be read at once. Save it as CSV."
        )
    return Source(path, kind, status.st_size, status.st_mtime_ns)


def _looked_at(source: Source, encoding: str | None) -> Source:
    if source.kind == "parquet":
        return replace(source, length=read_footer(source.file).n_rows)
    if source.kind in ("folder", "spreadsheet"):
        return replace(source, encoding=encoding or "")
    found = look_at_text(source.file, encoding)
    plain = replace(source, length=found.n_bytes, encoding=found.encoding, form="old" if found.is_old else "")
    if source.kind not in ("tagged", "text"):
        return plain
    layout = tags_of(plain.file, plain.encoding)
    if source.kind == "tagged" or layout is not None:  # databases also give their records the ending .txt
        return replace(plain, kind="tagged", form=layout or "LOOSE_RIS")
    return replace(plain, kind="delimited")
