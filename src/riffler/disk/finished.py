"""What an ended command finished: its journal, read with care, and the files it names, compared before it goes on."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riffler.disk.chunks import READERS
from riffler.disk.files import AGAIN, check_once
from riffler.disk.journal import PARTITION, SOURCES, Journal, damaged
from riffler.disk.manifest import JOURNAL, Files, Partition, files_of_json
from riffler.disk.parts import Parts
from riffler.disk.reading import Place
from riffler.disk.sources import Source
from riffler.disk.text_survey import TAGS
from riffler.errors import DataFileError, RifflerError

FILES = frozenset({"records", "ids", "id_ends", "labels", "counts", "indices", "indptr"})
"""What a partition has before its rows are weighed."""

WEIGHTS, MEMBERSHIPS = frozenset({"data"}), frozenset(f"memberships_{what}" for what in ("data", "indices", "indptr"))
OF_THE_WHOLE = {name: frozenset({name}) for name in ("idf", "clusters")} | {"ids": frozenset({"id_hashes", "id_rows"})}


@dataclass(frozen=True, slots=True)
class Finished:
    """What an ended `riffler index` left: its sources, its partitions with their columns, and the place behind them."""

    sources: list[Source]
    partitions: list[Partition]
    parts: dict[int, Parts]
    place: Place


def restored(folder: Path, journal: Journal, first_partition: int, first_source: int) -> Finished:
    """What a journal tells, each file of it compared with its checksum; what does not fit together is an error."""
    with restoring(folder):
        found = _restored(journal, first_source)
        _check(found, first_partition, first_source)
        files = [(one.name, one.files) for one in found.partitions]
        for one in found.partitions:
            files += _of_step(journal, f"weights {one.number:05}", WEIGHTS)
            files += _of_step(journal, f"memberships {one.number:05}", MEMBERSHIPS)
        for step, names in OF_THE_WHOLE.items():
            files += _of_step(journal, step, names)
    for what, entries in files:
        _check_files(folder, what, entries)
    return found


def _restored(journal: Journal, first_source: int) -> Finished:
    left = journal.found(PARTITION)
    command: Mapping[str, Any] = journal.command or {}
    parts: dict[int, Parts] = {}
    for one in left:
        parts.update({int(number): Parts.of_json(told) for number, told in one["parts"].items()})
    return Finished(
        [Source.of_json(one) for one in journal.find(SOURCES) or command["sources"]],
        [Partition.of_json(one["partition"]) for one in left],
        parts,
        Place.of_json(left[-1]["place"]),
    )


def _check(found: Finished, first_partition: int, first_source: int) -> None:
    for source in found.sources:
        _check_source(source)
    numbers = range(first_source, first_source + len(found.sources))
    for number, one in enumerate(found.partitions, start=first_partition):
        if one.number != number:
            raise ValueError(f"partition {one.number} stands where {number} was expected")
        if set(one.files) != FILES:
            raise ValueError(f"{one.name} has the files {sorted(one.files)}, {sorted(FILES)} were expected")
        if not all(source in numbers and source in found.parts for source, _, _ in one.runs):
            raise ValueError(f"{one.name} has documents of a source that is not there")
        if sum(n for _, _, n in one.runs) != one.n_items or sum(one.labels) != one.n_items:
            raise ValueError(f"{one.name} has {one.n_items} documents, its sources or labels have others")
    place = found.place
    places = (place.source, place.at, place.skip, place.row)
    if not all(isinstance(one, int) and one >= 0 for one in places) or place.source >= len(found.sources):
        raise ValueError(f"{list(places)} is no place in {len(found.sources)} sources")
    names = [name for one in found.parts.values() for name in one.to_json().values() if name is not None]
    if not all(isinstance(one, str) for one in (*names, *place.words)):
        raise ValueError("a name of a column or a word of labels is no text")


def _check_source(source: Source) -> None:
    try:
        codecs.lookup(source.encoding or "utf-8")
    except LookupError as error:
        raise ValueError(str(error)) from error
    if source.kind not in READERS or (source.kind == "tagged" and source.form not in TAGS):
        raise ValueError(f"a source of the kind {source.kind!r} and the form {source.form!r}")


def _of_step(journal: Journal, step: str, names: frozenset[str]) -> list[tuple[str, Files]]:
    """The files that a step left, if it is finished."""
    if (left := journal.find(step)) is None:
        return []
    files = files_of_json(left)
    if set(files) != names:
        raise ValueError(f"{step} has the files {sorted(files)}, {sorted(names)} were expected")
    return [(step, files)]


def _check_files(folder: Path, what: str, files: Files) -> None:
    for entry in files.values():
        try:
            check_once(folder, entry, what)
        except DataFileError as error:
            raise DataFileError(
                f"{str(error).removesuffix(AGAIN)}The command that wrote it is not finished: remove "
                f"{folder / JOURNAL} to begin again (a collection that was there before stays as it was)."
            ) from error


@contextmanager
def restoring(folder: Path) -> Iterator[None]:
    """Say of values that cannot be what a journal tells that it is damaged."""
    try:
        yield
    except RifflerError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise damaged(folder / JOURNAL, f"{type(error).__name__}: {error}") from error
