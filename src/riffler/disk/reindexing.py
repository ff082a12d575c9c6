"""Count the idf of a collection anew, and find its clusters anew: all of it or nothing."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from riffler.cores import n_cores
from riffler.disk.commands import end_stale, put_in_place, refuse_other
from riffler.disk.indexing import with_clusters
from riffler.disk.journal import Journal, holding
from riffler.disk.lock import locked
from riffler.disk.manifest import Manifest, check_sizes, read_manifest
from riffler.disk.publishing import Publisher, n_filled_rows, pool_or_threads
from riffler.disk.sources import Tell
from riffler.disk.strays import remove_strays
from riffler.errors import InputError
from riffler.features.cluster_model import check_n_clusters

SHARES = {"idf": (0.0, 0.1), "weights": (0.1, 0.6), "clusters": (0.6, 0.8), "memberships": (0.8, 1.0)}


def reindex_collection(
    folder: str | Path,
    *,
    n_clusters: int | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    pool: Executor | None = None,
    tell: Tell | None = None,
) -> Manifest:
    """Count the idf on all documents, weigh all rows with it, and find clusters anew; ids and order stay.

    ``n_clusters`` of 0 leaves them away, None takes as many as there are. The new rows are written beside the old ones
    and put in their place in one moment; a call that was ended goes on when it is made again. ``pool`` says where the
    work on single partitions runs, None for ``n_jobs`` threads.
    """
    folder, told = Path(folder), tell or (lambda share, doing: None)
    read_manifest(folder)  # before a lock is made in what may be no collection
    if n_clusters is not None and n_clusters < 0:
        raise InputError(f"n_clusters must be 0 (none) or more, got {n_clusters!r}.")
    with locked(folder):
        base = read_manifest(folder)
        check_sizes(folder, base)
        wanted = base.clusters.get("n_clusters", 0) if n_clusters is None else n_clusters
        chosen = base.clusters.get("seed", 0) if seed is None else seed
        if wanted:  # before all rows are weighed for nothing
            check_n_clusters(wanted, n_filled_rows(folder, base.partitions))
        journal = Journal(folder)
        command: dict[str, Any] = {
            "command": "reindex",
            "generation": base.generation,
            "options": {"n_clusters": wanted, "seed": chosen},
            "sources": [],
        }
        has_these = base.clusters == ({"n_clusters": wanted, "seed": chosen} if wanted else {})
        if end_stale(folder, base, journal) == "reindex" and has_these:
            return base
        if journal.has_steps:
            refuse_other(folder, journal, command)
        else:
            journal.begin(command)
        with holding(folder, journal), pool_or_threads(pool, n_jobs or n_cores()) as workers:
            remove_strays(folder, [*base.all_files(), *journal.files()])
            made = _made_anew(folder, base, journal, wanted, chosen, workers, told)
        told(1.0, "done")
        return made


def _made_anew(
    folder: Path, base: Manifest, journal: Journal, n_clusters: int, seed: int, pool: Executor, tell: Tell
) -> Manifest:
    maker = Publisher(folder, journal, base.generation + 1, base.vectoriser, pool, tell, SHARES)
    files = {what: entry for what, entry in base.files.items() if what != "clusters"}
    files["idf"] = maker.count_idf(base.partitions)
    bare = [partition.without_memberships() for partition in base.partitions]
    weighed = maker.weigh(bare, files["idf"])
    manifest = replace(
        base,
        generation=base.generation + 1,
        files=files,
        partitions=tuple(weighed),
        n_for_idf=base.n_items,
        clusters={},
    )
    manifest = with_clusters(folder, maker, manifest, weighed, n_clusters, seed)
    return put_in_place(folder, manifest, journal)
