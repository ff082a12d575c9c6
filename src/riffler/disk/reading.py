"""Documents of many sources one after the other, from any place on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from riffler.data.judgements import check_judgements
from riffler.disk.chunks import read_chunks
from riffler.disk.parts import Parts, Piece, WantedColumns, choose_parts, kept_words, label_column, part_names, piece_of
from riffler.disk.sources import Source, as_looked_at
from riffler.disk.wide_rows import rows_at_once
from riffler.errors import DataFileError


@dataclass(frozen=True, slots=True)
class Place:
    """Where the reading is.

    source : number among those that are read
    at, skip : where a chunk of it began, and how many documents of it were taken from there on
    row : how many documents were taken from the source
    words : of the label columns of all sources, so far
    """

    source: int = 0
    at: int = 0
    skip: int = 0
    row: int = 0
    words: frozenset[str] = frozenset()

    @property
    def is_within(self) -> bool:
        """Whether a part of the source was taken."""
        return self.row > 0

    def after(self, n: int) -> Place:
        """The place so many documents further on."""
        return replace(self, skip=self.skip + n, row=self.row + n)

    def to_json(self) -> list[Any]:
        """The place as JSON."""
        return [self.source, self.at, self.skip, self.row, sorted(self.words)]

    @classmethod
    def of_json(cls, value: Sequence[Any]) -> Place:
        """The place of its JSON."""
        source, at, skip, row, words = value
        return cls(source, at, skip, row, frozenset(words))


class Reading:
    """Reads sources; ``parts`` are the columns taken of each, by its number in the collection.

    ``first_number`` is that of the first source: a collection may have others before.
    """

    def __init__(
        self, sources: Sequence[Source], columns: WantedColumns, first_number: int, parts: Mapping[int, Parts]
    ) -> None:
        self._sources, self._columns, self._first_number = sources, columns, first_number
        self.parts = dict(parts)
        self._n_before = [0, *accumulate(source.n_bytes for source in sources)]

    def pieces(self, place: Place) -> Iterator[tuple[Piece, Place]]:
        """Documents from a place on, each piece with the place where it begins."""
        words = place.words
        for number in range(place.source, len(self._sources)):
            start = place if number == place.source else Place(number, words=words)
            with as_looked_at(self._sources[number]):
                for piece, here in self._of_source(self._sources[number], start):
                    words = here.words
                    yield piece, here
        self._check_words(words)

    def share(self, place: Place) -> float:
        """How much of all sources is read."""
        source = self._sources[place.source]
        within = min(1.0, place.at / source.length) if source.length else 0.0
        return (self._n_before[place.source] + within * source.n_bytes) / (self._n_before[-1] or 1)

    def _of_source(self, source: Source, place: Place) -> Iterator[tuple[Piece, Place]]:
        number = self._first_number + place.source
        to_skip, row, words = place.skip, place.row, set(place.words)
        for chunk in read_chunks(source, place.at):
            frame = chunk.frame.slice(to_skip)
            skipped = chunk.frame.height - frame.height
            to_skip -= skipped
            if frame.height == 0:
                continue
            if number not in self.parts:
                with _readable(source, row):
                    late = [*filter(part_names(self._columns), dict(source.kinds))]  # of tags there may be many
                    self.parts[number] = choose_parts(frame, late, self._columns, source.path, source.kind)
            parts, n = self.parts[number], rows_at_once(frame)
            for start in range(0, frame.height, n):
                with _readable(source, row):
                    some = frame.slice(start, n)
                    piece, found = piece_of(some, parts, self._columns.positive, source.path, number, row)
                words = kept_words(words, found, self._columns.positive)
                yield piece, Place(place.source, chunk.at, skipped + start, row, frozenset(words))
                row += piece.n_items

    def _check_words(self, words: frozenset[str]) -> None:
        """Raise where the labels of all sources together cannot mean what they were taken for.

        One of many may well have the labels of one kind only.
        """
        paths: dict[str, list[str]] = {}
        for number, source in enumerate(self._sources, start=self._first_number):
            name = label_column(self.parts[number]) if number in self.parts else None
            if name is not None:
                paths.setdefault(name, []).append(source.path)
        if not paths or not words:
            return
        n_more = sum(map(len, paths.values())) - 1
        name, (first, *_) = next(iter(paths.items()))
        where = f"{first} and {n_more:,} more" if n_more else first
        check_judgements(words, name, self._columns.positive, where)


@contextmanager
def _readable(source: Source, row: int) -> Iterator[None]:
    """Say where values are of a type that polars cannot turn into what is wanted."""
    import polars as pl

    try:
        yield
    # a panic is no Exception: it would pass through everything that catches those
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataFileError(
            f"{source.path}: values from row {row + 1:,} on are of a type that is not read ({error}). Write the "
            "file again with texts, numbers and dates, or as JSON lines."
        ) from error
