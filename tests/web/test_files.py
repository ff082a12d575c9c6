"""Files in and out over HTTP: previews, imports, exports, backups; nothing is left behind."""

from __future__ import annotations

import errno
import io
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import httpx
import polars as pl
import pytest

from riffler.data import held_folder
from riffler.review.archive import open_archive
from riffler.review.store import open_review
from riffler.review.upload_limits import Limits
from riffler.web.settings import ServerSettings
from riffler.web.uploads import PREFIX, PrivateFolder
from tests.web.visits import API, Visit, error_of, visiting

NEW = b"id,title,abstract\nd0,whale whale 0,known\ne1,A new whale,About fins\ne2,A new bond,About prices\n"


def upload(visit: Visit, name: str, content: bytes) -> httpx.Response:
    return visit.client.post(f"{API}/imports", files={"file": (name, content)}, headers=visit.guards)


def kept_files(visit: Visit) -> list[str]:
    return sorted(path.name for path in visit.app.state.house.folder.path.iterdir() if path.name != "lock")


def left_files(visit: Visit) -> list[str]:
    """Return what lies in the private folder; a file that was sent is removed a moment after its last byte."""
    end = time.monotonic() + 60
    while kept_files(visit) and time.monotonic() < end:
        time.sleep(0.01)
    return kept_files(visit)


def test_a_file_is_looked_at_and_then_added(visit: Visit) -> None:
    reply = upload(visit, "more.csv", NEW)
    assert reply.status_code == 201
    told = reply.json()
    assert (told["name"], told["format"], told["n_rows"], told["problem"]) == ("more.csv", "delimited", 3, "")
    assert told["columns"] == ["id", "title", "abstract"]
    assert told["mapping"] == {"title": "title", "abstract": "abstract", "text": None, "id": "id", "label": None}
    assert told["sample"][1]["title"] == "A new whale"
    assert (told["arrival"]["n_new"], told["arrival"]["n_known"]) == (2, 1)
    assert visit.get("/review").json()["counts"]["unread"] == 60
    done = visit.post(f"/imports/{told['token']}", {"mapping": told["mapping"]})
    assert done.json()["n_new"] == 2
    assert visit.get("/review").json()["counts"]["unread"] == 62
    assert [one["source"] for one in visit.get("/review").json()["strata"]] == ["frame", "more.csv"]
    assert visit.get("/document", id="e1").json()["abstract"] == "About fins"
    assert left_files(visit) == []
    assert error_of(visit.post(f"/imports/{told['token']}", {}))[:2] == (404, "not_found")


def test_columns_can_be_chosen_and_a_wrong_choice_can_be_repaired(visit: Visit) -> None:
    told = upload(visit, "odd.csv", b"nr,Titel\n1,Wale\n2,Fische\n").json()
    assert "title" in told["problem"]
    assert told["arrival"] is None
    path = f"/imports/{told['token']}"
    assert error_of(visit.post(path, {"mapping": {"title": "Nothing"}}))[:2] == (400, "bad_input")
    assert visit.post(path, {"mapping": {"title": "Titel", "id": "nr"}}).json()["n_new"] == 2
    assert visit.get("/document", id="1").json()["title"] == "Wale"


def test_an_import_that_is_dropped_leaves_nothing(visit: Visit) -> None:
    told = upload(visit, "more.csv", NEW).json()
    assert visit.send("DELETE", f"/imports/{told['token']}").status_code == 204
    assert left_files(visit) == []
    assert visit.send("DELETE", f"/imports/{told['token']}").status_code == 404


def test_only_the_latest_uploads_wait(visit: Visit) -> None:
    for _ in range(12):
        upload(visit, "more.csv", NEW)
    assert len(kept_files(visit)) == 8


