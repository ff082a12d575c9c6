"""Learners for all the reviews of a team: each review that has something to learn gets one, on this server or another.

Any number of servers look for such reviews. Who takes the lease of a review in the database is its learner; when its
host dies the lease runs out, and another server starts the next.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from riffler.errors import RifflerError
from riffler.review.database import Address, clock, connect, reading
from riffler.review.holds import is_read
from riffler.review.lease import is_leased
from riffler.review.pictures import read_picture
from riffler.review.rounds import revision
from riffler.review.schema import LedgerRow, ReviewRow, Stratum
from riffler.review.supervisor import DATABASE, LearnerKeeper

LOOK_SECONDS = 1.0
IDLE_SECONDS = 900.0
"""After so long without anything new a learner ends; it is started again when somebody reads."""

MOST = 8
"""Learners on one server at a time: each has a whole collection in memory."""


class Learners:
    """Starts learners where they are needed, until it is stopped.

    address : of the database
    most : learners of this server at a time
    told : further options of each learner
    """

    def __init__(
        self, address: Address, *, most: int = MOST, idle_seconds: float = IDLE_SECONDS, told: Sequence[str] = ()
    ) -> None:
        self._address, self._most, self._idle_seconds, self._told = str(address), most, idle_seconds, tuple(told)
        self._keepers: dict[int, LearnerKeeper] = {}
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """Whether it looks for work."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def pids(self) -> list[int]:
        """The processes of its learners."""
        return [keeper.pid for keeper in list(self._keepers.values()) if keeper.pid is not None]

    def last_error(self, review_id: int) -> str:
        """What the last learner of a review that failed here said, in words for people."""
        keeper = self._keepers.get(review_id)
        return "" if keeper is None else keeper.last_error

    def start(self) -> None:
        """Begin to look; once is enough."""
        if self._thread is None:
            self._over.clear()
            self._thread = threading.Thread(target=self._look, name="learners", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End all learners of this server, and wait until they are gone."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        for keeper in self._keepers.values():
            keeper.stop()
        self._keepers.clear()

    def _look(self) -> None:
        engine = connect(self._address)
        try:
            while not self._over.is_set():
                try:
                    with reading(engine) as session:
                        needed = reviews_to_learn(session)
                    self._start(needed)
                except RifflerError:
                    pass  # the database is away: those who read are told; it is looked for again
                self._over.wait(LOOK_SECONDS)
        finally:
            engine.dispose()

    def _start(self, needed: list[int]) -> None:
        for review_id in [one for one, keeper in self._keepers.items() if keeper.is_done]:
            self._keepers.pop(review_id).stop()
        for review_id in needed:
            if review_id not in self._keepers and len(self._keepers) < self._most and not self._over.is_set():
                arguments = ("--review", str(review_id), "--idle", str(self._idle_seconds), *self._told)
                self._keepers[review_id] = LearnerKeeper(*arguments, environment={DATABASE: os.fspath(self._address)})
                self._keepers[review_id].start()


def reviews_to_learn(session: Session) -> list[int]:
    """Return the reviews that have documents, no learner, and something new: somebody reads, said or changed something.

    What a learner knows is told by the picture of the progress that it left.
    """
    at = clock(session)
    rows = session.scalars(
        select(ReviewRow.id).where(ReviewRow.id.in_(select(Stratum.review_id))).order_by(ReviewRow.id)
    )
    return [
        review_id
        for review_id in rows.all()
        if not is_leased(session, review_id, at) and (is_read(session, review_id, at) or _is_new(session, review_id))
    ]


def _is_new(session: Session, review_id: int) -> bool:
    picture = read_picture(session, review_id, "progress")
    if picture is None:
        return True
    last = select(func.max(LedgerRow.id)).where(LedgerRow.review_id == review_id)
    if (session.scalar(last) or 0) > picture.ledger_id:
        return True
    return bool(picture.read()["revision"] != asdict(revision(session, review_id)))
