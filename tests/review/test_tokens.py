"""Keys for programs: the secret is shown once, opens until it is revoked, and is nowhere in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler import InputError
from tests.review.reviews import new_review

pytestmark = pytest.mark.usefixtures("each_database")


def test_a_secret_opens_until_it_is_revoked(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        (mine, secret), (other, other_secret) = review.make_token("my script"), review.make_token("another")
        found = review.check_token(secret)
        assert found is not None
        assert (found.id, found.name) == (mine.id, "my script")
        assert [review.check_token(wrong) for wrong in ("", secret[:-1], secret + "a", "\udcff", "é")] == [None] * 5
        review.revoke_token(mine.id)
        review.revoke_token(mine.id)
        assert review.check_token(secret) is None
        assert review.check_token(other_secret) is not None
        assert [(one.id, one.revoked_at is None) for one in review.tokens()] == [(mine.id, False), (other.id, True)]


@pytest.mark.of_files
def test_a_secret_is_not_in_the_file(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        _, secret = review.make_token("my script")
    assert secret.encode() not in (tmp_path / "whales.riffler").read_bytes()


def test_use_is_due_to_be_noted_once_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_review(tmp_path) as review:
        token, secret = review.make_token("my script")
        assert (token.last_used_at, token.is_noted) == (None, False)
        review.note_use(token)
        used = review.check_token(secret)
        assert used is not None
        assert used.last_used_at is not None
        assert used.is_noted
        monkeypatch.setattr("riffler.review.tokens.USE_NOTED_SECONDS", -1.0)  # it was longer ago
        assert not used.is_noted


def test_what_is_no_token_is_refused_in_words(tmp_path: Path) -> None:
    with new_review(tmp_path) as review:
        with pytest.raises(InputError, match="needs a name"):
            review.make_token(" ")
        with pytest.raises(InputError, match="no token with the number 7"):
            review.revoke_token(7)