@pytest.mark.parametrize("name", ["../../evil.csv", "/etc/passwd.csv", "C:\\evil.csv", "a\0b.csv", "é\n.csv", ".csv"])
def test_the_name_of_an_upload_is_never_a_path(visit: Visit, name: str, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if "whales" not in path.name}
    reply = upload(visit, name, NEW)
    assert reply.status_code in (201, 400)
    if reply.status_code == 201:
        assert not set(reply.json()["name"]) & set("/\\\n\0")
    assert {path for path in tmp_path.rglob("*") if "whales" not in path.name} == before
    assert all(path.endswith(".csv") and len(path) == 36 for path in kept_files(visit))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("papers.pdf", b"%PDF", "pdf"),
        ("papers.zip", b"PK\x03\x04", "archives are not read"),
        ("papers.csv", b"", "empty"),
        ("papers.xlsx", b"no spreadsheet", "spreadsheet"),
        ("papers.ris", b"TY  - JOUR\n", "TI"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_words(visit: Visit, name: str, content: bytes, words: str) -> None:
    reply = upload(visit, name, content)
    told = reply.json()
    message = told["error"]["message"] if reply.is_error else told["problem"]
    assert words.lower() in message.lower()
    assert str(visit.app.state.house.folder.path) not in message
    assert reply.status_code in (201, 400)


def test_a_form_without_a_file_is_refused(visit: Visit) -> None:
    reply = visit.client.post(f"{API}/imports", files={"other": ("a.csv", b"x")}, headers=visit.guards)
    assert error_of(reply)[:2] == (400, "bad_input")
    broken = visit.client.post(
        f"{API}/imports", content=b"nonsense", headers={**visit.guards, "content-type": "multipart/form-data"}
    )
    assert broken.status_code == 400


def test_limits_of_uploads_are_said(file: Path) -> None:
    settings = ServerSettings(file, limits=Limits(n_bytes=100_000, n_rows=2, n_unpacked=50_000))
    with visiting(file, settings) as visit:
        assert error_of(upload(visit, "a.csv", b"id,title\n" + b"x" * 200_000))[:2] == (413, "too_large")
        assert error_of(upload(visit, "a.csv", b"id,title\n" + b"1,whale\n" * 20_000))[0] in (400, 413)
        assert "more than 2 rows" in error_of(upload(visit, "a.csv", NEW))[2]
        bomb = io.BytesIO()
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("xl/worksheets/sheet1.xml", b"0" * 10_000_000)
        assert "unpacked" in error_of(upload(visit, "a.xlsx", bomb.getvalue()))[2]
        assert left_files(visit) == []
        assert visit.get("/review").status_code == 200


def test_an_upload_of_unknown_length_is_cut_off(file: Path) -> None:
    def long() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(100):
            yield b"1,whale\n" * 8192

    with visiting(file, ServerSettings(file, limits=Limits(n_bytes=100_000))) as visit:
        headers = {**visit.guards, "content-type": "multipart/form-data; boundary=x"}
        reply = visit.client.post(f"{API}/imports", content=long(), headers=headers)
        assert error_of(reply)[:2] == (413, "too_large")
        assert left_files(visit) == []
        assert visit.get("/review").status_code == 200


def test_an_upload_that_breaks_off_leaves_nothing(visit: Visit, caplog: pytest.LogCaptureFixture) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in visit.client.cookies.items())
    headers = {
        **visit.guards, "host": visit.client.base_url.netloc.decode(), "cookie": cookie, "content-length": "9000000",
        "content-type": "multipart/form-data; boundary=x",
    }  # fmt: skip
    head = f"POST {API}/imports HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    with socket.create_connection(("127.0.0.1", visit.client.base_url.port or 0)) as connection:
        connection.sendall(f"{head}\r\n{part}".encode() + b"1,whale\n" * 500_000)
    time.sleep(0.5)
    assert left_files(visit) == []
    assert "fault" not in caplog.text
    assert visit.get("/review").status_code == 200


