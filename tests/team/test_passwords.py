"""Passwords: only the right one opens, nothing tells an unknown name from a wrong password, poor ones are refused."""

from __future__ import annotations

import statistics
import time

import pytest
from argon2 import PasswordHasher

from riffler.errors import InputError
from riffler.team import passwords
from riffler.team.passwords import check_new_password, check_password, hash_password, needs_rehash
from tests.team.people import PASSWORD, cheapen


def test_only_the_right_password_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    cheapen(monkeypatch)
    hashed = hash_password(PASSWORD)
    assert PASSWORD not in hashed
    assert hashed != hash_password(PASSWORD)
    assert check_password(hashed, PASSWORD)
    for wrong in ("", PASSWORD + " ", PASSWORD.upper(), "\udcff", "\0", PASSWORD * 1000):
        assert not check_password(hashed, wrong)
    assert not check_password(None, PASSWORD)
    assert not check_password("no hash", PASSWORD)


def test_a_password_is_the_same_however_a_keyboard_writes_its_accents(monkeypatch: pytest.MonkeyPatch) -> None:
    cheapen(monkeypatch)
    assert check_password(hash_password("ca\N{LATIN SMALL LETTER E WITH ACUTE} noir, deux"), "cae\u0301 noir, deux")


def test_no_hash_takes_as_long_as_a_wrong_password() -> None:
    assert not PasswordHasher().check_needs_rehash(passwords.NOBODYS)
    hashed, spent = hash_password(PASSWORD), {True: list[float](), False: list[float]()}
    for _ in range(5):
        for is_known in (True, False):
            start = time.process_time()
            assert not check_password(hashed if is_known else None, "a wrong password")
            spent[is_known].append(time.process_time() - start)
    assert statistics.median(spent[False]) > 0.5 * statistics.median(spent[True])


def test_a_hash_of_less_effort_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    cheapen(monkeypatch)
    hashed = hash_password(PASSWORD)
    assert not needs_rehash(hashed)
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    assert needs_rehash(hashed)


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("", "at least 10 characters, got 0"),
        ("whale son", "at least 10"),
        ("w" * 1001, "at most 1000 characters, got 1001"),
        ("Anna of the Whales", "the name itself"),
        (" anna of the whales ", "the name itself"),
        ("7" * 12, "one character again and again"),
    ],
)
def test_a_poor_password_is_refused_in_words(password: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_new_password("anna of the whales", password)


@pytest.mark.parametrize("password", ["whale song", "1234567890", "wh" * 500, "\N{WHALE}\N{SPOUTING WHALE}" * 5])
def test_what_is_long_enough_is_taken(password: str) -> None:
    check_new_password("anna", password)
