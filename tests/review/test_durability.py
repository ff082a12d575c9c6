"""Nothing acknowledged is lost, nothing is there twice, nothing is half-written, whenever a process is killed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from riffler.review.creating import create_review
from riffler.review.drafts import BESIDE, sweep_drafts
from riffler.review.history import HistoryFilter
from riffler.review.store import open_review
from tests.review.reviews import library, new_review, say, verdict_on

ROOT = Path(__file__).parent.parent.parent
N = 4000
HISTORY = HistoryFilter(kind="answer", n=10**6)


def writer(*arguments: object) -> subprocess.Popen[str]:
    """Start a program of writers.py, and wait until it is about to write."""
    command = [sys.executable, "-m", "tests.review.writers", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def kill_after(process: subprocess.Popen[str], seconds: float) -> list[str]:
    """Kill -9 after a while, and return what was acknowledged; a line cut short was not."""
    time.sleep(seconds)
    process.kill()
    said, _ = process.communicate()
    return said[: said.rfind("\n") + 1].split()


@pytest.mark.parametrize("n_rounds", [4, pytest.param(200, marks=pytest.mark.soak)])
def test_acknowledged_answers_survive_kill_9(tmp_path: Path, n_rounds: int) -> None:
    new_review(tmp_path, n=N).close()
    path = tmp_path / "whales.riffler"
    rng = np.random.default_rng(n_rounds)
    first = 0
    acknowledged: set[str] = set()
    for _ in range(n_rounds):
        acknowledged |= set(kill_after(writer("append", path, "ann", first, N), float(rng.uniform(0.0, 0.4))))
        with open_review(path) as review:
            keys = [line.document[1:] for line in review.history(HISTORY)]
            assert acknowledged <= set(keys)
            assert len(keys) == len(set(keys)) <= len(acknowledged) + n_rounds
            first = max(0, len(keys) - 2)  # the last ones are sent again, for their replies may be lost
            again = [say(f"d{key}", verdict_on(f"d{key}"), key=key) for key in keys[:2]]
            repeated = review.answer(again, reviewer="ann")
            assert all(one.repeated for one in repeated)
    assert acknowledged


def test_two_processes_append_at_once(tmp_path: Path) -> None:
    new_review(tmp_path, n=200).close()
    path = tmp_path / "whales.riffler"
    both = [writer("append", path, "ann", 0, 120), writer("append", path, "ann", 80, 200)]
    said = [process.communicate(timeout=120)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert [len(lines) for lines in said] == [120, 120]
    with open_review(path) as review:
        assert sorted(line.document for line in review.history(HISTORY)) == sorted(f"d{row}" for row in range(200))


def test_threads_share_a_review(tmp_path: Path) -> None:
    with new_review(tmp_path) as review, ThreadPoolExecutor(4) as pool:
        names = [f"d{row}" for row in range(60)] * 2  # each is sent twice, with the same key
        receipts = list(pool.map(lambda name: review.answer([say(name, verdict_on(name))])[0], names))
        assert sorted(one.repeated for one in receipts) == [False] * 60 + [True] * 60
        assert len(review.standings()) == 60


def test_a_kill_while_creating_leaves_a_whole_review_or_none(tmp_path: Path) -> None:
    path = tmp_path / "made.riffler"
    for seconds in (0.0, 0.1, 0.3):
        kill_after(writer("create", path, N), seconds)
        if path.exists():
            with open_review(path) as review:
                assert review.collection().n_items == N
            path.unlink()
    create_review(path, library(20)).close()
    left = [file for file in tmp_path.iterdir() if file != path and not file.name.endswith(BESIDE)]
    assert all(file.stat().st_size == 0 for file in left), "drafts of the killed were swept, but for new and empty ones"


def test_a_draft_that_somebody_works_on_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "made.riffler"
    other = writer("create", path, 5 * N)
    while not (drafts := [file for file in tmp_path.glob(".made-*.riffler") if file.stat().st_size]):
        assert other.poll() is None
    sweep_drafts(path)
    assert drafts[0].exists() or path.exists()
    said, _ = other.communicate(timeout=120)
    assert (other.returncode, said) == (0, "done\n")
    with open_review(path) as review:
        assert review.counts()["unread"] == 5 * N


def test_an_empty_draft_with_a_journal_is_swept_once_nobody_has_it_locked(tmp_path: Path) -> None:
    draft = tmp_path / ".made-abcdefgh.riffler"
    journal = draft.with_name(draft.name + "-journal")
    with closing(sqlite3.connect(draft, isolation_level=None)) as writing:
        writing.execute("PRAGMA locking_mode=EXCLUSIVE")
        writing.execute("BEGIN IMMEDIATE")
        writing.execute("CREATE TABLE things (name TEXT)")
        left = journal.read_bytes()
        assert draft.stat().st_size == 0
        sweep_drafts(tmp_path / "made.riffler")
        assert draft.exists(), "somebody is writing to it"
        assert journal.exists()
    journal.write_bytes(left or bytes(512))  # as a kill leaves it
    sweep_drafts(tmp_path / "made.riffler")
    assert not list(tmp_path.iterdir())


def test_a_kill_while_adding_leaves_all_documents_or_none(tmp_path: Path) -> None:
    new_review(tmp_path).close()
    path = tmp_path / "whales.riffler"
    for seconds in (0.0, 0.05, 0.15):
        done = kill_after(writer("add", path, N), seconds)
        with open_review(path) as review:
            n = review.collection().n_items
            assert n == 60 + N if done else n in (60, 60 + N)
            assert len(review.find("whale", n=N)) == sum("whale" in title for title in review.collection().titles)
            if n > 60:
                break
