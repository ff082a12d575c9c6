"""From counts to rows: idf, weights, clusters, the lookup of ids; each step is written down, and all are seen at once.

Files carry the number of the generation that made them, so that a new one stands beside the old until the manifest
is replaced.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from riffler.disk.block import MEMBERSHIP_FILES, blocks_of, partition_ids
from riffler.disk.files import FileEntry, check_sum, open_array, write_array, write_bytes
from riffler.disk.gathering import gathered
from riffler.disk.journal import Journal
from riffler.disk.manifest import PARTITIONS, Files, Manifest, Partition, files_of_json, files_to_json
from riffler.disk.settings import VectoriserSettings
from riffler.disk.sources import Tell
from riffler.errors import DataFileError
from riffler.features.cluster_model import ClusterModel, fit_clusters
from riffler.features.text import smooth_idf
from riffler.records import FloatArray, IntArray

OF_THE_WHOLE = ("idf.", "id_hashes.", "id_rows.", "clusters.")
WIDE = 1 << 32


class Publisher:
    """Makes the files of one generation of a collection."""

    def __init__(
        self, folder: Path, journal: Journal, generation: int, settings: VectoriserSettings, n_jobs: int, tell: Tell
    ) -> None:
        self._folder, self._journal, self._generation = folder, journal, generation
        self._settings, self._n_jobs, self._tell = settings, n_jobs, tell

    def count_idf(self, partitions: Sequence[Partition]) -> FileEntry:
        """The idf of all documents."""

        def make() -> Files:
            idf = smooth_idf(self._n_texts(partitions), sum(partition.n_items for partition in partitions))
            return {"idf": write_array(self._folder, f"idf.{self._generation}.npy", idf)}

        return self._step("idf", make)["idf"]

    def weigh(self, partitions: Sequence[Partition], idf: FloatArray) -> list[Partition]:
        """The partitions with their weights: TF-IDF of length 1."""
        from riffler._fast.weights import weigh_rows

        features = self._settings.unfitted

        def make(partition: Partition) -> Files:
            counts, indices, indptr = (
                open_array(self._folder, partition.files[what], partition.name)
                for what in ("counts", "indices", "indptr")
            )
            values = np.empty(len(indices), dtype=np.float32)
            weigh_rows(indptr, indices, counts, idf, features.sublinear_tf, features.norm is not None, values)
            return {"data": self._write(partition, "data", values)}

        return self._of_each("weights", partitions, make)

    def fit_clusters(self, manifest: Manifest, n_clusters: int, seed: int) -> FileEntry:
        """Soft clusters of a sample of all rows."""

        def make() -> Files:
            blocks = blocks_of(self._folder, manifest)
            n_texts = self._n_texts(manifest.partitions)
            filled = np.concatenate([block.first_row + np.flatnonzero(np.diff(block.rows.indptr)) for block in blocks])
            model = fit_clusters(lambda rows: gathered(blocks, rows), n_texts, filled, n_clusters, seed)
            packed = io.BytesIO()
            model.save(packed)
            return {"clusters": write_bytes(self._folder, f"clusters.{self._generation}.npz", packed.getbuffer())}

        return self._step("clusters", make)["clusters"]

    def assign(self, manifest: Manifest, partitions: Sequence[Partition], model: ClusterModel) -> list[Partition]:
        """The partitions with the memberships of their documents; the manifest has their rows."""
        blocks = {block.number: block for block in blocks_of(self._folder, manifest)}

        def make(partition: Partition) -> Files:
            found = model.assign(blocks[partition.number].rows)
            parts = (found.data, found.indices.astype(np.int32), found.indptr.astype(np.int32))
            return {
                what: self._write(partition, what, part) for what, part in zip(MEMBERSHIP_FILES, parts, strict=True)
            }

        return self._of_each("memberships", partitions, make)

    def look_up(self, partitions: Sequence[Partition]) -> Files:
        """The lookup of ids: their hashes, sorted, and the rows that have them."""

        def make() -> Files:
            ids = [partition_ids(self._folder, partition) for partition in partitions]
            hashes = np.concatenate([one.hashes() for one in ids])
            rows = np.argsort(hashes, kind="stable")
            narrow: IntArray = rows.astype(np.uint32) if len(rows) < WIDE else rows
            ordered = hashes[rows]
            return {
                "id_hashes": write_array(self._folder, f"id_hashes.{self._generation}.npy", ordered),
                "id_rows": write_array(self._folder, f"id_rows.{self._generation}.npy", narrow),
            }

        return self._step("ids", make)

    def _n_texts(self, partitions: Sequence[Partition]) -> IntArray:
        """How many documents have each column."""
        from riffler._fast.weights import count_columns

        n_texts = np.zeros(self._settings.n_columns, dtype=np.int64)
        for partition in partitions:
            count_columns(open_array(self._folder, partition.files["indices"], partition.name), n_texts)
        return n_texts

    def _write(self, partition: Partition, what: str, array: FloatArray | IntArray) -> FileEntry:
        name = f"{PARTITIONS}/{partition.number:05}/{what}.{self._generation}.npy"
        return write_array(self._folder, name, array)

    def _of_each(
        self, step: str, partitions: Sequence[Partition], make: Callable[[Partition], Files]
    ) -> list[Partition]:
        """Make files of each partition, several at a time, but for those that are there already."""
        names = [f"{step} {partition.number:05}" for partition in partitions]
        missing = [at for at, name in enumerate(names) if self._journal.find(name) is None]
        with ThreadPoolExecutor(self._n_jobs) as pool:
            made = pool.map(lambda at: make(partitions[at]), missing)
            for n_done, (at, files) in enumerate(zip(missing, made, strict=True), start=1):
                self._journal.finish(names[at], files_to_json(files))
                self._tell(n_done / len(missing), step)
        return [
            partition.with_files(files_of_json(self._journal.find(name)))
            for partition, name in zip(partitions, names, strict=True)
        ]

    def _step(self, step: str, make: Callable[[], Files]) -> Files:
        if self._journal.find(step) is None:
            self._tell(0.0, step)
            self._journal.finish(step, files_to_json(make()))
        return files_of_json(self._journal.find(step))


def read_idf(folder: Path, entry: FileEntry) -> FloatArray:
    """The idf of a collection, compared with its checksum."""
    check_sum(folder, entry, "idf")
    return np.array(open_array(folder, entry, "idf"))


def read_clusters(folder: Path, entry: FileEntry) -> ClusterModel:
    """The clusters of a collection, compared with their checksum."""
    check_sum(folder, entry, "clusters")
    try:
        return ClusterModel.load(folder / entry.name)
    except (ValueError, KeyError, OSError) as error:
        raise DataFileError(f"{folder}: {entry.name} holds no clusters ({error}).") from error


def remove_strays(folder: Path, files: Iterable[FileEntry]) -> None:
    """Remove what neither a manifest nor a journal names: drafts, and files of generations before."""
    known = {folder / entry.name for entry in files}
    homes = {path.parent for path in known}
    for place in (folder / PARTITIONS).iterdir():
        if place.is_dir() and place not in homes:
            shutil.rmtree(place)
        elif place.is_dir():
            _remove_others(place.iterdir(), known)
    ours = (path for path in folder.iterdir() if path.name.removeprefix(".").startswith(OF_THE_WHOLE))
    _remove_others((path for path in ours if path.is_file()), known)
    _remove_others(folder.glob(".manifest-*.json"), known)


def _remove_others(paths: Iterable[Path], known: set[Path]) -> None:
    for path in list(paths):
        if path not in known and path.is_file():
            path.unlink()
