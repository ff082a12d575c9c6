"""Sources that a collection has documents of already: those that it has are not taken again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from riffler.disk.block import partition_ids
from riffler.disk.manifest import Manifest, Partition
from riffler.disk.packed_ids import N_DIGITS, PackedIds
from riffler.disk.partition_writing import content_digits
from riffler.disk.parts import Piece
from riffler.disk.sources import Source, resolved_of_json
from riffler.errors import InputError

NAME_OF_TEXT = "id"
"""The column that has the name of each text of a folder."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Rows of a file from ``first`` on that lie together in a partition, from its row ``offset`` on."""

    first: int
    n: int
    partition: Partition
    offset: int

    def ids(self, folder: Path, first: int, last: int) -> list[str]:
        """The ids of some of these rows."""
        start = self.offset - self.first
        return partition_ids(folder, self.partition).series(start + first, start + last).to_list()


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows of a file that a collection has, as they were indexed one time after the other.

    A document that stands where it stood is known again. Another in its place is new, but for one that stood elsewhere.
    ``id_columns`` had their ids, None where these were made of the contents.
    """

    folder: Path
    spans: tuple[_Span, ...]
    id_columns: frozenset[str | None]

    @property
    def n_rows(self) -> int:
        """Rows that are known."""
        return max(span.first + span.n for span in self.spans)

    def n_left_alone(self, runs: Iterable[tuple[int, int]]) -> int:
        """Rows of which no document was taken again; ``runs`` are the first rows and numbers of those that were."""
        return self.n_rows - sum(max(0, min(first + n, self.n_rows) - first) for first, n in runs)

    def new_among(self, piece: Piece, source: str) -> list[tuple[int, int]]:
        """Where new documents of a piece begin, and how many stand together there."""
        n_old = max(0, min(self.n_rows - piece.first_row, piece.n_items))
        is_new = np.ones(piece.n_items, dtype=np.bool_)
        if n_old:
            is_new[:n_old] = self._are_others(piece.slice(0, n_old), source)
        return _runs(is_new)

    def _are_others(self, piece: Piece, source: str) -> NDArray[np.bool_]:
        names = content_digits(piece) if piece.ids is None else piece.ids.to_list()
        known = self._names_of(self._ids(piece.first_row, piece.first_row + piece.n_items))
        others = np.array([old != new for old, new in zip(known, names, strict=True)])
        moved = others & self._are_known(names) if others.any() else others
        if moved.any():
            raise InputError(
                f"{source}: row {piece.first_row + int(moved.argmax()) + 1} is a document that {self.folder} has from "
                "this file already, where it stood in another row. Put new documents behind those that were there, or "
                "into a file of their own; or index all into a new folder."
            )
        return others

    def _names_of(self, ids: list[str]) -> list[str]:
        """What documents are known by: ids that a column gave, or what ids made of the contents begin with."""
        return [id[:N_DIGITS] for id in ids] if self.id_columns == {None} else ids

    def _are_known(self, names: list[str]) -> NDArray[np.bool_]:
        """Which documents are known, wherever in the file they stood."""
        known, hashes = self._known_hashes, _hashes(names)
        places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        are_known: NDArray[np.bool_] = known[places] == hashes
        return are_known

    @cached_property
    def _known_hashes(self) -> NDArray[np.uint64]:
        """In rising order: sorted once, and not for every piece that is compared with them."""
        every = (self._names_of(span.ids(self.folder, span.first, span.first + span.n)) for span in self.spans)
        return np.sort(np.concatenate([_hashes(names) for names in every]))

    def _ids(self, start: int, stop: int) -> list[str]:
        """The ids of documents where they stood last."""
        found = [""] * (stop - start)
        for span in self.spans:
            first, last = max(start, span.first), min(stop, span.first + span.n)
            if first < last:
                found[first - start : last - start] = span.ids(self.folder, first, last)
        return found


@dataclass(frozen=True, eq=False)
class KnownTexts:
    """The texts of a folder that a collection has: new ones may come between them, so they are known by their names."""

    folder: Path
    spans: tuple[_Span, ...]
    id_columns: frozenset[str | None]

    def n_left_alone(self, runs: Iterable[tuple[int, int]]) -> int:
        """Texts that were known; none is taken again, whatever the ``runs`` that were taken."""
        return len(self._names)

    def new_among(self, piece: Piece, source: str) -> list[tuple[int, int]]:
        """Where new texts of a piece begin, and how many stand together there."""
        if piece.ids is None or self.id_columns != {NAME_OF_TEXT}:
            raise InputError(
                f"{source} has texts that {self.folder} has already. In a folder that has grown they are known by "
                "their names, which are not their ids there. Index all into a new folder, without --id."
            )
        return _runs(np.array([name not in self._names for name in piece.ids]))

    @cached_property
    def _names(self) -> frozenset[str]:
        partitions = {span.partition.number: span.partition for span in self.spans}
        packed = {number: partition_ids(self.folder, one) for number, one in partitions.items()}
        places = ((packed[span.partition.number], span.offset, span.n) for span in self.spans)
        return frozenset(id for ids, first, n in places for id in ids.series(first, first + n))


def known_rows(folder: Path, base: Manifest | None, sources: Sequence[Source]) -> Mapping[int, KnownRows | KnownTexts]:
    """What a collection has of sources that were changed since, by their numbers."""
    if base is None:
        return {}
    numbers = {source.resolved: number for number, source in enumerate(sources)}
    known = [numbers.get(resolved_of_json(one)) for one in base.sources]
    spans: dict[int, list[_Span]] = {}
    for partition in base.partitions:
        offset = 0
        for old, first, n in partition.runs:
            if (number := known[old]) is not None:
                spans.setdefault(number, []).append(_Span(first, n, partition, offset))
            offset += n
    columns: dict[int, set[str | None]] = {number: set() for number in spans}
    for at, source in zip(known, base.sources, strict=True):
        if at in columns and source["parts"] is not None:
            columns[at].add(source["parts"]["id"])
    kinds = {number: KnownTexts if sources[number].kind == "folder" else KnownRows for number in spans}
    return {number: kinds[number](folder, tuple(found), frozenset(columns[number])) for number, found in spans.items()}


def refuse_other_ids(known: KnownRows | KnownTexts, id_column: str | None, source: str) -> None:
    """Raise where documents get their ids from elsewhere than those that are there: none would be known again."""
    if known.id_columns != {id_column}:
        before, now = (
            " and ".join(sorted("the contents" if one is None else f"the column {one!r}" for one in columns))
            for columns in (known.id_columns, {id_column})
        )
        raise InputError(
            f"{source}: ids were made of {before} when it was indexed into {known.folder}, and would be made of {now} "
            "now. Say it with --id as then, or index all into a new folder."
        )


def _runs(is_new: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where new documents begin, and how many stand together there.

    >>> _runs(np.array([False, True, True, False, True]))
    [(1, 2), (4, 1)]
    """
    edges = np.flatnonzero(np.diff(is_new, prepend=False, append=False)).tolist()
    return [(start, stop - start) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def _hashes(names: list[str]) -> NDArray[np.uint64]:
    hashes: NDArray[np.uint64] = PackedIds.of(names).hashes()
    return hashes
