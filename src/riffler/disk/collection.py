"""A collection on disk: everything a search needs, mapped or read when it is asked for."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.data.collection import Collection
from riffler.disk.block import Block, blocks_of
from riffler.disk.files import check_sum
from riffler.disk.ids import DiskIds
from riffler.disk.manifest import Manifest, as_opened, check_sizes, read_manifest
from riffler.disk.other_columns import all_of_column, columns_of
from riffler.disk.sources import Tell
from riffler.disk.texts import DiskTexts
from riffler.disk.whole_files import read_clusters, read_idf
from riffler.errors import DataFileError
from riffler.features.blocked_rows import BlockedRows
from riffler.features.cluster_model import ClusterModel
from riffler.features.text import TextFeatures
from riffler.records import Matrix

if TYPE_CHECKING:
    import polars as pl


class DiskCollection:
    """Documents in partitions on disk, in the order in which they were indexed.

    Attributes
    ----------
    folder, source : where it is, and what it was called when it was opened
    blocks : one a partition, with mapped rows
    ids, titles, abstracts, texts : sequences that read when they are asked
    """

    def __init__(self, folder: Path, manifest: Manifest, source: str) -> None:
        self.folder = folder
        self.source = source
        self.manifest = manifest
        self.blocks: tuple[Block, ...] = blocks_of(folder, manifest)
        self.ids = DiskIds(folder, self.blocks, manifest)
        self.titles = DiskTexts(self.blocks, ("title",))
        self.abstracts = DiskTexts(self.blocks, ("abstract",))
        self.texts = DiskTexts(self.blocks, ("title", "abstract"))

    @property
    def n_items(self) -> int:
        """How many documents there are."""
        return self.manifest.n_items

    @property
    def n_columns(self) -> int:
        """Columns of the rows."""
        return self.manifest.vectoriser.n_columns

    @property
    def generation(self) -> int:
        """Grows by one with every change of the collection."""
        return self.manifest.generation

    @cached_property
    def labels(self) -> NDArray[np.int8] | None:
        """1 (relevant), 0 (irrelevant) and -1 (not known) of each document, None where no source had labels."""
        if not self.manifest.has_labels:
            return None
        return np.concatenate([block.labels for block in self.blocks])

    @cached_property
    def vectoriser(self) -> TextFeatures:
        """What made the rows of the texts: makes rows in the same columns of any others."""
        with as_opened(self.folder, self.generation):
            return self.manifest.vectoriser.fitted(read_idf(self.folder, self.manifest.files["idf"], self.n_columns))

    @cached_property
    def clusters(self) -> ClusterModel | None:
        """The soft clusters, None where none were asked for."""
        entry = self.manifest.files.get("clusters")
        if entry is None:
            return None
        with as_opened(self.folder, self.generation):
            return read_clusters(self.folder, entry)

    def rows(self, rows: ArrayLike) -> Matrix:
        """The rows of some documents, in the order asked for, in memory."""
        return BlockedRows(self.blocks)[np.asarray(rows, dtype=np.int64)]

    def columns(self, rows: ArrayLike) -> pl.DataFrame:
        """All columns of some documents, by the names they had in their sources."""
        return columns_of(self.blocks, np.asarray(rows, dtype=np.int64), self.manifest.sources)

    def column(self, name: str) -> pl.Series:
        """One column of all documents as text, null where a document does not have it."""
        return all_of_column(self.blocks, name, self.manifest.sources, self.source)

    def take(self, rows: ArrayLike) -> Collection:
        """Some documents as a collection in memory."""
        chosen = np.asarray(rows, dtype=np.int64)
        return Collection(
            ids=tuple(self.ids.take(chosen)),
            titles=self.titles.take(chosen),
            abstracts=self.abstracts.take(chosen),
            labels=None if self.labels is None else self.labels[chosen],
            columns=self.columns(chosen),
            source=self.source,
        )

    def verify(self, tell: Tell | None = None) -> None:
        """Compare the checksums of all files; the first that differs is an error that names its partition."""
        with as_opened(self.folder, self.generation):
            for what, entry in self.manifest.files.items():
                check_sum(self.folder, entry, what)
        for block in self.blocks:
            block.verify()
            if tell is not None:
                tell((block.number + 1) / len(self.blocks), f"checking {block.name}")

    def fingerprint(self) -> str:
        """A short text that changes with any file of the collection: from their checksums."""
        digest = sha256()
        for entry in self.manifest.all_files():
            digest.update(f"{entry.sha256}\n".encode())
        return digest.hexdigest()[:16]

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_again, (self.folder, self.generation)

    def __len__(self) -> int:
        return self.n_items

    def __repr__(self) -> str:
        return f"<{self.n_items:,} documents in {self.source}>"


def open_collection(folder: str | Path) -> DiskCollection:
    """Open a collection that ``riffler index`` made.

    Sizes of all files are compared at once, the checksum of each when it is used first. The place is remembered as it
    is now: a process that goes to another folder later, or another process, finds the same files.
    """
    place = Path(folder).resolve()
    manifest = read_manifest(place)
    try:
        return _with_all_files(DiskCollection(place, manifest, str(folder)))
    except DataFileError:
        now = read_manifest(place)
        if now.generation == manifest.generation:
            raise
        # a new generation was put in place, and files of the old one removed, while sizes were compared
        return _with_all_files(DiskCollection(place, now, str(folder)))


def _opened_again(folder: Path, generation: int) -> DiskCollection:
    """The collection that was sent; where it was changed meanwhile it has other documents, and is refused."""
    collection = open_collection(folder)
    collection.manifest.check_generation(folder, generation)
    return collection


def _with_all_files(collection: DiskCollection) -> DiskCollection:
    check_sizes(collection.folder, collection.manifest)
    return collection
