"""The table of public data sets (``public.toml``) as records, and where their files are looked for."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from riffler.data.opening import COMPRESSIONS, format_of
from riffler.data.table import LabelValue
from riffler.errors import DataSetMissing, UnknownName

FOLDER_VARIABLE = "RIFFLER_DATA"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a data set (or one pair of arrays of it) and its counts; None where not known.

    Counts that were ``counted`` in the file are demanded of a user's copy; others are known from publications only.
    """

    name: str
    file: str
    original: str | None = None
    rows: int | None = None
    features: int | None = None
    positives: int | None = None
    classes: int | None = None
    queries: int | None = None
    sha256: str | None = None
    optional: bool = False
    format: str | None = None
    label: str | None = None
    features_array: str = "X"
    groups: str | None = None
    topics: str | None = None

    @property
    def counted(self) -> bool:
        """Whether the counts were taken from the file itself, whose checksum is then known too."""
        return self.sha256 is not None

    @property
    def kind(self) -> str:
        """The format, by the ending of ``file`` unless said otherwise."""
        return self.format or format_of(Path(self.file))

    def find(self, folder: Path) -> Path | None:
        """Where the file is: under its own name or the one it has at the source, plain or compressed."""
        plain = self.file
        for compression in COMPRESSIONS:
            plain = plain.removesuffix(compression)
        stems = [plain] if self.original is None else [plain, self.original]
        names = [self.file, *(stem + ending for stem in stems for ending in ("", *COMPRESSIONS))]
        return next((folder / name for name in names if (folder / name).is_file()), None)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public data set: what it is, where it comes from, its parts, and the splits they make up."""

    name: str
    title: str
    task: str
    source: str
    get: str
    folder: str
    parts: Mapping[str, Part]
    splits: Mapping[str, tuple[str, ...]]
    positive: tuple[LabelValue, ...] | None = None
    label: str | None = None

    @property
    def rows(self) -> int | None:
        """Rows of the whole set, counting only parts that are not optional."""
        return self._sum("rows")

    @property
    def positives(self) -> int | None:
        """Positive rows of the whole set, counted as ``rows``."""
        return self._sum("positives")

    @property
    def features(self) -> int | None:
        """Columns of X."""
        return next(iter(self.parts.values())).features

    @property
    def counted(self) -> bool:
        """Whether all counts of the whole set were taken from its files."""
        return all(self.parts[name].counted for name in self.splits["all"] if not self.parts[name].optional)

    def _sum(self, count: str) -> int | None:
        numbers = [getattr(self.parts[name], count) for name in self.splits["all"] if not self.parts[name].optional]
        return None if None in numbers else sum(numbers)


@cache
def known_datasets() -> Mapping[str, Dataset]:
    """Every known data set by name."""
    text = files("riffler.data").joinpath("public.toml").read_text(encoding="utf-8")
    return {name: _dataset(name, entry) for name, entry in tomllib.loads(text).items()}


def dataset(name: str) -> Dataset:
    """The record of one data set.

    >>> dataset("a9a").rows
    48842
    """
    known = known_datasets()
    if name not in known:
        raise UnknownName.among("data set", name, known)
    return known[name]


def data_folder(folder: str | os.PathLike[str] | None) -> Path | None:
    """The folder with all data sets: as given, else the environment variable RIFFLER_DATA, else None."""
    if folder is not None:
        return Path(folder)
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named).expanduser() if named else None


def find_parts(entry: Dataset, names: tuple[str, ...], folder: str | os.PathLike[str] | None) -> dict[str, Path]:
    """The files of the named parts; optional ones may be absent unless they are asked for alone."""
    root = data_folder(folder)
    home = None if root is None else root / entry.folder
    found = {name: None if home is None else entry.parts[name].find(home) for name in names}
    missing = [
        name for name, path in found.items() if path is None and (len(names) == 1 or not entry.parts[name].optional)
    ]
    if missing:
        raise DataSetMissing(_how_to_get(entry, [entry.parts[name] for name in missing], home))
    return {name: path for name, path in found.items() if path is not None}


def _how_to_get(entry: Dataset, missing: list[Part], home: Path | None) -> str:
    wanted = ", ".join(
        part.file if part.original is None else f"{part.file} (or {part.original}, plain or compressed)"
        for part in missing
    )
    place = f"the folder {home}"
    if home is None:
        place = f"a folder {entry.folder} in your data folder, and name the data folder in {FOLDER_VARIABLE} or folder="
    return f"Data set {entry.name!r} lacks {wanted}. Get it from: {entry.get}. Put it into {place}."


def _dataset(name: str, entry: dict[str, Any]) -> Dataset:
    parts = {part: Part(name=part, **values) for part, values in entry.pop("parts").items()}
    splits = {part: (part,) for part in parts} | {"all": tuple(parts)}
    splits |= {split: tuple(members) for split, members in entry.pop("splits", {}).items()}
    positive = entry.pop("positive", None)
    folder = entry.pop("folder", name)
    return Dataset(
        name=name,
        folder=folder,
        parts=parts,
        splits=splits,
        positive=None if positive is None else tuple(positive),
        **entry,
    )
