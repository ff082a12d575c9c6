"""The side of a review that its search uses: what it has to take in, and what it leaves for the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from riffler.errors import InputError
from riffler.ledger import Entry, Event, Ledger
from riffler.review.database import clock, reading, writing, writing_review
from riffler.review.holds import Queue, names_in_hand, queue_now
from riffler.review.lease import Lease, check_lease, drop_lease, is_leased, renew_lease, take_lease
from riffler.review.pictures import Picture, keep_pictures, read_picture
from riffler.review.queue import Proposal, fill_queue, sweep_queue
from riffler.review.rounds import Revision, pending_entries, record_rounds, revision, taken_ledger
from riffler.review.schema import LedgerRow, Suggestion, Taken


class SearchSide:
    """What a search reads and writes of a review.

    Who holds the lease writes only as long as it has it; without a lease nobody is asked.
    """

    id: int
    _engine: Engine
    _lease: Lease | None = None

    def revision(self) -> Revision:
        """Changes when the search has to be rebuilt: after an undo, a correction, or added documents."""
        with reading(self._engine) as session:
            return revision(session, self.id)

    def last_remark(self) -> int:
        """The number of the last row of the ledger, 0 for none: changes with everything that people say."""
        with reading(self._engine) as session:
            last = select(LedgerRow.id).where(LedgerRow.review_id == self.id).order_by(LedgerRow.id.desc()).limit(1)
            return session.scalar(last) or 0

    def ledger(self) -> Ledger:
        """What the search took in, for ``ActiveSearch.replay``."""
        with reading(self._engine) as session:
            return taken_ledger(session, self.id)

    def pending(self) -> list[Entry]:
        """Answers that the search has not taken in."""
        with reading(self._engine) as session:
            return pending_entries(session, self.id)

    def record_rounds(self, entries: Sequence[Entry], events: Sequence[Event]) -> None:
        """Write down what the search took in, in its rounds."""
        with self._learning() as session:
            record_rounds(session, self.id, entries, events)

    def fill_queue(self, proposals: Sequence[Proposal]) -> None:
        """Replace what is ready to be shown."""
        with self._learning() as session:
            fill_queue(session, self.id, proposals)

    def sweep_queue(self) -> None:
        """Remove what was withdrawn from the queue and nobody has seen."""
        with writing_review(self._engine, self.id) as session:  # an answer may be about it
            self._check(session)
            sweep_queue(session, self.id)

    def queue_now(self) -> Queue:
        """What waits in the queue, and what is in somebody's hands or half read."""
        with reading(self._engine) as session:
            return queue_now(session, self.id)

    def names_in_hand(self) -> set[str]:
        """The ids of documents that somebody reads, or that wait for another reader."""
        with reading(self._engine) as session:
            return names_in_hand(session, self.id)

    def has_begun(self) -> bool:
        """Whether a search has taken in answers, or left something to be shown."""
        with reading(self._engine) as session:
            left = [
                session.scalar(select(table.id).where(table.review_id == self.id).limit(1))
                for table in (Taken, Suggestion)
            ]
            return any(one is not None for one in left)

    def keep_pictures(self, pictures: Sequence[Picture]) -> None:
        """Keep pictures in place of the earlier ones of the same names."""
        with self._learning() as session:
            keep_pictures(session, self.id, pictures)

    def picture(self, name: str) -> Picture | None:
        """The last picture of this name; None before the first."""
        with reading(self._engine) as session:
            return read_picture(session, self.id, name)

    def n_answers_since(self, ledger_id: int) -> int:
        """How many answers and undos the ledger has after a row."""
        with reading(self._engine) as session:
            later = select(func.count()).where(
                LedgerRow.id > ledger_id, LedgerRow.review_id == self.id, LedgerRow.kind.in_(("answer", "undo"))
            )
            return session.scalar(later) or 0

    def has_learner(self) -> bool:
        """Whether some process is the learner of this review now, here or on another machine."""
        with reading(self._engine) as session:
            return is_leased(session, self.id, clock(session))

    def take_lease(self, holder: str) -> bool:
        """Become the learner of this review, if nobody else is; from then on its writes ask whether it still is."""
        with writing_review(self._engine, self.id) as session:  # two may come to a review that never had a learner
            lease = take_lease(session, self.id, holder, clock(session))
        self._lease = lease or self._lease
        return lease is not None

    def renew_lease(self) -> None:
        """Go on being the learner."""
        with writing(self._engine) as session:
            renew_lease(session, self.id, self._held(), clock(session))

    def drop_lease(self) -> None:
        """Be the learner no more, so that another can start at once."""
        with writing(self._engine) as session:
            drop_lease(session, self.id, self._held())
        self._lease = None

    def _held(self) -> Lease:
        if self._lease is None:
            raise InputError("This review has no lease. Take it first.")
        return self._lease

    @contextmanager
    def _learning(self) -> Iterator[Session]:
        """Give a session for what learners alone write: people who answer do not wait for it."""
        with writing(self._engine) as session:
            self._check(session)
            yield session

    def _check(self, session: Session) -> None:
        if self._lease is not None:
            check_lease(session, self.id, self._lease)
