"""A folder of something else is left as it is: nothing in it is removed, cut or added to."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.disk import IndexOptions, VectoriserSettings, index_collection, is_collection, open_collection
from riffler.disk.strays import remove_strays
from riffler.errors import InputError
from tests.disk.documents import contents, documents

OPTIONS = IndexOptions(n_items=20, vectoriser=VectoriserSettings(n_bits=10))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    documents(50).write_csv(tmp_path / "a.csv")
    return tmp_path / "a.csv"


def everything(folder: Path) -> dict[str, bytes | None]:
    """All files and folders below, with what the files hold."""
    paths = sorted(folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in paths}


@pytest.mark.parametrize(
    "files",
    [
        {"partitions/disk.img": "a disk"},
        {"partitions/2024/notes.txt": "mine"},
        {"partitions/00000/notes.txt": "mine"},
        {"partitions/00000/ids.npy": "of whom? there is no lock"},
        {"lock": "12\n", "partitions/00000/notes.txt": "mine"},
        {"lock": "12\n", "partitions/owls/ids.npy": "mine"},
        {"lock": "the combination is 12-4-7\n"},
        {"lock": "12\n", "idf.txt": "mine"},
        {"lock": "12\n", "finished": "mine"},
        {"finished": ""},
        {"idf.1.npy": "mine"},
        {"journal.jsonl": '{"day": 1}\n{"day": 2}'},
        {"journal.jsonl": "Dear diary,\ntoday"},
        {"manifest.json": '{"kind": "a ship"}'},
        {"manifest.json": "bananas"},
        {"manifest.json": '{"kind": "a ship"}', "journal.jsonl": "Dear diary,\ntoday"},
    ],
)
def test_a_folder_of_something_else_is_refused_and_left_as_it_is(
    files: dict[str, str], source: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "theirs"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    before = everything(folder)
    with pytest.raises(InputError):
        index_collection(source, folder)
    assert everything(folder) == before
    assert not is_collection(folder)


@pytest.mark.parametrize(
    "files",
    [{}, {"lock": ""}, {"lock": "12\n"}, {"journal.jsonl": ""}, {"lock": "12\n", "journal.jsonl": '{"kind": "riff'}],
)
def test_an_empty_folder_and_what_a_run_leaves_that_ended_at_once_are_taken(
    files: dict[str, str], source: Path, tmp_path: Path
) -> None:
    (tmp_path / "c" / "partitions").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "c" / name).write_text(text)
    assert index_collection(source, tmp_path / "c").n_items == 50


@pytest.mark.parametrize("ended_at", ["publishing.Publisher.look_up", "commands.write_manifest"])
def test_a_run_that_was_given_up_behind_its_idf_leaves_a_folder_that_can_be_used(
    ended_at: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(f"riffler.disk.{ended_at}", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index_collection(source, tmp_path / "c", OPTIONS)
    (tmp_path / "c" / "journal.jsonl").unlink()
    assert (tmp_path / "c" / "idf.1.npy").exists()
    index_collection(source, tmp_path / "c", IndexOptions(n_items=45))
    index_collection(source, tmp_path / "d", IndexOptions(n_items=45))
    assert contents(tmp_path / "c") == contents(tmp_path / "d")


def test_what_others_put_into_a_collection_stays_when_strays_are_removed(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    manifest = index_collection(source, folder, OPTIONS)
    theirs = ["notes.txt", "idf.txt", "partitions/notes.txt", "partitions/00000/notes.txt", "partitions/owls/ids.npy"]
    strays = ["idf.7.npy", ".idf.7-abcd_123.7.npy", ".manifest-abcd1234.json", "partitions/00000/data.7.npy"]
    strays += [
        "partitions/00000/.ids-abcd1234.npy",
        "partitions/00009/ids.npy",
        "partitions/00010.draft/records.parquet",
    ]
    before = contents(folder)
    for name in theirs + strays:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    remove_strays(folder, manifest.all_files())
    assert contents(folder) == {**before, **{name: name.encode() for name in theirs}}
    assert not (folder / "partitions" / "00009").exists()
    open_collection(folder).verify()


def test_a_partition_is_not_written_over_what_others_put_in_its_place(source: Path, tmp_path: Path) -> None:
    index_collection(source, tmp_path / "c", OPTIONS)
    (tmp_path / "c" / "partitions" / "00003").mkdir()
    (tmp_path / "c" / "partitions" / "00003" / "notes.txt").write_text("mine")
    documents(5, prefix="e").write_csv(tmp_path / "b.csv")
    before = contents(tmp_path / "c")
    with pytest.raises(InputError, match=r"notes\.txt is in the way of a new partition"):
        index_collection(tmp_path / "b.csv", tmp_path / "c")
    assert contents(tmp_path / "c") == before
