"""A folder of text files: a file is an item, its path within the folder is its id, its first line the title."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.data.encodings import read_text
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".txt", ".text", ".md")
MANIFEST, PARTITIONS, KIND = "manifest.json", "partitions", "riffler collection"
"""How a collection on disk is known; it is read in ``riffler.disk``."""


def read_folder(folder: Path, encoding: str | None = None) -> pl.DataFrame:
    """Columns id, title, text of all text files in a folder and the folders below, in the order of their paths."""
    import polars as pl

    if has_collection(folder):
        raise DataFileError(
            f"{folder}: a collection on disk, made by `riffler index`. Open it with riffler.open_collection, or name "
            "the files that it was made of."
        )
    rows = [(name, *split_title(read_text(file, encoding))) for name, file in text_files(folder)]
    if not rows and (folder / PARTITIONS).is_dir():
        raise DataFileError(
            f"{folder}: no text files in this folder. It looks like a collection on disk that was never finished: give "
            "its `riffler index` command again, or remove the folder."
        )
    if not rows:
        raise DataFileError(f"{folder}: no text files in this folder; files ending in {', '.join(ENDINGS)} are read.")
    return pl.DataFrame(rows, schema={"id": pl.String, "title": pl.String, "text": pl.String}, orient="row")


def text_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Text files of a folder and below with their paths within it, in the order of these, a folder at a time.

    Names that begin with a dot are hidden, files and folders alike.
    """
    yield from _walk(folder, "")


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    # a folder sorts as its files do, by the path with its stroke; one that is a link may lead round in a circle
    seen = (entry for entry in folder.iterdir() if not entry.name.startswith("."))
    entries = {entry.name + "/" * (entry.is_dir() and not entry.is_symlink()): entry for entry in seen}
    for name in sorted(entries):
        entry = entries[name]
        if name.endswith("/"):
            yield from _walk(entry, prefix + name)
        elif entry.suffix.lower() in ENDINGS and entry.is_file():
            yield prefix + name, entry


def or_its_folder(source: Path | str) -> str:
    """What an error adds where a file may be one document, and was taken for many.

    >>> or_its_folder("mails/1.txt")
    ' A file ending in .txt is read as a table or as tagged records; where it is one document, name its folder.'
    >>> or_its_folder("mails.csv")
    ''
    """
    path = Path(source)
    if path.suffix.lower() != ".txt":
        return ""
    what = f"A file ending in {path.suffix} is read as a table or as tagged records"
    return f" {what}; where it is one document, name its folder."


@contextmanager
def told_of_its_folder(source: Path | str) -> Iterator[None]:
    """Add that to the error where a table cannot be read."""
    try:
        yield
    except DataFileError as error:
        if not (more := or_its_folder(source)):
            raise
        raise DataFileError(f"{error}{more}") from error


def has_collection(folder: Path) -> bool:
    """Whether a folder is a collection on disk by its manifest, or by its partitions where that is damaged or gone."""
    kind = _manifest_kind(folder)
    return kind == KIND or (kind is None and any(folder.glob(f"{PARTITIONS}/[0-9]*/records.parquet")))


def _manifest_kind(folder: Path) -> object:
    """What the manifest of a folder says that the folder is, None where there is no manifest that says it."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("kind")
    except (OSError, ValueError, AttributeError):
        return None


def split_title(text: str) -> tuple[str, str]:
    r"""The first line that is not blank, and all after it.

    >>> split_title("\nOn gulls\n\nThey fly.\n")
    ('On gulls', 'They fly.')
    """
    title, _, rest = text.strip().partition("\n")
    return title.strip(), rest.strip()
