"""Archives: another machine opens them and finds the same review; what anybody else made of one is refused."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from riffler import InputError, ReviewFileError, StorageError
from riffler.review.archive import HISTORY, MANIFEST, REVIEW, open_archive, write_archive
from riffler.review.remarks import Remark
from riffler.review.store import open_review
from tests.review.reviews import new_review, say
from tests.review.test_upgrade import first_version

Parts = dict[str, bytes]


def archived(folder: Path) -> Path:
    with new_review(folder, n=20) as review:
        review.answer([say("d0", "relevant"), say("d1", "maybe")])
        review.undo(review.answer([say("d2", "irrelevant")])[0].id, "u")
        review.note(Remark("d0", "n", note="=HYPERLINK()"))
        review.make_token("my script")
        write_archive(review, folder / "out.zip")
    return folder / "out.zip"


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_another_machine_finds_the_same_review(tmp_path: Path) -> None:
    path = archived(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    open_archive(path, elsewhere / "mine.riffler")
    assert files(elsewhere) == ["mine.riffler"]
    assert files(tmp_path) == ["elsewhere", "out.zip", "whales.riffler"]
    with open_review(tmp_path / "whales.riffler") as one, open_review(elsewhere / "mine.riffler") as other:
        assert one.name == other.name
        assert one.history() == other.history()
        assert one.standings() == other.standings()
        assert one.collection().columns.equals(other.collection().columns)
        assert one.settings == other.settings
        other.answer([say("d5", "relevant")])


def test_keys_for_programs_do_not_travel(tmp_path: Path) -> None:
    path = archived(tmp_path)
    with open_review(tmp_path / "whales.riffler") as review:
        assert len(review.tokens()) == 1
    with closing(sqlite3.connect(tmp_path / "whales.riffler")) as live:
        (secret,) = live.execute("SELECT hash FROM tokens").fetchone()
    with zipfile.ZipFile(path) as archive:
        assert secret.encode() not in archive.read(REVIEW)
    open_archive(path, tmp_path / "mine.riffler")
    with open_review(tmp_path / "mine.riffler") as review:
        assert review.tokens() == []


def test_an_archive_can_be_read_by_eye(tmp_path: Path) -> None:
    with zipfile.ZipFile(archived(tmp_path)) as archive:
        assert sorted(archive.namelist()) == sorted((MANIFEST, REVIEW, HISTORY))
        manifest = json.loads(archive.read(MANIFEST))
        history = archive.read(HISTORY).decode("utf-8-sig").splitlines()
    assert manifest["name"] == "whales"
    assert manifest["counts"]["relevant"] == 1
    assert len(history) == 6
    assert "'=HYPERLINK()" in history[-1]


def change_manifest(parts: Parts, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads(parts[MANIFEST])
    change(manifest)
    parts[MANIFEST] = json.dumps(manifest).encode()


def other_bytes(parts: Parts) -> None:
    parts[REVIEW] = parts[REVIEW][:-1] + bytes([parts[REVIEW][-1] ^ 1])


def shorter(parts: Parts) -> None:
    parts[REVIEW] = parts[REVIEW][:-4096]


def replace_review(parts: Parts, data: bytes) -> None:
    parts[REVIEW] = data
    described = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change_manifest(parts, lambda manifest: manifest["files"].update({REVIEW: described}))


def no_review(parts: Parts) -> None:
    replace_review(parts, b"hello" * 100)


def with_sql(*statements: str) -> Callable[[Parts], None]:
    """Change the review in an archive by SQL, and the manifest so that it fits."""

    def change(parts: Parts) -> None:
        with closing(sqlite3.connect(":memory:")) as review:
            data = parts[REVIEW]
            review.deserialize(data[:18] + b"\x01\x01" + data[20:])  # in memory there is no write-ahead log
            for statement in statements:
                review.execute(statement)
            review.commit()
            replace_review(parts, review.serialize())

    return change


LIAR = "AFTER INSERT ON ledger BEGIN UPDATE ledger SET verdict = 'irrelevant' WHERE id = new.id; END"


TRICKS: dict[str, Callable[[Parts], Any]] = {
    "not what it should have": shorter,
    "sum is not the one": other_bytes,
    "damaged": no_review,
    "newer Riffler": lambda parts: change_manifest(parts, lambda manifest: manifest.update(version=2)),
    "another program": lambda parts: change_manifest(parts, lambda manifest: manifest.update(kind="x")),
    "not an archive of a review": lambda parts: parts.update({MANIFEST: b"{"}),
    "not an archive": lambda parts: parts.update({MANIFEST: b"[" * 100_000}),
    "archive of a review": lambda parts: change_manifest(parts, lambda manifest: manifest.pop("files")),
    "manifest is too long": lambda parts: parts.update({MANIFEST: b" " * 2_000_000}),
    "'../evil'": lambda parts: parts.update({"../evil": b"x"}),
    "'/evil'": lambda parts: parts.update({"/evil": b"x"}),
    "not a review": lambda parts: parts.pop(REVIEW),
    "did not make ('evil')": with_sql(f"CREATE TRIGGER evil {LIAR}"),
    "did not make ('ledger_UPDATE')": with_sql("DROP TRIGGER ledger_UPDATE", f"CREATE TRIGGER ledger_UPDATE {LIAR}"),
    "did not make ('ledger_DELETE')": with_sql("DROP TRIGGER ledger_DELETE"),
    "did not make ('seen')": with_sql("CREATE VIEW seen AS SELECT * FROM ledger"),
    "did not make ('more')": with_sql("CREATE TABLE more (x)"),
    "did not make ('tokens')": with_sql("ALTER TABLE tokens ADD COLUMN x"),
    "did not make ('ix_more')": with_sql("CREATE INDEX ix_more ON ledger (note)"),
}


@pytest.mark.parametrize("words", TRICKS)
def test_what_was_changed_is_refused(tmp_path: Path, words: str) -> None:
    path = archived(tmp_path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    TRICKS[words](parts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    before = files(tmp_path)
    with pytest.raises(ReviewFileError, match=re.escape(words)):
        open_archive(path, tmp_path / "mine.riffler")
    assert files(tmp_path) == before


def test_links_repeats_and_sizes_are_refused(tmp_path: Path) -> None:
    path = archived(tmp_path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            part = zipfile.ZipInfo(name)
            part.external_attr = (stat.S_IFLNK | 0o777) << 16 if name == REVIEW else 0
            archive.writestr(part, b"/etc/passwd" if name == REVIEW else data)
    with pytest.raises(ReviewFileError, match="links"):
        open_archive(path, tmp_path / "mine.riffler")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(REVIEW, b"x")
    with pytest.raises(ReviewFileError, match="not a review"):
        open_archive(path, tmp_path / "mine.riffler")
    (tmp_path / "again").mkdir()
    good = archived(tmp_path / "again")
    with pytest.raises(ReviewFileError, match="bytes"):
        open_archive(good, tmp_path / "mine.riffler", most_bytes=1000)
    assert "mine.riffler" not in files(tmp_path)


def test_an_archive_of_an_older_version_is_opened(tmp_path: Path) -> None:
    path = archived(tmp_path)
    first_version(tmp_path / "old.riffler")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    replace_review(parts, (tmp_path / "old.riffler").read_bytes())
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    open_archive(path, tmp_path / "mine.riffler")
    with open_review(tmp_path / "mine.riffler") as review:
        assert review.counts()["relevant"] == 1


def test_files_that_are_no_archives_and_bad_places(tmp_path: Path) -> None:
    path = archived(tmp_path)
    whole = path.read_bytes()
    for data in (b"", b"PK\x03\x04", b"hello", whole[: len(whole) // 2], whole[100:]):
        path.write_bytes(data)
        with pytest.raises(ReviewFileError):
            open_archive(path, tmp_path / "mine.riffler")
    path.write_bytes(whole)
    with pytest.raises(InputError, match="a file already"):
        open_archive(path, tmp_path / "whales.riffler")
    with pytest.raises(InputError, match="no folder"):
        open_archive(path, tmp_path / "no" / "mine.riffler")
    with pytest.raises(ReviewFileError, match="no such file"):
        open_archive(tmp_path / "no.zip", tmp_path / "mine.riffler")
    with open_review(tmp_path / "whales.riffler") as review, pytest.raises(StorageError):
        write_archive(review, tmp_path / "no" / "out.zip")
    assert files(tmp_path) == ["out.zip", "whales.riffler"]
