"""The learner of a review, a process of its own: takes in answers, fills the queue, leaves pictures.

    python -m riffler.review.learner papers.riffler --holder NAME
    RIFFLER_LEARNER_DATABASE=postgresql://... python -m riffler.review.learner --review 7 --idle 900

The address of a database may hold a password, and everybody on a machine can read command lines: it comes in the
environment. The learner works at low priority, ends when its standard input is closed (so it never outlives who started
it) or on SIGTERM, and may be killed at any moment: everything it writes is whole or not there.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from riffler.engine import TlsFiles
from riffler.errors import ConnectionLost, EngineError, LeaseLost, RifflerError, StorageError
from riffler.review.database import connect
from riffler.review.first_queue import first_proposals
from riffler.review.lease import LEASE_SECONDS
from riffler.review.live import LiveSearch
from riffler.review.painter import BUSY_SHARE, IDLE_SHARE, Painter
from riffler.review.rounds import Revision
from riffler.review.store import Review, open_review
from riffler.review.supervisor import DATABASE, DONE, WELL
from riffler.search.ground import Place

BATCH, QUEUE = 10, 50  # what is suggested at a time, and what is ready should the search be late
QUEUE_EACH = 4  # and more for each member of a team: all may come at once
FIRST_QUEUE = 200  # before the texts are read; a whole team may come at once

NICENESS = 15  # low: who waits for a document shall not wait for what is learned from others
SOON, LATER = 0.05, 0.4  # seconds between two looks: while people answer, and when nobody did for a while
AWAKE_SECONDS = 20.0
STANDBY_SECONDS = 1.0
SWEEP_SECONDS = 10.0
TROUBLE_SECONDS = 2.0
FAREWELL_SECONDS = 3.0  # for an engine to let go; the supervisor is patient for a little longer
LEAVING = threading.Event()
RUNNING: set[Loop] = set()
"""The loop that goes on now, if one does: who leaves lets go of its engine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the learner until it is asked to end; return the exit code."""
    parser = argparse.ArgumentParser(prog="riffler.review.learner", description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help=f"file of the review (default: the database in {DATABASE})")
    parser.add_argument("--review", type=int, help="number of the review in that database")
    parser.add_argument("--idle", type=float, default=math.inf, help="end after so many seconds without anything new")
    parser.add_argument("--holder", default=f"process {os.getpid()}", help="name under which the lease is held")
    parser.add_argument("--engine", default="local", help="where the steps on a collection on disk run")
    for part in ("ca", "cert", "key"):
        parser.add_argument(f"--tls-{part}", type=Path, help="PEM file, for an engine with TLS")
    wanted = parser.parse_args(arguments)
    try:
        # It is never closed, which would wait for readers: what is in the log beside the file is moved into it by the
        # server, or by whoever opens the review next.
        review = _opened(wanted)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: threading.Thread(target=_leave, args=(review,)).start())
        threading.Thread(target=_end_with_parent, args=(review,), daemon=True).start()
        if wanted.idle < math.inf:
            return learn_while_needed(review, wanted.holder, wanted.idle, _place(wanted))
        learn(review, wanted.holder, _place(wanted))
    except ConnectionLost:  # the error itself names hosts and users
        said = "The database does not answer. The search goes on when it does."
    except EngineError as error:
        said = f"{error} Every answer so far is kept."
    except RifflerError as error:
        said = str(error)
    except Exception as error:  # the last stop: whatever it is, the supervisor gets a line that it may show
        said = _in_short(error)
    _wait_if_leaving()
    _say(said)
    return 1


def learn(review: Review, holder: str, place: Place = Place()) -> NoReturn:  # noqa: B008 - frozen
    """Be the learner whenever nobody else is, for ever."""
    while True:
        while not review.take_lease(holder):
            time.sleep(STANDBY_SECONDS)
        try:
            with _renewing(review), closing(Loop(review, place=place)) as loop:
                loop.run()
        except LeaseLost as error:
            _wait_if_leaving()
            _say(str(error))


def learn_while_needed(review: Review, holder: str, idle_seconds: float, place: Place = Place()) -> int:  # noqa: B008
    """Be the learner until nothing more is to be learned, or somebody else is; return the exit code."""
    if review.take_lease(holder):
        with suppress(LeaseLost), _renewing(review):
            with closing(Loop(review, idle_seconds, place)) as loop:
                loop.run()
            review.drop_lease()
    return DONE


class Loop:
    """Looks for what is new, learns from it, and leaves pictures; after ``idle_seconds`` without anything it ends.

    Whoever made it closes it.
    """

    def __init__(self, review: Review, idle_seconds: float = math.inf, place: Place = Place()) -> None:  # noqa: B008
        start = time.monotonic()
        self._review, self._idle_seconds = review, idle_seconds
        if review.folder is None and not review.has_begun():  # somebody may wait, and the texts are not read yet
            review.fill_queue(first_proposals(review, BATCH, ahead=FIRST_QUEUE))
        self._live = LiveSearch(review, place)
        self._painter = Painter(self._live)
        self._seen: tuple[int, Revision, object] | None = None
        self._news_at = time.monotonic()
        self._seconds_to_build = self._news_at - start
        self._seconds_to_learn = 0.0
        self._swept_at = start
        RUNNING.add(self)

    def close(self) -> None:
        """Let go of the engine, and of what is made in the background; nobody waits for that."""
        RUNNING.discard(self)
        self._painter.close()
        self._live.close()

    def run(self) -> None:
        """Go on until an exception ends it, or nobody needs it any more."""
        self.step()
        _say(WELL)
        _step_back()  # not before: somebody waits for the first document
        while time.monotonic() - self._news_at < self._idle_seconds:
            try:
                self.step()
            except ConnectionLost:
                raise  # whether the last round was written is not known: a new learner begins from what is there
            except StorageError as error:  # a full disk may have room later, and what was said is safe
                _say(str(error))
                time.sleep(TROUBLE_SECONDS)
            is_awake = time.monotonic() - self._news_at < AWAKE_SECONDS
            time.sleep(SOON if is_awake else LATER)

    def step(self) -> None:
        """Take in what is new, if anything is, and make the pictures that are due."""
        queue = self._review.queue_now()
        wanted = QUEUE + QUEUE_EACH * queue.n_members
        lacking = (
            (queue.n_ahead, queue.n_in_hand) if queue.n_waiting < wanted // 2 else None
        )  # many came and took it all
        now = (self._review.last_remark(), self._review.revision(), lacking)  # before it learns: more may come
        is_new = now != self._seen
        if queue.is_read_from:
            self._news_at = time.monotonic()
        if is_new:
            start = time.monotonic()
            self._live.refresh(BATCH, ahead=wanted + queue.n_ahead)
            self._news_at = time.monotonic()
            self._seconds_to_learn = self._news_at - start
            self._seen = now
        if time.monotonic() - self._swept_at > SWEEP_SECONDS:
            self._review.sweep_queue()
            self._swept_at = time.monotonic()
        pictures = self._painter.due(now[0], self._timing(), BUSY_SHARE if is_new else IDLE_SHARE)
        if pictures:
            self._review.keep_pictures(pictures)

    def _timing(self) -> dict[str, float | int]:
        return {
            "seconds_to_build": round(self._seconds_to_build, 3),
            "seconds_to_learn": round(self._seconds_to_learn, 3),
            "n_rounds": self._live.search.progress().round,
        }


def _place(wanted: argparse.Namespace) -> Place:
    if wanted.tls_ca is None:
        return Place(wanted.engine)
    return Place(wanted.engine, TlsFiles(wanted.tls_ca, wanted.tls_cert, wanted.tls_key))


def _opened(wanted: argparse.Namespace) -> Review:
    if wanted.path is not None:
        return open_review(wanted.path)
    return Review(connect(os.environ[DATABASE]), wanted.review)


@contextmanager
def _renewing(review: Review) -> Iterator[None]:
    """Renew the lease in the background, for learning may take longer than it lasts."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(LEASE_SECONDS / 3):
            try:
                review.renew_lease()
            except LeaseLost:
                return  # the next write of the learner finds it out too
            except StorageError as error:
                _say(str(error))

    threading.Thread(target=renew, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _step_back() -> None:
    """Let the page have the processor first.

    This needs a learner in the session of its server: Linux shares the processor among sessions first, whatever the
    niceness of those in them.
    """
    if hasattr(os, "nice") and os.nice(0) < NICENESS:
        os.nice(NICENESS - os.nice(0))


def _leave(review: Review) -> NoReturn:
    """Free the engine and the lease, and end, whatever is going on: every write is whole or not there."""
    LEAVING.set()
    for loop in list(RUNNING):
        farewell = threading.Thread(target=loop.close, daemon=True)
        farewell.start()
        farewell.join(FAREWELL_SECONDS)
    with suppress(RifflerError):  # it may have no lease
        review.drop_lease()  # last: what is under way may write until the end
    os._exit(0)


def _wait_if_leaving() -> None:
    """Keep still about an error of a process that let everything go by itself, and is about to end."""
    if LEAVING.is_set():
        time.sleep(LEASE_SECONDS)


def _end_with_parent(review: Review) -> NoReturn:
    """End when standard input is closed: who started this process has gone."""
    while os.read(sys.stdin.fileno(), 4096):  # not through a buffer: nobody could end while it is waited for
        pass
    _leave(review)


def _in_short(error: BaseException) -> str:
    """Say what went wrong and where, without its message: that may quote a document."""
    frames = traceback.extract_tb(error.__traceback__)
    where = ", ".join(f"{Path(one.filename).name}:{one.lineno}" for one in frames[-3:])
    return f"An unexpected error ended the learner: {type(error).__name__} at {where}. Please report it."


def _say(line: str) -> None:
    with suppress(BrokenPipeError):  # who would hear it is gone, and this process ends by that
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    os._exit(main())  # at once: clusters that are being made in the background are not waited for
