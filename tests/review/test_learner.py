"""The learner process: fills the queue, follows the ledger, survives kill -9, and never outlives who started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
import psutil
import pytest

from riffler.disk import DiskCollection
from riffler.engine import rows_on_disk
from riffler.errors import DataFileError, LeaseLost, StorageError
from riffler.review import learner as learning
from riffler.review.creating import create_folder_review, create_review
from riffler.review.live import LiveSearch
from riffler.review.store import FileReview, open_review
from riffler.review.supervisor import DONE, WELL, LearnerKeeper
from riffler.search.ground import Place
from riffler.search.loop import ActiveSearch
from tests.review.reviews import SETTINGS, library, new_review, say, verdict_on
from tests.search.on_disk import NotedEngine, labelled_documents, made_collection
from tests.waiting import PATIENCE, wait_until


def read(review: FileReview, n: int, reviewer: str = "reviewer") -> None:
    """Answer about n documents of the queue, each shown first."""
    for _ in range(n):
        wait_until(lambda: review.upcoming(1, reviewer=reviewer))
        (queued,) = review.upcoming(1, reviewer=reviewer)
        review.answer([say(queued.document, verdict_on(queued.document), f"key {queued.document}", queued.id)])


def is_caught_up(review: FileReview) -> bool:
    progress = review.progress()
    return progress is not None and not progress.stale and progress.n_behind == 0 and not review.pending()


def learner(path: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "riffler.review.learner", str(path), *more]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said


@pytest.fixture
def review(tmp_path: Path) -> FileReview:
    return new_review(tmp_path, n=300)


@pytest.fixture
def of_folder(tmp_path: Path) -> Iterator[FileReview]:
    made = made_collection(labelled_documents(60, n_relevant=9), tmp_path / "snow", n_items=30)
    with create_folder_review(tmp_path / "snow.riffler", made, known=np.empty(0, dtype=np.int64)) as review:
        yield review


def test_a_learner_that_ends_when_idle_works_on_the_engine_that_was_named(of_folder: FileReview) -> None:
    process = learner(of_folder.path, "--idle", "1", "--engine", "owl")
    assert process.wait(PATIENCE) == 1
    _, said = ended(process)
    assert "No engine called 'owl'" in said


def test_it_follows_the_ledger_through_answers_undo_a_crash_and_new_documents(review: FileReview) -> None:
    with review, LearnerKeeper(review.path) as keeper:
        read(review, 30)
        wait_until(lambda: is_caught_up(review))
        check_pictures(review)
        assert psutil.Process(keeper.pid).nice() == learning.NICENESS

        review.undo_last("undo")
        progress = review.progress()
        assert progress is not None
        assert (progress.stale, progress.values["advice"], progress.values["recall"]) == (True, "unknown", None)
        wait_until(lambda: is_caught_up(review))
        check_pictures(review)

        first = keeper.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        read(review, 5)
        wait_until(lambda: keeper.pid not in (None, first))
        wait_until(lambda: is_caught_up(review))
        check_pictures(review)
        assert keeper.n_starts == 2

        review.add_documents(library(30, prefix="e"))
        wait_until(lambda: is_caught_up(review))
        check_pictures(review)
    assert not keeper.alive
    assert [file.name for file in review.path.parent.iterdir()] == ["whales.riffler"]


def check_pictures(review: FileReview) -> None:
    """What the learner left is what a search says that is made anew from the file."""
    picture, names = review.picture("progress"), ("scores", "terms", "map")
    assert picture is not None
    values = picture.read()
    wait_until(lambda: all((one := review.picture(name)) and one.ledger_id == picture.ledger_id for name in names), 40)
    wait_until(
        lambda: n_mapped(review) == n_scored(review) == values["n_documents"], 40
    )  # documents leave no trace in the ledger
    search = LiveSearch(review).search
    counts = review.counts()
    assert values["n_documents"] == search.collection.n_items == sum(counts.values())
    assert values["n_relevant"] == counts["relevant"] == values["curve"][-1][1]
    assert values["n_reviewed"] == len(review.standings()) == values["curve"][-1][0]
    assert values["decision"]["reason"] == search.estimate().reason
    assert values["recall"]["total_high"] == search.recall().total_high
    assert [one["n"] for one in values["strata"]] == [len(ids) for ids in review.strata().values()]
    assert sum(one["n_relevant"] for one in values["strata"]) == counts["relevant"]
    scores, map_, terms = (review.picture(name) for name in ("scores", "map", "terms"))
    assert scores is not None
    assert map_ is not None
    assert terms is not None
    np.testing.assert_allclose(np.frombuffer(scores.payload, np.float32), search.scores(), rtol=1e-5, atol=1e-6)
    clusters = map_.read()["clusters"]
    assert sum(one["n_relevant"] for one in clusters) == counts["relevant"]
    assert terms.read()[0][1] > 0
    json.dumps(values, allow_nan=False)


def n_mapped(review: FileReview) -> int:
    picture = review.picture("map")
    return 0 if picture is None else sum(one["size"] for one in picture.read()["clusters"])


def n_scored(review: FileReview) -> int:
    picture = review.picture("scores")
    return 0 if picture is None else len(picture.payload) // np.dtype(np.float32).itemsize


def test_a_second_learner_stands_by_and_takes_over(review: FileReview) -> None:
    with review:
        first = learner(review.path, "--holder", "first")
        wait_until(lambda: review.picture("progress"))
        second = learner(review.path, "--holder", "second")
        time.sleep(3.0)
        assert second.poll() is None
        first.terminate()
        assert ended(first) == (0, f"{WELL}\n")
        read(review, 10)
        wait_until(lambda: is_caught_up(review))
        second.terminate()
        assert ended(second) in [(0, f"{WELL}\n"), (0, "")]  # it says so a moment after it has caught up


def test_it_ends_when_its_standard_input_is_closed(review: FileReview) -> None:
    review.close()
    process = learner(review.path)
    wait_until(lambda: review.upcoming(1))
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    assert process.stderr is not None
    process.stderr.close()
    review.close()


PARENT = "import sys; from riffler.review.supervisor import LearnerKeeper as K; K(sys.argv[1]).start(); input()"


def test_it_does_not_outlive_a_parent_that_is_killed(review: FileReview) -> None:
    with review:
        command = [sys.executable, "-c", PARENT, str(review.path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as parent:
            wait_until(lambda: review.upcoming(1))
            (child,) = psutil.Process(parent.pid).children()
            parent.kill()
        wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_what_ends_it_is_said_in_words_and_it_is_tried_again(tmp_path: Path) -> None:
    with LearnerKeeper(tmp_path / "nothing.riffler") as keeper:
        wait_until(lambda: keeper.n_starts > 1)
        assert "there is no such file" in keeper.last_error
        assert "Traceback" not in keeper.last_error
        start = time.monotonic()
        keeper.stop()
        assert time.monotonic() - start < 10.0


SCRIPT = """
import sys, time
from pathlib import Path
from riffler.review.supervisor import WELL
turn = Path(sys.argv[1])
if not turn.exists():
    turn.touch()
    sys.exit("It cannot begin.")
