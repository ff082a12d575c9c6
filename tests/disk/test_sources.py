"""Sources are known again whatever they are called, and known to have changed; links lead nowhere twice."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from riffler.cli import run
from riffler.data import read_collection
from riffler.disk import index_collection, open_collection
from riffler.disk.sources import find_sources
from riffler.errors import DataFileError, InputError, UnknownName
from tests.disk.documents import documents
from tests.disk.test_going_on import OPTIONS, end_early


def write_folder(folder: Path, n: int) -> Path:
    for number in range(n):
        path = folder / f"{number % 3}" / f"{number:03}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"On gull {number}\nIt flies.", encoding="utf-8")
    return folder


def test_a_file_under_two_names_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    documents(5).drop("id").write_csv("a.csv")
    Path("link.csv").symlink_to("a.csv")
    (tmp_path / "below").mkdir()
    for other in ("./a.csv", "link.csv", str(tmp_path / "a.csv"), "below/../a.csv", "l*.csv"):
        with pytest.raises(InputError, match=r"a\.csv and .*a?\.csv are one\. Name each file once"):
            index_collection(["a.csv", other], "c")
    index_collection("a.csv", "c")
    for other in ("./a.csv", "link.csv", str(tmp_path / "a.csv")):
        assert index_collection(other, "c").generation == 1
    assert open_collection("c").n_items == 5


def test_a_run_goes_on_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(100).write_csv(tmp_path / "a.csv")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    end_early(Path("a.csv"), tmp_path / "c", monkeypatch)
    monkeypatch.chdir(tmp_path / "below")
    made = index_collection("../a.csv", tmp_path / "c", OPTIONS)
    assert (made.n_items, made.sources[0]["path"]) == (100, "../a.csv")


def test_a_link_is_read_by_the_ending_of_its_own_name(tmp_path: Path) -> None:
    documents(5).write_csv(tmp_path / "blob")
    (tmp_path / "a.csv").symlink_to("blob")
    assert index_collection(tmp_path / "a.csv", tmp_path / "c").n_items == 5


@pytest.mark.parametrize("change", ["other text", "other name", "more and less"])
def test_a_folder_that_changed_while_it_was_read_is_refused(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path / "docs", 100)
    end_early(folder, tmp_path / "c", monkeypatch)
    shutil.copytree(tmp_path / "c", tmp_path / "d")
    index_collection(folder, tmp_path / "d", OPTIONS)
    assert tuple(open_collection(tmp_path / "d").ids) == read_collection(folder).ids
    first = folder / "0" / "000.txt"
    if change == "other text":
        first.write_text("Another one\nIt flies.", encoding="utf-8")
    else:
        first.rename(folder / "0" / "0000.txt" if change == "other name" else folder / "2" / "999.txt")
    with pytest.raises(InputError, match="docs has changed since a part of it was indexed"):
        index_collection(folder, tmp_path / "c", OPTIONS)


def test_folders_that_are_links_are_passed_over_as_in_memory(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "docs", 9)
    (folder / "1" / "round").symlink_to(folder, target_is_directory=True)
    (folder / "other").symlink_to(write_folder(tmp_path / "elsewhere", 3), target_is_directory=True)
    (folder / "one.txt").symlink_to(tmp_path / "elsewhere" / "0" / "000.txt")
    index_collection(folder, tmp_path / "c")
    assert tuple(open_collection(tmp_path / "c").ids) == read_collection(folder).ids


def strange(folder: Path, name: bytes) -> Path:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
    try:
        path.mkdir()
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    return path


def test_a_name_that_is_not_utf8_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = strange(tmp_path, b"caf\xe9")
    (place / "a.csv").write_text(documents(5).write_csv())
    with pytest.raises(InputError, match=r"caf\\udce9/a\.csv: the name of this file is not UTF-8"):
        find_sources([place / "a.csv"])
    assert run(["index", str(place / "a.csv"), "--out", str(tmp_path / "c")]) == 2
    assert r"caf\udce9" in capsys.readouterr().err
    (place / "b.txt").write_text("gull")
    with pytest.raises(InputError, match="not UTF-8"):
        find_sources([tmp_path])


def test_documents_are_indexed_within_a_folder_whose_name_is_not_utf8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = strange(tmp_path, b"caf\xe9")
    monkeypatch.chdir(place)
    documents(100).write_csv("a.csv")
    end_early(Path("a.csv"), Path("c"), monkeypatch)
    index_collection("a.csv", "c", OPTIONS)
    assert open_collection("c").n_items == 100
    assert index_collection("./a.csv", "c").generation == 1


def test_an_id_that_no_file_can_hold_is_not_there(tmp_path: Path) -> None:
    documents(5, prefix="?").write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c")
    ids = open_collection(tmp_path / "c").ids
    assert "?1" in ids
    assert "\ud800" not in ids
    assert "\ud8001" not in ids
    with pytest.raises(UnknownName, match="no document has the id"):
        ids.row_of("\ud800")


def test_a_pattern_does_not_match_the_collection_that_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g").mkdir()
    documents(100).write_csv("g/a.csv")
    end_early(Path("g/a.csv"), Path("g/c"), monkeypatch)
    assert index_collection("g/*", "g/c", OPTIONS).n_items == 100
    assert index_collection("g/*", tmp_path / "g" / "c", OPTIONS).generation == 1
    assert index_collection("g/**/*.csv", "g/c", OPTIONS).generation == 1
    with pytest.raises(DataFileError, match="no file matches this pattern"):
        index_collection("g/c*", "g/c", OPTIONS)
    with pytest.raises(InputError, match="is a collection already"):
        index_collection("g/*", "other")


def test_what_is_no_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "a.csv")
    for path in (tmp_path / "a.csv", Path(os.devnull)):
        with pytest.raises(DataFileError, match="a data file was expected, this is a pipe or a device"):
            index_collection(path, tmp_path / "c")
    documents(5).write_csv(tmp_path / "b.csv")

    def closed(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", closed)
    with pytest.raises(DataFileError, match=r"b\.csv may not be read by you \(Permission denied\)"):
        read_collection(tmp_path / "b.csv")


def test_a_folder_that_cannot_be_the_collection_is_told(tmp_path: Path) -> None:
    documents(5).write_csv(tmp_path / "a.csv")
    (tmp_path / "c").symlink_to("nowhere")
    with pytest.raises(InputError, match="c is a link to nowhere, which is not there"):
        index_collection(tmp_path / "a.csv", tmp_path / "c")
    index_collection(tmp_path / "a.csv", tmp_path / "d")
    (tmp_path / "d" / "lock").unlink()
    (tmp_path / "d" / "lock").mkdir()
    with pytest.raises(InputError, match="lock is a folder; Riffler has a file of that name there"):
        index_collection(tmp_path / "a.csv", tmp_path / "d")


@pytest.mark.parametrize(
    "text", ["On gulls\nThey fly, and dive.\n", "On gulls\n", "On gulls\nThey fly.\n", "On, gulls\na\n"]
)
def test_a_text_that_is_one_document_is_told_to_be_read_with_its_folder(text: str, tmp_path: Path) -> None:
    (tmp_path / "mails").mkdir()
    path = tmp_path / "mails" / "1.txt"
    path.write_text(text)
    for read in (read_collection, partial(index_collection, folder=tmp_path / "c")):
        with pytest.raises(DataFileError, match=r"where it is one document, name its folder\.$"):
            read(path)
    assert read_collection(path.parent).n_items == index_collection(path.parent, tmp_path / "c").n_items == 1
