"""Documents of no words, or of very many, are indexed as others are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riffler.disk import IndexOptions, index_collection, open_collection
from riffler.engine import LocalEngine, rows_on_disk

WORD = "zugzwang"


@pytest.mark.parametrize("n", [30_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_empty_documents_are_indexed_and_never_in_the_way(tmp_path: Path, n: int) -> None:
    with (tmp_path / "empty.jsonl").open("w") as stream:
        stream.writelines(f'{{"id": "d{number}", "title": "", "abstract": ""}}\n' for number in range(n))
        stream.write(f'{{"id": "full", "title": "{WORD}", "abstract": "of kings"}}\n')
    index_collection(tmp_path / "empty.jsonl", tmp_path / "empty", IndexOptions(n_items=max(10_000, n // 10)))
    collection = open_collection(tmp_path / "empty")
    assert collection.n_items == n + 1
    assert sum(block.n_entries for block in collection.blocks) == 2
    weights = np.asarray(collection.vectoriser.transform([WORD]).todense()).ravel()
    with LocalEngine(rows_on_disk(collection)) as engine:
        assert engine.blank_rows.sum() == n
        found = engine.best(weights, 3)
    assert collection.ids.take(found.rows) == ["full", "d0", "d1"]
    assert (collection.texts[0].strip(), collection.texts[n].split()) == ("", [WORD, "of", "kings"])


def test_documents_that_are_all_empty_are_indexed(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("id,title\n" + "".join(f"d{number},\n" for number in range(500)))
    index_collection(tmp_path / "empty.csv", tmp_path / "empty")
    assert open_collection(tmp_path / "empty").rows(np.arange(500)).nnz == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_document_of_fifty_megabytes_is_kept_whole_and_known_by_its_beginning(tmp_path: Path, kind: str) -> None:
    text = f"{WORD} " + "gulls and owls; " * 3_200_000 + "basilisk"
    assert len(text) > 50_000_000
    documents = [("small", "an owl"), ("huge", text), ("last", "a gull")]
    path = tmp_path / f"huge.{kind}"
    if kind == "csv":
        path.write_text("id,abstract\n" + "".join(f"{id},{text}\n" for id, text in documents))
    else:
        path.write_text("".join(json.dumps({"id": id, "abstract": text}) + "\n" for id, text in documents))
    index_collection(path, tmp_path / "huge")
    collection = open_collection(tmp_path / "huge")
    assert list(collection.ids) == ["small", "huge", "last"]
    assert collection.abstracts[1] == text
    columns = {word: collection.vectoriser.transform([word]).indices[0] for word in (WORD, "gulls", "owls")}
    row = collection.rows([1])
    assert set(row.indices) == set(columns.values())
    assert row[0, columns["gulls"]] > row[0, columns[WORD]] > 0
