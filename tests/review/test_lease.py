"""One learner a review: a second one waits, and one that was replaced writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from riffler.errors import InputError, LeaseLost
from riffler.ledger import Entry
from riffler.review import lease
from riffler.review.database import writing
from riffler.review.pictures import Picture
from riffler.review.queue import Proposal
from riffler.review.store import Review
from tests.review.reviews import new_review, open_review, say

pytestmark = pytest.mark.usefixtures("each_database")


def taken(review: Review, holder: str, at: float) -> lease.Lease | None:
    with writing(review._engine) as session:
        return lease.take_lease(session, review.id, holder, at)


def test_somebody_else_waits_until_the_time_is_over(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        assert taken(review, "a", at=1000.0) == lease.Lease("a", 1)
        assert taken(review, "b", at=1000.0 + lease.LEASE_SECONDS / 2) is None
        assert taken(review, "b", at=1001.0 + lease.LEASE_SECONDS) == lease.Lease("b", 2)
        assert taken(review, "a", at=1002.0 + lease.LEASE_SECONDS) is None
        assert taken(review, "a", at=1.0) == lease.Lease("a", 3)  # the clock was set back by far


def test_the_same_holder_takes_over_at_once(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        assert taken(review, "a", at=1000.0) == lease.Lease("a", 1)
        assert taken(review, "a", at=1000.1) == lease.Lease("a", 2)


def test_renewing_keeps_it_and_dropping_frees_it(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        first = taken(review, "a", at=1000.0)
        assert first is not None
        with writing(review._engine) as session:
            lease.renew_lease(session, review.id, first, at=1000.0 + lease.LEASE_SECONDS)
        assert taken(review, "b", at=1001.0 + lease.LEASE_SECONDS) is None
        with writing(review._engine) as session:
            lease.drop_lease(session, review.id, first)
        assert taken(review, "b", at=1001.0 + lease.LEASE_SECONDS) is not None


def test_who_was_replaced_writes_nothing(tmp_path: Path) -> None:
    with new_review(tmp_path) as old, open_review(old.path) as new:
        old.answer([say("d0", "relevant")])
        assert old.take_lease("same supervisor")
        old.fill_queue([Proposal("d1", "policy", 0)])
        assert new.take_lease("same supervisor")
        writes: list[Callable[[], None]] = [
            lambda: old.fill_queue([Proposal("d2", "policy", 0)]),
            lambda: old.record_rounds([Entry("d0", 0, "search", False, 1.0, 1, 1.0, "")], []),
            lambda: old.keep_pictures([Picture.of("terms", 1, [])]),
            old.renew_lease,
            old.drop_lease,
        ]
        for write in writes:
            with pytest.raises(LeaseLost, match="Another learner"):
                write()
        assert [one.document for one in new.upcoming(5)] == ["d1"]
        assert len(new.ledger()) == 0
        assert new.picture("terms") is None
        old.answer([say("d3", "relevant")])  # people are not asked for a lease
        new.fill_queue([Proposal("d2", "policy", 0)])


def test_a_lease_that_was_never_taken_cannot_be_renewed(tmp_path: Path) -> None:
    with new_review(tmp_path) as review, pytest.raises(InputError, match="Take it first"):
        review.renew_lease()
