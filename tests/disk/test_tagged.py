"""Tagged records on disk: a tag that any record repeats is a list of texts, whatever documents are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from riffler.data import read_collection
from riffler.disk import IndexOptions, index_collection, open_collection
from riffler.disk.parts import Parts, WantedColumns, choose_parts
from tests.data.ris_records import to_records

LATE = 30
RIS = "".join(
    f"TY  - JOUR\nTI  - gull {n}\nUR  - http://x/{n}\n{'UR  - http://y' * (n == LATE)}\nER  - \n\n" for n in range(40)
)
PUBMED = "".join(f"PMID- {n}\nTI  - gull {n}\nAID - a{n}\n{'AID - 10.1000/b' * (n == LATE)}\n\n" for n in range(40))


@pytest.mark.parametrize(("name", "text", "tag"), [("a.ris", RIS, "UR"), ("a.nbib", PUBMED, "AID")])
@pytest.mark.parametrize("n_records", [7, 1000])
def test_a_tag_that_is_repeated_late_is_a_list_everywhere(
    n_records: int, name: str, text: str, tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", n_records)
    (tmp_path / name).write_text(text)
    index_collection(tmp_path / name, tmp_path / "c", IndexOptions(n_items=9))
    disk, memory = open_collection(tmp_path / "c"), read_collection(tmp_path / name)
    for rows in (np.arange(40), np.arange(5), np.array([LATE, 1]), np.array([LATE])):
        assert disk.columns(rows)[tag].to_list() == memory.columns[tag][rows].to_list()
    assert to_records(disk.columns(np.arange(40))) == to_records(memory.columns)
    assert disk.column(tag).to_list() == ["\n".join(one) for one in memory.columns[tag]]
    assert list(disk.ids) == list(memory.ids)


def test_what_is_written_does_not_hang_on_how_many_records_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.ris").write_text(RIS)
    for n_records in (3, 1000):
        monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", n_records)
        index_collection(tmp_path / "a.ris", tmp_path / f"{n_records}")
    few, many = (open_collection(tmp_path / name).columns(np.arange(40)) for name in ("3", "1000"))
    assert few.equals(many)


def test_marks_of_documents_that_nobody_saw_are_no_labels(tmp_path: Path) -> None:
    for mark, labels in (("ASReview_not_seen", None), ("ASReview_irrelevant", [0])):
        (tmp_path / "a.ris").write_text(f"TY  - JOUR\nTI  - gull\nN1  - {mark}\nER  - \n")
        index_collection(tmp_path / "a.ris", tmp_path / mark)
        for found in (open_collection(tmp_path / mark).labels, read_collection(tmp_path / "a.ris").labels):
            assert (None if found is None else found.tolist()) == labels


def test_of_very_many_tags_only_those_that_play_a_part_become_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    tags = [f"{a}{b}{c}" for a in letters for b in letters for c in letters]
    records = [f"PMID- {n}\nTI  - gull\n{tag} - x\n\n" for n, tag in enumerate(tags)]
    (tmp_path / "a.nbib").write_text("".join(records))
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 150)
    seen: list[int] = []

    def choose(frame: pl.DataFrame, late: list[str], *others: object) -> Parts:
        seen.append(len(late))
        return choose_parts(frame, late, *others)  # type: ignore[arg-type]

    monkeypatch.setattr("riffler.disk.reading.choose_parts", choose)
    index_collection(tmp_path / "a.nbib", tmp_path / "c", IndexOptions(columns=WantedColumns(id="PMID")))
    assert seen[0] < 20
    assert open_collection(tmp_path / "c").n_items == len(tags)
