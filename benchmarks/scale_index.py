"""Indexing: seconds, memory, and bytes a document, from files of any size."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from scale_memory import cost_of_command
from scale_texts import write_documents

from riffler.disk import DiskCollection, is_collection, open_collection

WANTED_MB = 3_000.0
KINDS = {"records": ("records",), "rows": ("indices", "indptr", "data"), "counts": ("counts",)}


def measure_index(out: Path, n: int, seed: int) -> dict[str, Any]:
    """Write n documents, index them in a process of its own, and say what that took."""
    start = time.monotonic()
    paths = write_documents(out / "documents", n, seed)
    written = time.monotonic() - start
    n_bytes = sum(path.stat().st_size for path in paths)
    folder = folder_of(out, n, seed)
    shutil.rmtree(folder, ignore_errors=True)
    cost = cost_of_command("index", *map(str, paths), "--out", str(folder), "--label", "label")
    collection = open_collection(folder)
    sizes = bytes_of_a_document(collection)
    terms = sum(block.n_entries for block in collection.blocks) / n
    print(
        f"index: {n:,} documents ({n_bytes / 1e9:.2f} GB of text, written in {written:.0f} s, {terms:.1f} terms each): "
        f"{cost.seconds:.0f} s ({n / cost.seconds:,.0f} a second), peak {cost.peak_mb:,.0f} MB resident, "
        f"{cost.peak_own_mb:,.0f} MB without mapped files (wanted: {WANTED_MB:,.0f} MB)\n"
        f"index: bytes a document: " + ", ".join(f"{kind} {value:.0f}" for kind, value in sizes.items()),
        flush=True,
    )
    return {
        "documents": n, "text_bytes": n_bytes, "terms": terms, "seconds": cost.seconds, "peak_mb": cost.peak_mb,
        "peak_own_mb": cost.peak_own_mb, "bytes_a_document": sizes,
    }  # fmt: skip


def collection_of(out: Path, n: int, seed: int) -> DiskCollection:
    """Open the collection of n generated documents; it is made where it is not there."""
    folder = folder_of(out, n, seed)
    if not is_collection(folder):
        measure_index(out, n, seed)
    return open_collection(folder)


def folder_of(out: Path, n: int, seed: int) -> Path:
    """Where the collection of n generated documents is."""
    return out / f"collection-{n}-{seed}"


def bytes_of_a_document(collection: DiskCollection) -> dict[str, float]:
    """Bytes on disk a document, by what they are for."""
    manifest = collection.manifest
    found = dict.fromkeys((*KINDS, "ids and labels"), 0.0)
    for partition in manifest.partitions:
        for what, entry in partition.files.items():
            kind = next((kind for kind, names in KINDS.items() if what in names), "ids and labels")
            found[kind] += entry.n_bytes / manifest.n_items
    found["ids and labels"] += sum(entry.n_bytes for entry in manifest.files.values()) / manifest.n_items
    return {**found, "all": sum(found.values())}
