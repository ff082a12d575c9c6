"""What an ended run left is compared before the next one goes on: files with their checksums, and the journal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from riffler.disk import IndexOptions, VectoriserSettings, index_collection, open_collection
from riffler.errors import DataFileError, InputError
from tests.disk.documents import documents

OPTIONS = IndexOptions(n_items=20, vectoriser=VectoriserSettings(n_bits=10))


@pytest.fixture
def ended(tmp_path: Path) -> list[Path]:
    """Two files of which the first was indexed into ``tmp_path / "c"``, and the second cannot be read yet."""
    documents(70).write_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("id,title\n1,x,y,z\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(InputError, match="What is finished so far stays"):
        index_collection(paths, tmp_path / "c", OPTIONS)
    (tmp_path / "b.csv").write_text("id,title\n1,x\n")
    return paths


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["records.parquet", "labels.npy", "ids.npy", "counts.npy"])
@pytest.mark.parametrize(
    ("harm", "told"), [(cut, "cut short"), (flip, "another checksum"), (Path.unlink, "is missing")]
)
def test_files_of_finished_partitions_are_compared(
    name: str, harm: Callable[[Path], None], told: str, ended: list[Path], tmp_path: Path
) -> None:
    harm(tmp_path / "c" / "partitions" / "00001" / name)
    for _ in range(2):
        with pytest.raises(DataFileError, match=rf"partition 00001: .*{told}.* remove .*journal\.jsonl to begin again"):
            index_collection(ended, tmp_path / "c", OPTIONS)
    (tmp_path / "c" / "journal.jsonl").unlink()
    assert index_collection(ended, tmp_path / "c", OPTIONS).n_items == 71
    open_collection(tmp_path / "c").verify()


def _values(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where anything is within a value."""
    found = [path]
    if isinstance(value, dict):
        found += [one for key in value for one in _values(value[key], (*path, key))]
    elif isinstance(value, list):
        found += [one for at, inner in enumerate(value[:6]) for one in _values(inner, (*path, at))]
    return found


def test_a_journal_of_which_any_value_is_another_is_gone_on_with_or_refused_in_words(
    ended: list[Path], tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in (tmp_path / "c" / "journal.jsonl").read_text().splitlines()]
    assert not _is_refused(lines, ended, tmp_path)
    n_refused = n_tried = 0
    for number in (0, len(lines) - 1):
        for path in _values(lines[number])[1:]:
            for other in (None, "x"):
                copy = json.loads(json.dumps(lines))
                holder = copy[number]
                for key in path[:-1]:
                    holder = holder[key]
                holder[path[-1]] = other
                n_tried += 1
                n_refused += _is_refused(copy, ended, tmp_path)
    assert n_tried > n_refused > n_tried / 2


def _is_refused(lines: list[dict[str, Any]], paths: list[Path], folder: Path) -> bool:
    shutil.rmtree(folder / "d", ignore_errors=True)
    shutil.copytree(folder / "c", folder / "d")
    (folder / "d" / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    try:
        index_collection(paths, folder / "d", OPTIONS, n_jobs=1)
    except InputError:
        return True
    open_collection(folder / "d").verify()
    return False


def test_a_journal_without_the_steps_it_needs_is_damaged(ended: list[Path], tmp_path: Path) -> None:
    journal = tmp_path / "c" / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"step": "partition"', '"step": "partitionX"'))
    with pytest.raises(DataFileError, match=r"journal\.jsonl: the journal is damaged.*remove it"):
        index_collection(ended, tmp_path / "c", OPTIONS)
