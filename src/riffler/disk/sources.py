"""What is to be indexed: files, patterns and folders as a list of sources, each looked at once before the work."""

from __future__ import annotations

import glob
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from riffler.data.collection_reading import text_format_of
from riffler.data.folder import ENDINGS, text_files
from riffler.data.opening import check_file, readable
from riffler.data.parquet_footer import Footer, read_footer
from riffler.disk.manifest import is_collection
from riffler.disk.parts import WantedColumns, part_names
from riffler.disk.tagged_lines import LAYOUTS, LONGEST_RECORD, TaggedLines, tag_kinds
from riffler.disk.text_survey import json_kinds, look_at_text, tags_of, utf8_blocks
from riffler.errors import DataFileError, InputError

LARGEST_SPREADSHEET = 200_000_000
LARGE_GROUP = 1_000_000_000
"""Packed bytes of a group of rows of Parquet, which are in memory while it is read."""

MAGIC = "*?["
Tell = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder to read.

    Attributes
    ----------
    path : as it was named: to open it by, since its ending tells the format, and for messages
    resolved : where it really is, whatever it was called
    kind : delimited, tagged, jsonl, spreadsheet, parquet or folder
    n_bytes, modified : to know it again: size and time of the last change; of a folder the size of all its files, and a
        number made of their names, sizes and times
    length : where its end is: bytes of a decoded text, rows of Parquet, files of a folder; 0 where it is read at once
    encoding : of a text
    form : "old" for lines that end in a carriage return alone; the layout of tagged records
    kinds : columns that may play a part, wherever in the file they come, with the kinds of their values: of JSON
        lines; of tagged records all, a list of texts where any record repeats its tag
    """

    path: str
    resolved: str
    kind: str
    n_bytes: int
    modified: int
    length: int = 0
    encoding: str = "utf-8"
    form: str = ""
    kinds: tuple[tuple[str, int], ...] = ()

    @property
    def file(self) -> Path:
        """The path to open."""
        return Path(self.path)

    @property
    def identity(self) -> tuple[str, int, int]:
        """What is the same as long as the file is."""
        return self.resolved, self.n_bytes, self.modified

    def to_json(self) -> dict[str, Any]:
        """The source as JSON."""
        return {**asdict(self), "kinds": dict(self.kinds)}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Source:
        """The source of its JSON, which may say more."""
        return cls(
            str(value["path"]), resolved_of_json(value), str(value["kind"]), int(value["n_bytes"]),
            int(value["modified"]), int(value["length"]), str(value["encoding"]), str(value["form"]),
            tuple((str(name), int(kind)) for name, kind in value.get("kinds", {}).items()),
        )  # fmt: skip


def resolved_of_json(value: Mapping[str, Any]) -> str:
    """Where a source of its JSON is; the first collections have only what was typed."""
    return str(value.get("resolved", value["path"]))


def find_sources(named: Sequence[str | Path], out: Path | None = None) -> list[Source]:
    """Files and folders of what was named, patterns replaced by what they match; each is known, none is read yet.

    A pattern does not match ``out``, the folder of the collection that is made, nor what is in it.
    """
    paths = [path for name in named for path in _matching(str(name), out)]
    if not paths:
        raise InputError("There is nothing to index. Name at least one file or folder.")
    for path in paths:
        _refuse_unreadable_name(path)
    sources = []
    for path in paths:
        with readable(Path(path)):
            sources.append(_known(path))
    _refuse_same(sources)
    return sources


def survey(
    sources: Sequence[Source], encoding: str | None, tell: Tell, columns: WantedColumns | None = None
) -> list[Source]:
    """Look at each source from its beginning to its end: its encoding, how its lines end, how long it is.

    ``columns`` are those that the caller named: in JSON lines they may come late.
    """
    total = sum(source.n_bytes for source in sources) or 1
    done = 0
    looked_at = []
    for source in sources:
        tell(done / total, f"looking at {source.file.name}")
        with as_looked_at(source):
            looked_at.append(_looked_at(source, encoding, columns or WantedColumns()))
        done += source.n_bytes
    return looked_at


def refuse_changed(source: Source) -> None:
    """Raise where a source is not what it was when it was looked at."""
    try:
        how = "changed" if _known(source.path).identity != source.identity else None
    except (OSError, InputError):
        how = "changed" if source.file.exists() else "removed"
    if how is not None:
        raise DataFileError(
            f"{source.path} was {how} while it was indexed. Begin again when nobody writes to it any more."
        )


@contextmanager
def as_looked_at(source: Source) -> Iterator[None]:
    """Say of a source that cannot be read when that is so because it was changed meanwhile."""
    try:
        yield
    except Exception:
        refuse_changed(source)
        raise


def _matching(name: str, out: Path | None) -> list[str]:
    if not any(mark in name for mark in MAGIC) or Path(name).exists():
        return [name]
    found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if out is not None:
        found = [one for one in found if not Path(one).resolve().is_relative_to(out.resolve())]
    if not found:
        raise DataFileError(f"{name}: no file matches this pattern. Check it, relative to the folder you run in.")
    return found


def _known(path: str) -> Source:
    file = Path(path)
    if file.is_dir():
        if is_collection(file):
            raise InputError(f"{path} is a collection already. Name the files it was made of.")
        return _known_folder(path)
    check_file(file)
    kind = text_format_of(file)
    status = file.stat()
    if kind == "spreadsheet" and status.st_size > LARGEST_SPREADSHEET:
        raise DataFileError(
            f"{path}: a spreadsheet of {status.st_size:,} bytes is too large to be read at once. Save it as CSV."
        )
    return Source(path, _resolved(path), kind, status.st_size, status.st_mtime_ns)


def _known_folder(path: str) -> Source:
    digest = blake2b(digest_size=7)
    n_files = n_bytes = 0
    for name, file in text_files(Path(path)):
        _refuse_unreadable_name(str(file))  # it would be the id of the document
        status = file.stat()
        digest.update(f"{name}\0{status.st_size} {status.st_mtime_ns}\n".encode())
        n_files += 1
        n_bytes += status.st_size
    if n_files == 0:
        raise DataFileError(f"{path}: no text files in this folder; files ending in {', '.join(ENDINGS)} are read.")
    return Source(path, _resolved(path), "folder", n_bytes, int.from_bytes(digest.digest()), n_files)


def _refuse_same(sources: Sequence[Source]) -> None:
    named: dict[str, str] = {}
    for source in sources:
        before = named.get(source.resolved)
        if before is not None:
            told = f"{source.path} is named twice" if before == source.path else f"{before} and {source.path} are one"
            raise InputError(f"{told}. Name each file once, or its documents come twice.")
        named[source.resolved] = source.path


def _resolved(path: str) -> str:
    return str(Path(path).resolve())


def _refuse_unreadable_name(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        shown = path.encode(errors="backslashreplace").decode()
        raise InputError(f"{shown}: the name of this file is not UTF-8. Give it another name.") from None


def _looked_at(source: Source, encoding: str | None, columns: WantedColumns) -> Source:
    if source.kind == "parquet":
        footer = read_footer(source.file)
        _warn_of_large_groups(source, footer)
        return replace(source, length=footer.n_rows)
    if source.kind in ("folder", "spreadsheet"):
        return replace(source, encoding=encoding or "")
    found = look_at_text(source.file, encoding)
    plain = replace(source, length=found.n_bytes, encoding=found.encoding, form="old" if found.is_old else "")
    if source.kind == "jsonl":
        kinds = json_kinds(plain.file, plain.encoding, found.is_old, part_names(columns))
        return replace(plain, kinds=tuple(kinds.items()))
    if source.kind not in ("tagged", "text"):
        return plain
    layout = tags_of(plain.file, plain.encoding)
    if source.kind == "tagged" or layout is not None:  # databases also give their records the ending .txt
        form = layout or "LOOSE_RIS"
        lines = TaggedLines(utf8_blocks(plain.file, plain.encoding), source.path, LONGEST_RECORD)
        return replace(plain, kind="tagged", form=form, kinds=tuple(tag_kinds(lines.records(LAYOUTS[form])).items()))
    return replace(plain, kind="delimited")


def _warn_of_large_groups(source: Source, footer: Footer) -> None:
    largest = max((group.n_packed for group in footer.groups), default=0)
    if largest > LARGE_GROUP:
        warnings.warn(
            f"{source.path}: a group of rows has {largest / 1e9:,.1f} GB, in memory while it is read. If that "
            "is too much write the file again with smaller groups (row_group_size=100_000).",
            stacklevel=2,
        )