while not turn.read_text():
    time.sleep(0.02)
print(WELL, file=sys.stderr, flush=True)
sys.stdin.read()
"""


def test_what_ended_it_is_said_until_another_has_begun_to_work(tmp_path: Path) -> None:
    keeper, turn = LearnerKeeper(), tmp_path / "turn"
    keeper._command = [sys.executable, "-c", SCRIPT, str(turn)]
    with keeper:
        wait_until(lambda: keeper.n_starts > 1 and keeper.alive)
        assert keeper.last_error == "It cannot begin."
        turn.write_text("go on")
        wait_until(lambda: not keeper.last_error)
        assert keeper.alive


def test_an_unexpected_error_is_said_without_the_words_of_a_document() -> None:
    try:
        int("my secret abstract")
    except ValueError as error:
        said = learning._in_short(error)
    assert "ValueError at test_learner.py" in said
    assert "secret" not in said


def steps(monkeypatch: pytest.MonkeyPatch, outcomes: Sequence[BaseException | None]) -> None:
    """Let the steps of the learner come out so, one after the other; nobody waits, and nobody steps back."""
    left = iter(outcomes)

    def step(self: learning.Loop) -> None:
        outcome = next(left)
        if outcome is not None:
            raise outcome

    monkeypatch.setattr(learning.Loop, "step", step)
    monkeypatch.setattr(learning, "_step_back", lambda: None)
    for name in ("TROUBLE_SECONDS", "STANDBY_SECONDS", "SOON"):
        monkeypatch.setattr(learning, name, 0.0)


def test_a_full_disk_is_said_and_does_not_end_it(
    review: FileReview, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps(monkeypatch, [None, StorageError("The disk is full."), None, KeyboardInterrupt()])
    with review, pytest.raises(KeyboardInterrupt):
        learning.learn(review, "me")
    assert capsys.readouterr().err == f"{WELL}\nThe disk is full.\n"


def test_who_lost_the_lease_waits_for_it_again(
    review: FileReview, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps(monkeypatch, [None, LeaseLost("Another learner has taken over."), None, KeyboardInterrupt()])
    with review, pytest.raises(KeyboardInterrupt):
        learning.learn(review, "me")
    assert "taken over" in capsys.readouterr().err


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[NotedEngine]:
    """Collect the engines that learners make from now on."""
    made: list[NotedEngine] = []

    def make(collection: DiskCollection, place: Place) -> NotedEngine:
        made.append(NotedEngine(rows_on_disk(collection)))
        return made[-1]

    monkeypatch.setattr("riffler.review.live._engine", make)
    return made


def test_who_loses_the_lease_or_fails_lets_go_of_its_engine(
    of_folder: FileReview, engines: list[NotedEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps(monkeypatch, [LeaseLost("Gone."), None, LeaseLost("Gone again."), None, KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        learning.learn(of_folder, "me")
    assert [engine.is_closed for engine in engines] == [True] * 3
    assert not learning.RUNNING


def test_who_is_not_needed_any_more_lets_go_of_its_engine(
    of_folder: FileReview, engines: list[NotedEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps(monkeypatch, [None, LeaseLost("Gone.")])
    for idle_seconds in (0.0, 60.0):  # nothing is new, and another one has taken over
        assert learning.learn_while_needed(of_folder, "me", idle_seconds) == DONE
    assert [engine.is_closed for engine in engines] == [True] * 2


def test_a_search_that_cannot_begin_lets_go_of_its_engine(
    of_folder: FileReview, engines: list[NotedEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise DataFileError("partition 1 is damaged")

    monkeypatch.setattr(ActiveSearch, "replay", refuse)
    with pytest.raises(DataFileError):
        LiveSearch(of_folder)
    assert [engine.is_closed for engine in engines] == [True]


def test_who_is_asked_to_leave_lets_go_of_its_engine(
    of_folder: FileReview, engines: list[NotedEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(code: int) -> NoReturn:
        raise SystemExit(code)

    held: list[bool] = []

    def close(engine: NotedEngine) -> None:
        with open_review(of_folder.path) as other:
            held.append(not other.take_lease("b"))

    monkeypatch.setattr(NotedEngine, "close", close)
    monkeypatch.setattr(learning, "LEAVING", threading.Event())
    monkeypatch.setattr(os, "_exit", end)
    assert of_folder.take_lease("a")
    learning.Loop(of_folder)
    with pytest.raises(SystemExit):
        learning._leave(of_folder)
    assert held == [True]  # while it may still write nobody else learns
    assert of_folder.take_lease("b")


def start_and_stop(path: Path) -> None:
    keeper = LearnerKeeper(path)
    keeper.stop()
    keeper.start()
    keeper.start()
    wait_until(lambda: keeper.alive)
    keeper.stop()
    keeper.stop()
    assert not keeper.alive


def test_stopping_leaves_no_process_and_no_pipe(tmp_path: Path) -> None:
    create_review(tmp_path / "whales.riffler", library(30), SETTINGS).close()
    me = psutil.Process()
    before, children = me.num_fds(), me.children()
    for _ in range(2):
        start_and_stop(tmp_path / "whales.riffler")
    assert me.num_fds() == before
    assert me.children() == children
