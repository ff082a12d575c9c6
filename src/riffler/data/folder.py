"""A folder of text files: a file is an item, its path within the folder is its id, its first line the title."""

from __future__ import annotations

import json
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
    rows = [
        (file.relative_to(folder).as_posix(), *split_title(read_text(file, encoding)))
        for file in sorted(text_files(folder), key=lambda file: file.relative_to(folder).as_posix())
    ]
    if not rows and (folder / PARTITIONS).is_dir():
        raise DataFileError(
            f"{folder}: no text files in this folder. It looks like a collection on disk that was never finished: give "
            "its `riffler index` command again, or remove the folder."
        )
    if not rows:
        raise DataFileError(f"{folder}: no text files in this folder; files ending in {', '.join(ENDINGS)} are read.")
    return pl.DataFrame(rows, schema={"id": pl.String, "title": pl.String, "text": pl.String}, orient="row")


def text_files(folder: Path) -> list[Path]:
    """The text files in a folder and below; names that begin with a dot are hidden, files and folders alike."""
    return [
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in ENDINGS
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]


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
