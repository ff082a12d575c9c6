"""The door of one reader's page keeps nobody waiting."""

from __future__ import annotations

from pathlib import Path

from riffler.review.database import connect, writing
from riffler.review.store import open_review
from tests.waiting import wait_until
from tests.web.visits import API, serving

MANY = 50  # more than the threads that a server answers in


def test_a_program_that_reads_does_not_wait_for_who_writes(file: Path) -> None:
    with serving(file) as (app, client):
        token, secret = app.state.review.make_token("my script")
        engine = connect(file)
        with writing(engine) as session:
            session.connection()  # now it writes, as a learner does
            for _ in range(MANY):
                found = client.get(f"{API}/next", headers={"authorization": f"Bearer {secret}"})
                assert [one["document"]["id"] for one in found.json()] == ["d0"]
            assert [one.last_used_at for one in app.state.review.tokens()] == [None]
        engine.dispose()
        wait_until(lambda: app.state.review.check_token(secret).is_noted)
        assert app.state.review.check_token(secret).id == token.id


def test_the_use_of_a_key_is_written_down_before_the_review_is_closed(file: Path) -> None:
    with serving(file) as (app, client):
        _, secret = app.state.review.make_token("my script")
        assert client.get(f"{API}/next", headers={"authorization": f"Bearer {secret}"}).status_code == 200
    with open_review(file) as review:
        (found,) = review.tokens()
        assert found.last_used_at is not None
