"""Index documents: read the sources a chunk at a time, count terms in threads, write partitions, publish them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from riffler.cores import n_cores
from riffler.data.folder import MANIFEST, PARTITIONS, or_its_folder
from riffler.disk.block import partition_ids
from riffler.disk.commands import end_stale, put_in_place, refuse_other, tidied
from riffler.disk.files import room_wanted
from riffler.disk.filling import Filling
from riffler.disk.finished import restored, restoring
from riffler.disk.grown import KnownRows, KnownTexts, known_rows, refuse_other_ids
from riffler.disk.hashed_rows import HashedCounter
from riffler.disk.id_book import IdBook
from riffler.disk.journal import PARTITION, SOURCES, Journal, holding
from riffler.disk.lock import locked
from riffler.disk.manifest import JOURNAL, Manifest, Partition, check_sizes, read_manifest, refuse_lost
from riffler.disk.options import IndexOptions
from riffler.disk.packed_ids import N_DIGITS, PackedIds
from riffler.disk.partition_writing import CountedPiece, counted, write_partition
from riffler.disk.parts import BY_NOTES, Parts, Piece
from riffler.disk.publishing import Publisher, n_filled_rows, pool_or_threads
from riffler.disk.reading import Place, Reading
from riffler.disk.settings import VectoriserSettings
from riffler.disk.sources import Source, Tell, find_sources, refuse_changed, survey
from riffler.disk.strays import check_folder, remove_strays
from riffler.errors import DataFileError, InputError
from riffler.features.cluster_model import check_n_clusters

LOOKED, READ = 0.05, 0.85
SHARES = {
    "idf": (READ, 0.87), "weights": (0.87, 0.93), "clusters": (0.93, 0.96), "memberships": (0.96, 0.98),
    "ids": (0.98, 1.0),
}  # fmt: skip
"""Shares of the time after which the sources are looked at and read, and those of the steps behind."""


def index_collection(
    documents: str | Path | Sequence[str | Path],
    folder: str | Path,
    options: IndexOptions | None = None,
    *,
    n_jobs: int | None = None,
    pool: Executor | None = None,
    tell: Tell | None = None,
) -> Manifest:
    r"""Index documents into a new collection on disk, or behind those of one that is there.

    A call that was ended, however, goes on when it is made again. Nothing of it is seen before it is done: then all is.
    Files that the collection has already, as they are, are passed over; where nothing is new it stays as it is.

    Parameters
    ----------
    documents : files, patterns such as ``mails/*.jsonl.gz``, or folders of text files
    folder : of the collection
    options : IndexOptions, None for the usual ones
    n_jobs : threads, None for one a core
    pool : where partitions are weighed and put into clusters, such as ``riffler.engine.pool_from`` gives; None for
        these threads
    tell : called with the share done and what is going on

    >>> import tempfile
    >>> where = Path(tempfile.mkdtemp())
    >>> _ = (where / "birds.csv").write_text("id,title\n7,On gulls\n8,On owls\n")
    >>> index_collection(where / "birds.csv", where / "birds").n_items
    2
    """
    folder, options = Path(folder), options or IndexOptions()
    named = [documents] if isinstance(documents, str | Path) else list(documents)
    check_folder(folder)
    sources = find_sources(named, folder)
    with room_wanted(folder):
        (folder / PARTITIONS).mkdir(parents=True, exist_ok=True)
    with locked(folder):
        base = read_manifest(folder) if (folder / MANIFEST).exists() else None
        if base is not None:  # what is made of a part that is missing would look whole
            check_sizes(folder, base)
        told = tell or (lambda share, doing: None)
        jobs = n_jobs or n_cores()
        with pool_or_threads(pool, jobs) as workers:
            made = _Indexing(folder, base, options, jobs, workers, told).run(sources)
        told(1.0, "done")
        return made


class _Indexing:
    """One call of ``index_collection``."""

    def __init__(
        self, folder: Path, base: Manifest | None, options: IndexOptions, n_jobs: int, pool: Executor, tell: Tell
    ) -> None:
        self._folder, self._base, self._options = folder, base, options
        self._n_jobs, self._pool, self._tell = n_jobs, pool, tell
        self._settings = _settings(base, options)
        self._journal = Journal(folder)
        self._old: tuple[Partition, ...] = () if base is None else base.partitions
        self._new: list[Partition] = []
        self._sources: list[Source] = []
        self._parts: dict[int, Parts] = {}
        self._known: Mapping[int, KnownRows | KnownTexts] = {}
        self._first_number = 0 if base is None else len(base.sources)
        self._generation = 0 if base is None else base.generation

    def run(self, sources: list[Source]) -> Manifest:
        """Do what is left of the work."""
        if self._base is None:
            refuse_lost(self._folder, self._journal.command)
        else:
            end_stale(self._folder, self._base, self._journal)
        sources = self._unknown(sources)
        if not sources and not self._journal.has_steps and self._base is not None:
            return tidied(self._folder, self._base, self._journal)
        place = self._begin(sources)
        self._known = known_rows(self._folder, self._base, self._sources)
        with holding(self._folder, self._journal):
            known = [] if self._base is None else self._base.all_files()
            remove_strays(self._folder, [*known, *self._journal.files()])
            self._read(place)
            if not self._new and self._known and self._base is not None:
                return tidied(self._folder, self._base, self._journal)
            return self._publish()

    def _command(self, sources: Sequence[Source], generation: int) -> dict[str, Any]:
        return {
            "command": "index",
            "generation": generation,
            "options": self._options.to_json(),
            "sources": [source.to_json() for source in sources],
        }

    def _begin(self, sources: list[Source]) -> Place:
        """Begin a journal, or go on with the one that is there; return the place to read from."""
        before = self._journal.command
        if before is not None and self._journal.has_steps:
            refuse_other(self._folder, self._journal, self._command(sources, self._generation))
            return self._go_on(sources)
        self._sources = self._survey(sources)
        self._journal.begin(self._command(self._sources, self._generation))
        return Place()

    def _go_on(self, now: list[Source]) -> Place:
        self._tell(0.0, "comparing checksums")
        finished = restored(self._folder, self._journal, len(self._old), self._first_number)
        self._new, self._parts, place, before = finished.partitions, finished.parts, finished.place, finished.sources
        pairs = enumerate(zip(before, now, strict=True))
        changed = [number for number, (old, new) in pairs if old.identity != new.identity]
        for number in changed:
            if number < place.source or (number == place.source and place.is_within):
                raise InputError(
                    f"{now[number].path} has changed since a part of it was indexed into {self._folder}. Put the old "
                    f"file back, or remove {self._folder / JOURNAL} to begin again."
                )
        looked_at = dict(zip(changed, self._survey([now[number] for number in changed]), strict=True))
        # what was typed now is opened: it may be relative to another folder than before
        same = [replace(old, path=new.path) for old, new in zip(before, now, strict=True)]
        self._sources = [looked_at.get(number, old) for number, old in enumerate(same)]
        if changed:  # the next partition may be of what they are now
            self._journal.finish(SOURCES, [source.to_json() for source in self._sources])
        return place

    def _survey(self, sources: list[Source]) -> list[Source]:
        def tell(share: float, doing: str) -> None:
            self._tell(LOOKED * share, doing)

        return survey(sources, self._options.encoding, tell, self._options.columns)

    def _unknown(self, sources: list[Source]) -> list[Source]:
        """Leave out the files that the collection has already, as they are."""
        known = set() if self._base is None else {Source.of_json(one).identity for one in self._base.sources}
        return [one for one in sources if one.identity not in known]

    def _ids_so_far(self) -> IdBook:
        """The ids of all partitions that are there."""
        book = IdBook()
        for partition in (*self._old, *self._new):
            packed = partition_ids(self._folder, partition)
            digits: list[str] = []
            first = 0
            for source, _, n in partition.runs:
                if self._makes_ids(source):
                    digits += [id[:N_DIGITS] for id in packed.series(first, first + n)]
                first += n
            book.restore(packed, self._places(partition.runs), digits)
        return book

    def _makes_ids(self, source: int) -> bool:
        """Whether the ids of a source are made of the contents."""
        if self._base is not None and source < self._first_number:
            return self._base.sources[source]["parts"]["id"] is None
        return self._parts[source].id is None

    def _places(self, runs: Sequence[tuple[int, int, int]]) -> Callable[[int], str]:
        return partial(self._place_in_words, runs)

    def _place_in_words(self, runs: Sequence[tuple[int, int, int]], row: int) -> str:
        for source, first, n in runs:
            if row < n:
                return f"{self._path(source)}: row {first + row + 1}"
            row -= n
        raise AssertionError("the row is behind the partition")

    def _path(self, source: int) -> str:
        if self._base is not None and source < self._first_number:
            return f"{self._base.sources[source]['path']}, as it was indexed before"
        return self._sources[source - self._first_number].path

    def _read(self, place: Place) -> None:
        """Read all sources from a place on, and write their partitions; the book of ids is let go behind that."""
        counter = HashedCounter(self._settings)
        with restoring(self._folder):
            book = self._ids_so_far()
        reading = Reading(self._sources, self._options.columns, self._first_number, self._parts)
        self._parts = reading.parts
        n_items = sum(partition.n_items for partition in self._new)
        count, close = partial(counted, counter=counter), partial(self._close, book)
        with Filling(self._options, count, close, self._n_jobs) as filling:
            reached = place.source
            for piece, here in reading.pieces(place):
                for source in self._sources[reached : here.source]:  # they are read to their ends
                    refuse_changed(source)
                reached = here.source
                for start, n in self._new_among(piece, here):
                    filling.add(piece.slice(start, n), here.after(start))
                    n_items += n
                self._tell(LOOKED + (READ - LOOKED) * reading.share(here), f"indexing: {n_items:,} documents")
            for source in self._sources[reached:]:
                refuse_changed(source)
            filling.finish()
        if not self._new and not self._known:
            words = f"{self._in_words()}: no rows, or none that have anything in them; there is nothing to index."
            raise DataFileError(f"{words}{or_its_folder(self._sources[0].path)}")

    def _in_words(self) -> str:
        n_more = len(self._sources) - 1
        return f"{self._sources[0].path} and {n_more:,} more" if n_more else self._sources[0].path

    def _new_among(self, piece: Piece, place: Place) -> list[tuple[int, int]]:
        """Where new documents begin, and how many: all, unless the file was indexed before."""
        known = self._known.get(place.source)
        if known is None:
            return [(0, piece.n_items)]
        source = self._sources[place.source].path
        refuse_other_ids(known, self._parts[piece.source].id, source)
        return known.new_among(piece, source)

    def _close(self, book: IdBook, pieces: list[CountedPiece], place: Place) -> None:
        """Give a full partition its ids, write it, and write down that it is there."""
        packs: list[PackedIds] = []
        for one in pieces:
            piece = one.piece
            where = self._places([(piece.source, piece.first_row, piece.n_items)])
            if piece.ids is None:
                packs.append(book.add_contents(one.digits, where))
            else:
                packs.append(book.add_given(piece.ids, where))
        with room_wanted(self._folder):
            partition = write_partition(self._folder, len(self._old) + len(self._new), pieces, packs)
        book.settle(len(packs), partition_ids(self._folder, partition), self._places(partition.runs))
        parts = {str(source): self._parts[source].to_json() for source, _, _ in partition.runs}
        self._journal.finish(PARTITION, {"partition": partition.to_json(), "place": place.to_json(), "parts": parts})
        self._new.append(partition)

    def _publish(self) -> Manifest:
        """Make rows of the counts, and put the new manifest in place of the old."""
        next_one = self._generation + 1
        maker = Publisher(self._folder, self._journal, next_one, self._settings, self._pool, self._tell, SHARES)
        base = self._base
        if base is None and self._options.n_clusters:  # before all rows are weighed for nothing
            check_n_clusters(self._options.n_clusters, n_filled_rows(self._folder, self._new))
        files = {} if base is None else dict(base.files)
        if base is None:
            files["idf"] = maker.count_idf(self._new)
        self._new = maker.weigh(self._new, files["idf"])
        n_items = sum(partition.n_items for partition in self._new)
        manifest = Manifest(
            generation=next_one,
            vectoriser=self._settings,
            sources=(*(() if base is None else base.sources), *self._told_sources()),
            partitions=(*self._old, *self._new),
            files=files,
            n_for_idf=n_items if base is None else base.n_for_idf,
            has_labels=self._has_labels(),
            clusters={} if base is None else base.clusters,
        )
        manifest = with_clusters(self._folder, maker, manifest, self._new, self._options.n_clusters, self._options.seed)
        manifest = manifest.with_files(maker.look_up(manifest.partitions))
        return put_in_place(self._folder, manifest, self._journal)

    def _told_sources(self) -> list[Mapping[str, Any]]:
        """The new sources with the columns that were taken, and how many documents of each are new and were known."""
        numbers = range(self._first_number, self._first_number + len(self._sources))
        runs: dict[int, list[tuple[int, int]]] = {number: [] for number in numbers}
        for partition in self._new:
            for source, first, n in partition.runs:
                runs[source].append((first, n))
        known = {
            self._first_number + at: rows.n_left_alone(runs[self._first_number + at])
            for at, rows in self._known.items()
        }
        return [
            {
                **source.to_json(),
                "n_items": sum(n for _, n in runs[number]),
                "n_known": known.get(number, 0),
                "parts": self._parts[number].to_json() if number in self._parts else None,
            }
            for number, source in enumerate(self._sources, start=self._first_number)
        ]

    def _has_labels(self) -> bool:
        named = any(parts.label not in (None, BY_NOTES) for parts in self._parts.values())
        known = any(relevant + irrelevant for relevant, irrelevant, _ in (one.labels for one in self._new))
        return named or known or (self._base is not None and self._base.has_labels)


def with_clusters(
    folder: Path, maker: Publisher, manifest: Manifest, new: Sequence[Partition], n_clusters: int | None, seed: int
) -> Manifest:
    """The manifest with memberships of the new partitions, in its clusters or in those that are asked for."""
    if "clusters" not in manifest.files:
        if not n_clusters:
            return manifest
        entry = maker.fit_clusters(manifest, n_clusters, seed)
        manifest = manifest.with_files({"clusters": entry}, {"n_clusters": n_clusters, "seed": seed})
    return manifest.with_partitions(maker.assign(manifest, new))


def _settings(base: Manifest | None, options: IndexOptions) -> VectoriserSettings:
    if base is None:
        return options.vectoriser or VectoriserSettings()
    if options.vectoriser not in (None, base.vectoriser):
        raise InputError(
            f"The rows of a collection are made in one way, and this one has {base.vectoriser}. Leave the options of "
            "the columns out, or name another folder."
        )
    if options.n_clusters not in (None, base.clusters.get("n_clusters", 0)):
        raise InputError(
            f"This collection has {base.clusters.get('n_clusters', 0)} clusters; `riffler reindex --clusters` changes "
            "that. Leave --clusters out."
        )
    return base.vectoriser
