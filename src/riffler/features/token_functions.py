"""What a template may make of a word: its ends, its shape, what it holds. None means that there is nothing to tell."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

LONGEST_RUN = 4
"""Longer runs of one kind of letter are all of one shape."""


@dataclass(frozen=True, slots=True)
class TokenFunction:
    """A function of a word, or of a word and a number."""

    apply: Callable[..., str | None]
    takes_number: bool


def lower(word: str) -> str | None:
    """Small letters."""
    return word.lower()


def prefix(word: str, n: int) -> str | None:
    """The first n letters of a word that has them.

    >>> prefix("gull", 3), prefix("ox", 3)
    ('gul', None)
    """
    return word[:n] if len(word) >= n else None


def suffix(word: str, n: int) -> str | None:
    """The last n letters of a word that has them."""
    return word[-n:] if len(word) >= n else None


def shape(word: str) -> str | None:
    """X for a capital, x for another letter, d for a digit, anything else as it is; at most four alike in a row.

    >>> shape("McDonald's"), shape("$1,000")
    ("XxXxxxx'x", '$d,ddd')
    """
    kinds = (_kind(letter) for letter in word)
    return "".join(kind * min(len(list(run)), LONGEST_RUN) for kind, run in groupby(kinds))


def short_shape(word: str) -> str | None:
    """The shape with every run as one.

    >>> short_shape("McDonald's"), short_shape("$1,000")
    ("XxXx'x", '$d,d')
    """
    return "".join(kind for kind, _ in groupby(_kind(letter) for letter in word))


def zero_digits(word: str) -> str | None:
    """The word with every digit as 0.

    >>> zero_digits("3.14")
    '0.00'
    """
    return re.sub(r"\d", "0", word)


def has_digit(word: str) -> str | None:
    """Whether there is a digit."""
    return "yes" if any(map(str.isdigit, word)) else None


def has_hyphen(word: str) -> str | None:
    """Whether there is a hyphen."""
    return "yes" if "-" in word else None


def has_capital(word: str) -> str | None:
    """Whether there is a capital letter."""
    return "yes" if any(map(str.isupper, word)) else None


def is_capitalised(word: str) -> str | None:
    """Whether the first letter is a capital."""
    return "yes" if word[:1].isupper() else None


def is_capitals(word: str) -> str | None:
    """Whether all letters are capitals, and there is one."""
    return "yes" if word.isupper() else None


def _kind(letter: str) -> str:
    if letter.isdigit():
        return "d"
    if letter.isalpha():
        return "X" if letter.isupper() else "x"
    return letter


FUNCTIONS: dict[str, TokenFunction] = {
    **{one.__name__: TokenFunction(one, takes_number=True) for one in (prefix, suffix)},
    **{
        one.__name__: TokenFunction(one, takes_number=False)
        for one in (
            lower,
            shape,
            short_shape,
            zero_digits,
            has_digit,
            has_hyphen,
            has_capital,
            is_capitalised,
            is_capitals,
        )
    },
}
"""The functions of templates by name."""
