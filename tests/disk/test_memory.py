"""Indexing takes the memory of some partitions, not that of all documents."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.disk import index_collection
from riffler.disk.id_book import IdBook, most_bytes
from riffler.disk.packed_ids import PackedIds
from riffler.disk.publishing import Publisher
from tests.disk.documents import documents, python

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


def test_the_book_of_ids_is_gone_when_rows_are_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    real = Publisher.weigh

    def weigh(maker: Publisher, *rest: Any) -> object:  # noqa: ANN401 - whatever the real one takes
        gc.collect()
        found.append(sum(isinstance(one, IdBook) for one in gc.get_objects()))
        return real(maker, *rest)

    monkeypatch.setattr(Publisher, "weigh", weigh)
    documents(30).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c")
    assert found == [0]


def test_the_bytes_of_a_table_of_ids_are_those_that_are_said() -> None:
    book = IdBook()
    for n in (39_000, 1_000, 60_000):
        book.add_given(PackedIds.of([f"{book.n_ids}-{row}" for row in range(n)]).series(), str)
        table = book._rows
        grown = len(table.keys) if book.n_ids == 39_000 else len(table.keys) * 3 // 2  # the old one beside the new
        assert most_bytes(book.n_ids) == grown * (table.keys.itemsize + table.numbers.itemsize)
