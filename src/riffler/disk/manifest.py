"""The manifest of a collection on disk: what it holds, in which files, and how its rows were made.

It is replaced in one moment, and names every file it needs; files it does not name do not belong to the collection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from riffler.data.atomic import atomic_write
from riffler.data.folder import KIND, MANIFEST, has_collection
from riffler.disk.files import FileEntry, check_size, flush_folder, room_wanted
from riffler.disk.settings import VectoriserSettings
from riffler.errors import DataFileError, InputError

VERSION = 1
SUM = "sha256"
"""Of all else in the manifest."""

JOURNAL = "journal.jsonl"
JOURNAL_KIND = "riffler journal"
JOURNAL_HEAD = f'{{"kind": "{JOURNAL_KIND}", "version": '.encode()
"""How the first line of a journal begins."""

FINISHED = "finished"
"""An empty file beside the manifest: where that is missing, it was lost. A run that was given up never had one."""

Files = Mapping[str, FileEntry]


@dataclass(frozen=True, slots=True)
class Partition:
    """Some documents in a row.

    Attributes
    ----------
    number : of the partition, from 0 on
    n_items, n_entries : documents, and entries of their rows that are not 0
    files : by what they hold: records, ids, id_ends, labels, counts, indices, indptr, data, memberships_*
    runs : (number of the source, its first document here, how many) in order
    labels : how many are relevant, irrelevant, not known
    n_cut : documents that are longer than what of them counts
    """

    number: int
    n_items: int
    n_entries: int
    files: Files
    runs: tuple[tuple[int, int, int], ...]
    labels: tuple[int, int, int]
    n_cut: int = 0

    @property
    def name(self) -> str:
        """The partition in messages."""
        return f"partition {self.number:05}"

    def with_files(self, files: Files) -> Partition:
        """The partition with more files, or others."""
        return replace(self, files={**self.files, **files})

    def without_memberships(self) -> Partition:
        """The partition without its part in clusters."""
        return replace(
            self, files={what: entry for what, entry in self.files.items() if not what.startswith("memberships")}
        )

    def to_json(self) -> dict[str, Any]:
        """The partition as JSON."""
        return {
            "number": self.number,
            "n_items": self.n_items,
            "n_entries": self.n_entries,
            "files": files_to_json(self.files),
            "runs": [list(run) for run in self.runs],
            "labels": list(self.labels),
            "n_cut": self.n_cut,
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Partition:
        """The partition of its JSON."""
        return cls(
            int(value["number"]), int(value["n_items"]), int(value["n_entries"]), files_of_json(value["files"]),
            tuple((int(a), int(b), int(c)) for a, b, c in value["runs"]),
            (int(value["labels"][0]), int(value["labels"][1]), int(value["labels"][2])),
            int(value.get("n_cut", 0)),  # the first collections do not tell
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a collection holds.

    Attributes
    ----------
    generation : grows by one with every change of the collection
    vectoriser : how texts become rows
    sources : what was read, as ``Source.to_json`` tells it, with the columns taken and the number of documents
    partitions : in the order of their documents
    files : of the whole collection: idf, id_hashes, id_rows, clusters
    n_for_idf : documents that the idf was counted on
    has_labels : whether any source had labels
    """

    generation: int
    vectoriser: VectoriserSettings
    sources: tuple[Mapping[str, Any], ...]
    partitions: tuple[Partition, ...]
    files: Files
    n_for_idf: int
    has_labels: bool
    clusters: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """Documents of all partitions."""
        return sum(partition.n_items for partition in self.partitions)

    def all_files(self) -> list[FileEntry]:
        """Every file of the collection."""
        return [*self.files.values(), *(entry for partition in self.partitions for entry in partition.files.values())]

    def with_files(self, files: Files, clusters: Mapping[str, int] | None = None) -> Manifest:
        """The manifest with more files, or others, and what is said of clusters if they are among them."""
        return replace(self, files={**self.files, **files}, clusters=self.clusters if clusters is None else clusters)

    def with_partitions(self, changed: Sequence[Partition]) -> Manifest:
        """The manifest with some partitions in place of those of the same number."""
        by_number = {partition.number: partition for partition in (*self.partitions, *changed)}
        return replace(self, partitions=tuple(by_number[number] for number in sorted(by_number)))

    def check_generation(self, folder: Path, generation: int) -> None:
        """Raise unless this is the generation that somebody has opened."""
        if self.generation != generation:
            raise InputError(
                f"{folder} was changed since it was opened (generation {generation}, now {self.generation}). Open it "
                "again."
            )

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON."""
        totals = [sum(partition.labels[kind] for partition in self.partitions) for kind in range(3)]
        labels = dict(zip(("relevant", "irrelevant", "unknown"), totals, strict=True))
        return {
            "kind": KIND,
            "version": VERSION,
            "generation": self.generation,
            "n_items": self.n_items,
            "vectoriser": self.vectoriser.to_json(),
            "idf_of_items": self.n_for_idf,
            "clusters": dict(self.clusters),
            "labels": labels if self.has_labels else None,
            "files": files_to_json(self.files),
            "sources": [dict(source) for source in self.sources],
            "partitions": [partition.to_json() for partition in self.partitions],
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Manifest:
        """The manifest of its JSON."""
        return cls(
            generation=int(value["generation"]),
            vectoriser=VectoriserSettings.of_json(value["vectoriser"]),
            sources=tuple(value["sources"]),
            partitions=tuple(Partition.of_json(one) for one in value["partitions"]),
            files=files_of_json(value["files"]),
            n_for_idf=int(value["idf_of_items"]),
            has_labels=value["labels"] is not None,
            clusters={str(name): int(number) for name, number in value["clusters"].items()},
        )


def files_to_json(files: Files) -> dict[str, Any]:
    """Files as JSON."""
    return {what: entry.to_json() for what, entry in files.items()}


def files_of_json(value: Mapping[str, Any]) -> dict[str, FileEntry]:
    """Files of their JSON; a name that leads out of the collection is refused."""
    files = {str(what): FileEntry.of_json(entry) for what, entry in value.items()}
    for entry in files.values():
        if Path(entry.name).is_absolute() or ".." in Path(entry.name).parts:
            raise ValueError(f"the file {entry.name!r} is outside of the collection")
    return files


def is_collection(folder: Path | str) -> bool:
    """Whether a folder is a collection on disk, of whatever version, finished or not, damaged or whole."""
    folder = Path(folder)
    return has_journal(folder) or has_collection(folder)


def has_journal(folder: Path) -> bool:
    """Whether there is a journal of a command in a folder; a file of the same name may be something else."""
    return start_of_journal(folder) == JOURNAL_HEAD


def start_of_journal(folder: Path) -> bytes | None:
    """The bytes by which a journal is known, as far as they are there; None where there is no such file."""
    if not (folder / JOURNAL).is_file():
        return None
    with (folder / JOURNAL).open("rb") as stream:
        return stream.read(len(JOURNAL_HEAD))


def refuse_lost(folder: Path, journal: Mapping[str, Any] | None = None) -> None:
    """Refuse a folder without a manifest that has the files of a finished collection: no run may take its place.

    ``journal`` is the command of one that is there. The first run of a collection begins at generation 0; what is left
    of it when it is given up may be removed.
    """
    if (folder / FINISHED).is_file() or (journal is not None and journal["generation"] > 0):
        raise DataFileError(
            f"{folder}: {MANIFEST} is missing, and files of a finished collection are there. Copy the collection "
            "again, with all its files; or remove the folder by hand if nothing in it is wanted any more."
        )


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest; a folder that is no collection, or one of a newer version, is an error that says so."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise DataFileError(f"{folder}: a collection is a folder, and this {what}. Make one with `riffler index`.")
    if not (folder / MANIFEST).is_file():
        if has_journal(folder):
            raise DataFileError(
                f"{folder}: this collection is not finished. Start the same `riffler index` again; it goes on where it "
                "was ended."
            )
        refuse_lost(folder)
        raise DataFileError(
            f"{folder}: not a collection: it has no {MANIFEST}. Make one with `riffler index DOCS... --out {folder}`."
        )
    try:
        value = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        kind, version = value.get("kind"), value.get("version")
    except (ValueError, AttributeError) as error:
        raise DataFileError(f"{folder}: {MANIFEST} is damaged ({error}). Copy the collection again.") from error
    if kind != KIND:
        raise DataFileError(f"{folder}: not a collection: {MANIFEST} is of something else (kind {kind!r}).")
    if type(version) is not int or version < 1:
        raise DataFileError(
            f"{folder}: {MANIFEST} is damaged (its version is {version!r}, a number from 1 on was expected). Copy the "
            "collection again."
        )
    if version > VERSION:
        raise DataFileError(
            f"{folder}: a collection of version {version}, this Riffler reads up to version {VERSION}. Update Riffler, "
            "or index the sources again with this one."
        )
    if value.pop(SUM, None) not in (None, sum_of(value)):  # the first collections do not tell
        raise DataFileError(
            f"{folder}: {MANIFEST} is damaged or was changed by hand: it has another checksum than when it was "
            "written. Copy the collection again."
        )
    try:
        return Manifest.of_json(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(
            f"{folder}: {MANIFEST} is damaged ({type(error).__name__}: {error}). Copy the collection again."
        ) from error


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """See that all files of a collection are there and as long as they were; the first that is not is named."""
    for what, entry in manifest.files.items():
        check_size(folder, entry, what)
    for partition in manifest.partitions:
        for entry in partition.files.values():
            check_size(folder, entry, partition.name)


@contextmanager
def as_opened(folder: Path, generation: int) -> Iterator[None]:
    """Say of a file that is missing or another one when that is so because the collection was changed meanwhile."""
    try:
        yield
    except DataFileError:
        # one that is being made has no manifest yet, or that of the generation before
        if (folder / MANIFEST).is_file() and (now := read_manifest(folder)).generation > generation:
            now.check_generation(folder, generation)
        raise


def mark_finished(folder: Path) -> None:
    """Leave the mark of a folder in which a collection was finished; its manifest is on the disk already."""
    if not (folder / FINISHED).exists():
        with room_wanted(folder):
            (folder / FINISHED).touch()
            flush_folder(folder)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in place of the one before, in one moment."""
    # in ASCII: so a folder whose name is not UTF-8 is written and read back
    value = manifest.to_json()
    text = json.dumps({**value, SUM: sum_of(value)}, indent=1, allow_nan=False)
    with room_wanted(folder), atomic_write(folder / MANIFEST) as draft:
        draft.write_text(text + "\n", encoding="utf-8")


def sum_of(value: Mapping[str, Any]) -> str:
    """The SHA-256 of a JSON object, however it is laid out in a file."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
