"""Indexing takes the memory of some partitions, not that of all documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.disk.documents import python

PEAK = """
import resource, sys
from riffler.disk import IndexOptions, index_collection
index_collection(sys.argv[1], sys.argv[2], IndexOptions(n_items=2_000), n_jobs=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def peak_of(path: Path, folder: Path) -> int:
    process = python(PEAK, str(path), str(folder))
    printed, told = process.communicate(timeout=600)
    assert process.returncode == 0, told
    return int(printed)


def test_memory_holds_some_partitions_and_not_the_texts_of_all(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{n}" for n in range(20_000)])
    lines = ['{"id": "%d", "text": "' + " ".join(rng.choice(words, 600)) + '"}\n' for _ in range(500)]
    sizes = {}
    for name, n in (("few", 8_000), ("many", 40_000)):
        path = tmp_path / f"{name}.jsonl"
        with path.open("w") as stream:
            stream.writelines(lines[number % 500] % number for number in range(n))
        sizes[name] = path.stat().st_size, peak_of(path, tmp_path / name)
    n_more = sizes["many"][0] - sizes["few"][0]
    assert n_more > 160_000_000
    assert sizes["many"][1] - sizes["few"][1] < 80_000_000
