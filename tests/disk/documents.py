"""Documents to index, and what an index in memory makes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from riffler.disk import DiskCollection
from riffler.disk.manifest import sum_of

WORDS = ("gull", "owl", "heron", "stone", "the", "of", "and", "flies", "CO₂", "été", "море", "東京", "x1", "a", "egg")


def documents(n: int, seed: int = 0, prefix: str = "d") -> pl.DataFrame:
    """Documents with ids, titles, abstracts (some missing), labels and another column."""
    rng = np.random.default_rng(seed)

    def text(longest: int) -> str:
        return " ".join(rng.choice(WORDS, rng.integers(0, longest)).tolist())

    return pl.DataFrame(
        {
            "id": [f"{prefix}{number}" for number in range(n)],
            "title": [text(5) for _ in range(n)],
            "abstract": [None if rng.random() < 0.2 else text(30) for _ in range(n)],
            "included": [rng.choice(["yes", "no", ""]) for _ in range(n)],
            "year": [str(1990 + rng.integers(30)) for _ in range(n)],
        },
        schema_overrides={"abstract": pl.String},
    )


def rows_of(collection: DiskCollection) -> sparse.csr_matrix:
    """All rows of a collection in memory."""
    rows: sparse.csr_matrix = sparse.vstack([block.rows for block in collection.blocks], format="csr")
    return rows


def assert_same_rows(one: sparse.csr_matrix, other: sparse.csr_matrix) -> None:
    assert one.shape == other.shape
    np.testing.assert_array_equal(one.indptr, other.indptr)
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.data, other.data)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a collection but the lock, which names a process."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Let a manifest say something else, with the checksum of that."""
    path = folder / "manifest.json"
    value = json.loads(path.read_text())
    del value["sha256"]
    change(value)
    path.write_text(json.dumps({**value, "sha256": sum_of(value)}))


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a fresh interpreter that runs code."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "POLARS_MAX_THREADS": "2"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def write_parts(frame: pl.DataFrame, folder: Path, n_files: int) -> list[Path]:
    """A frame cut into several CSV files."""
    cuts = np.linspace(0, frame.height, n_files + 1).astype(int).tolist()
    paths = []
    for number, (start, stop) in enumerate(pairwise(cuts)):
        path = folder / f"part{number}.csv"
        frame.slice(start, stop - start).write_csv(path)
        paths.append(path)
    return paths