@pytest.mark.parametrize("format", ["csv", "xlsx", "ris", "parquet", "jsonl"])
def test_exports_are_sent_as_files(visit: Visit, format: str) -> None:
    visit.answer("d0", "relevant")
    reply = visit.get("/export", format=format)
    assert reply.status_code == 200
    assert reply.headers["content-disposition"] == f'attachment; filename="whales.{format}"'
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert len(reply.content) > 100
    assert left_files(visit) == []
    if format == "csv":
        labelled = pl.read_csv(reply.content).filter(pl.col("riffler_label") == 1)
        assert labelled["id"].to_list() == ["d0"]
        only = pl.read_csv(visit.get("/export", format="csv", which="relevant").content)
        assert only.height == 1


def test_the_history_is_sent_as_a_file(visit: Visit) -> None:
    visit.answer("d0", "relevant")
    visit.answer("d0", "maybe")
    assert pl.read_csv(visit.get("/history/export").content)["verdict"].to_list() == ["relevant", "maybe"]


def test_a_backup_opens_as_a_review(visit: Visit, tmp_path: Path) -> None:
    visit.answer("d0", "relevant")
    (tmp_path / "copy.riffler").write_bytes(visit.get("/backup").content)
    with open_review(tmp_path / "copy.riffler") as review:
        assert list(review.standings()) == ["d0"]
    assert left_files(visit) == []


def test_an_archive_opens_elsewhere_and_carries_no_tokens(visit: Visit, tmp_path: Path) -> None:
    visit.answer("d0", "relevant")
    visit.post("/tokens", {"name": "script"})
    (tmp_path / "copy.zip").write_bytes(visit.get("/archive").content)
    open_archive(tmp_path / "copy.zip", tmp_path / "copy.riffler")
    with open_review(tmp_path / "copy.riffler") as review:
        assert list(review.standings()) == ["d0"]
        assert review.tokens() == []


def test_prisma_counts(visit: Visit) -> None:
    visit.answer("d0", "relevant")
    rows = visit.get("/prisma").json()
    assert all(set(row) == {"words", "n"} for row in rows)
    assert 60 in [row["n"] for row in rows]


def test_the_folder_of_uploads_is_private_and_gone_at_the_end(file: Path) -> None:
    with visiting(file) as visit:
        folder = visit.app.state.house.folder.path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        upload(visit, "more.csv", NEW)
    assert not folder.exists()


def test_what_a_killed_server_left_is_swept_and_what_a_living_one_has_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    code = "import os; from riffler.web.uploads import PrivateFolder as F; f = F(); f.new_path().touch(); os.abort()"
    subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert len(list(tmp_path.glob(f"{PREFIX}*"))) == 1
    first = PrivateFolder()
    second = PrivateFolder()
    assert {path.name for path in tmp_path.glob(f"{PREFIX}*")} == {first.path.name, second.path.name}
    first.remove()
    second.remove()
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


@pytest.mark.parametrize(("number", "status"), [(errno.ENOSPC, 507), (errno.EIO, 503)])
@pytest.mark.parametrize("path", ["/export", "/export?format=parquet", "/history/export", "/archive"])
def test_what_goes_wrong_with_the_disk_is_said_without_the_places_of_the_server(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, path: str, number: int, status: int
) -> None:
    def broken(self: Path, target: Path) -> Path:
        raise OSError(number, os.strerror(number), str(self))

    monkeypatch.setattr(Path, "replace", broken)
    reply = visit.client.get(API + path)
    assert reply.status_code == status
    assert error_of(reply)[2].startswith("whales")
    assert str(visit.app.state.house.folder.path) not in reply.text
    assert left_files(visit) == []


def test_a_server_that_sweeps_while_another_starts_takes_no_folder_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    take = held_folder._try_lock
    swept: list[IO[str]] = []

    def late(lock: IO[str]) -> bool:
        if not swept:
            swept.append(lock)
            held_folder.sweep(PREFIX)
        return take(lock)

    monkeypatch.setattr(held_folder, "_try_lock", late)
    folder = PrivateFolder()
    assert swept
    held_folder.sweep(PREFIX)
    folder.new_path().touch()
    assert list(tmp_path.iterdir()) == [folder.path]
    folder.remove()
