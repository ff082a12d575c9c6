"""From counts to rows: idf, weights, clusters, the lookup of ids; each step is written down, and all are seen at once.

Files carry the number of the generation that made them, so that a new one stands beside the old until the manifest
is replaced.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from riffler.disk.block import Block, blocks_of, partition_ids
from riffler.disk.files import FileEntry, open_array, write_array, write_bytes
from riffler.disk.journal import ASKED, CLUSTERS, Journal
from riffler.disk.manifest import Files, Manifest, Partition, files_of_json, files_to_json
from riffler.disk.partition_work import Assigning, Weighing
from riffler.disk.row_arrays import COUNTS, open_rows
from riffler.disk.settings import VectoriserSettings
from riffler.disk.sources import Tell
from riffler.features.blocked_rows import BlockedRows
from riffler.features.cluster_model import fit_clusters
from riffler.features.text import smooth_idf
from riffler.records import IntArray

Given = TypeVar("Given")

WIDE = 1 << 32


class Publisher:
    """Makes the files of one generation of a collection.

    pool : where the work on single partitions runs
    tell : called with the share of the whole that is done
    shares : of the whole at which each step begins and ends
    """

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        generation: int,
        settings: VectoriserSettings,
        pool: Executor,
        tell: Tell,
        shares: Mapping[str, tuple[float, float]],
    ) -> None:
        self._folder, self._journal, self._generation = folder, journal, generation
        self._settings, self._pool, self._told, self._shares = settings, pool, tell, shares

    def count_idf(self, partitions: Sequence[Partition]) -> FileEntry:
        """The idf of all documents."""

        def make() -> Files:
            idf = smooth_idf(self._n_texts(partitions), sum(partition.n_items for partition in partitions))
            return {"idf": write_array(self._folder, f"idf.{self._generation}.npy", idf)}

        return self._step("idf", make)["idf"]

    def weigh(self, partitions: Sequence[Partition], idf: FileEntry) -> list[Partition]:
        """The partitions with their weights: TF-IDF of length 1."""
        work = Weighing(self._folder.resolve(), self._generation, self._settings, idf)
        return self._of_each("weights", partitions, work, partitions)

    def fit_clusters(self, manifest: Manifest, n_clusters: int, seed: int) -> FileEntry:
        """Soft clusters of a sample of all rows."""

        def make() -> Files:
            blocks = blocks_of(self._folder, manifest)
            n_texts = self._n_texts(manifest.partitions)
            model = fit_clusters(lambda rows: BlockedRows(blocks)[rows], n_texts, _any_order(blocks), n_clusters, seed)
            packed = io.BytesIO()
            model.save(packed)
            written = write_bytes(self._folder, f"clusters.{self._generation}.npz", packed.getbuffer())
            self._journal.finish(ASKED, {"n_clusters": n_clusters, "seed": seed})
            return {"clusters": written}

        return self._step(CLUSTERS, make)["clusters"]

    def assign(self, manifest: Manifest, partitions: Sequence[Partition]) -> list[Partition]:
        """The partitions with the memberships of their documents; the manifest has their rows, and the clusters."""
        blocks = {block.number: block for block in blocks_of(self._folder.resolve(), manifest)}
        work = Assigning(self._folder.resolve(), self._generation, manifest.files["clusters"])
        return self._of_each("memberships", partitions, work, [blocks[one.number] for one in partitions])

    def look_up(self, partitions: Sequence[Partition]) -> Files:
        """The lookup of ids: their hashes, sorted, and the rows that have them."""

        def make() -> Files:
            hashes = self._hashes_of_ids(partitions)
            kind = np.uint32 if len(hashes) < WIDE else np.int64
            rows = np.argsort(hashes, kind="stable").astype(kind, copy=False)
            hashes.sort()  # in its place: there are as many as documents
            return {
                "id_hashes": write_array(self._folder, f"id_hashes.{self._generation}.npy", hashes),
                "id_rows": write_array(self._folder, f"id_rows.{self._generation}.npy", rows),
            }

        return self._step("ids", make)

    def _hashes_of_ids(self, partitions: Sequence[Partition]) -> NDArray[np.uint64]:
        hashes = np.empty(sum(partition.n_items for partition in partitions), dtype=np.uint64)
        first = 0
        for partition in partitions:
            hashes[first : first + partition.n_items] = partition_ids(self._folder, partition).hashes()
            first += partition.n_items
        return hashes

    def _n_texts(self, partitions: Sequence[Partition]) -> IntArray:
        """How many documents have each column."""
        from riffler._fast.weights import count_columns

        n_texts = np.zeros(self._settings.n_columns, dtype=np.int64)
        for partition in partitions:
            _, columns, _ = open_rows(self._folder, partition, COUNTS, self._settings.n_columns)
            count_columns(columns, n_texts)
        return n_texts

    def _of_each(
        self, step: str, partitions: Sequence[Partition], work: Callable[[Given], Files], given: Sequence[Given]
    ) -> list[Partition]:
        """Make files of each partition, several at a time, but for those that are there already."""
        names = [f"{step} {partition.number:05}" for partition in partitions]
        missing = [at for at, name in enumerate(names) if self._journal.find(name) is None]
        made = self._pool.map(work, [given[at] for at in missing])
        for n_done, (at, files) in enumerate(zip(missing, made, strict=True), start=1):
            self._journal.finish(names[at], files_to_json(files))
            self._tell(n_done / len(missing), step)
        return [
            partition.with_files(files_of_json(self._journal.find(name)))
            for partition, name in zip(partitions, names, strict=True)
        ]

    def _tell(self, share: float, step: str) -> None:
        start, end = self._shares[step]
        self._told(start + (end - start) * share, step)

    def _step(self, step: str, make: Callable[[], Files]) -> Files:
        if self._journal.find(step) is None:
            self._tell(0.0, step)
            self._journal.finish(step, files_to_json(make()))
        return files_of_json(self._journal.find(step))


def _any_order(blocks: Sequence[Block]) -> IntArray:
    """The rows that have features in an order keyed by their ids: the same however documents were sorted and cut."""
    filled = np.concatenate([block.first_row + np.flatnonzero(np.diff(block.rows.indptr)) for block in blocks])
    keys = np.concatenate([block.ids.keyed(b"clusters") for block in blocks])[filled]
    order: IntArray = filled[np.argsort(keys)]
    return order


def n_filled_rows(folder: Path, partitions: Sequence[Partition]) -> int:
    """How many documents have features."""
    bounds = (open_array(folder, partition.files["indptr"], partition.name) for partition in partitions)
    return sum(int(np.count_nonzero(np.diff(one))) for one in bounds)


def pool_or_threads(pool: Executor | None, n_jobs: int) -> AbstractContextManager[Executor]:
    """Give the pool, which stays open, or threads that end with the work."""
    return ThreadPoolExecutor(n_jobs) if pool is None else nullcontext(pool)
