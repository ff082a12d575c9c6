"""Passwords: what is a good one, and its Argon2 hash. Hashing takes long on purpose: never inside a transaction."""

from __future__ import annotations

import unicodedata
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from riffler.errors import InputError

SHORTEST, LONGEST = 10, 1000  # characters
HASHER = PasswordHasher()
NOBODYS = (  # the hash of what nobody knows
    "$argon2id$v=19$m=65536,t=3,p=4$cmlmZmxlcjogbm9ib2R5cw$LWrCmb+KEjJU1bywUzrhY4P4Kb12bZ4OkwmttaUbXEg"
)
AT_ONCE = BoundedSemaphore(4)
"""Each hash takes 64 MB while it is made: a crowd at the door waits in line."""


def hash_password(password: str) -> str:
    """Return the hash of a password, with a new salt."""
    with AT_ONCE:
        return HASHER.hash(_bytes_of(password))


def check_password(hashed: str | None, password: str) -> bool:
    """Tell whether a password is the one of a hash; without a hash it is not, and that takes as long to say."""
    try:
        with AT_ONCE:
            return HASHER.verify(hashed or NOBODYS, _bytes_of(password)) and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


def needs_rehash(hashed: str) -> bool:
    """Tell whether a hash was made with less effort than is usual now."""
    return HASHER.check_needs_rehash(hashed)


def check_new_password(name: str, password: str) -> None:
    """Refuse a password that is short, or easily guessed.

    >>> check_new_password("Anna", "whales sing at night")
    """
    if len(password) < SHORTEST:
        raise InputError(
            f"A password has at least {SHORTEST} characters, got {len(password)}. A sentence is a good one."
        )
    if len(password) > LONGEST:
        raise InputError(f"A password has at most {LONGEST} characters, got {len(password)}. Take a shorter one.")
    if _plain(password) == _plain(name):
        raise InputError("The password is the name itself, which everybody would try first. Take another one.")
    if len(set(password)) == 1:
        raise InputError("The password is one character again and again. Take another one.")


def _bytes_of(password: str) -> bytes:
    # Keyboards differ in how they write an accent. What is too long was never made anybody's password.
    return unicodedata.normalize("NFC", password[: LONGEST + 1]).encode("utf-8", "surrogatepass")


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()
