"""Mangled files over HTTP: the server reads or refuses each in words, goes on, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from riffler.review.upload_limits import Limits
from riffler.web.settings import ServerSettings
from tests.review.mangled import mangled
from tests.web.test_files import left_files, upload
from tests.web.visits import Visit, visiting

N_QUICK, N_SOAK = 40, 1000
LIMITS = Limits(n_bytes=20_000_000, n_unpacked=50_000_000)


def outside(visit: Visit, folder: Path) -> set[str]:
    """Return what lies around the review, but for its own files."""
    return {str(path) for path in folder.rglob("*") if not path.name.startswith("whales.riffler")}


def come(visit: Visit, seed: int) -> bool:
    """Let one file come; return whether it was added."""
    file = mangled(seed)
    reply = upload(visit, file.name, file.data)
    assert reply.status_code in (201, 400, 413), (seed, file.how, reply.text)
    told = reply.json()
    if reply.is_error:
        assert len(told["error"]["message"]) > 20
        assert str(visit.app.state.house.folder.path) not in told["error"]["message"]
        return False
    if told["problem"]:
        assert visit.send("DELETE", f"/imports/{told['token']}").status_code == 204
        return False
    before = visit.review.counts()["unread"]
    done: httpx.Response = visit.post(f"/imports/{told['token']}", {"mapping": told["mapping"]})
    # columns whose names are longer than anybody writes are found, but cannot be named
    assert done.status_code in (200, 400, 413, 422), (seed, file.how, done.text)
    if done.is_error:
        assert visit.review.counts()["unread"] == before
        visit.send("DELETE", f"/imports/{told['token']}")
    return not done.is_error


def run(file: Path, seeds: range) -> int:
    with visiting(file, ServerSettings(file, limits=LIMITS)) as visit:
        before = outside(visit, file.parent)
        n_added = sum(come(visit, seed) for seed in seeds)
        assert left_files(visit) == []
        assert outside(visit, file.parent) == before
        assert visit.get("/review").status_code == 200
        assert visit.answer("d1", "relevant").status_code == 200
        return n_added


def test_mangled_files_neither_stop_the_server_nor_leave_its_folder(file: Path) -> None:
    assert 0 < run(file, range(N_QUICK)) < N_QUICK


@pytest.mark.soak
def test_many_mangled_files_neither_stop_the_server_nor_leave_its_folder(file: Path) -> None:
    assert 0 < run(file, range(10_000, 10_000 + N_SOAK)) < N_SOAK
