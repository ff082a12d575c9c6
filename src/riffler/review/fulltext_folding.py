"""Words of a text as PostgreSQL keeps them: small letters without accents, cut the way FTS5 of SQLite cuts them.

It is done here, because what PostgreSQL itself takes for a letter depends on the locale that it was set up with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
WORD = re.compile(rf"[^\W_](?:[^\W_]+|[{ACCENTS}]+)*")
ASCII_WORD = re.compile("[a-z0-9]+")
LONGEST_WORD = 100
ALL_ACCENTS = re.compile(f"[{ACCENTS}]")


def words_of(text: str) -> list[str]:
    """Return the words of a text, in order and without accents.

    >>> words_of("Le Café, à 5_am")
    ['le', 'cafe', 'a', '5', 'am']
    """
    if text.isascii():
        return [word[:LONGEST_WORD] for word in ASCII_WORD.findall(text.lower())]
    return [word for word in map(folded, WORD.findall(text)) if word]


def places_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text with where each begins and ends in it.

    >>> list(places_of("Le Café!"))
    [('le', 0, 2), ('cafe', 3, 7)]
    """
    for match in WORD.finditer(text):
        if word := folded(match.group()):
            yield word, match.start(), match.end()


@lru_cache(maxsize=1 << 16)
def folded(word: str) -> str:
    """Return a word in the form in which it is compared: ligatures are letters, accents are gone, and so is its case.

    >>> folded("Élan"), folded("Straße"), folded("ﬁn"), folded("が")
    ('elan', 'strasse', 'fin', 'が')
    """
    bare = ALL_ACCENTS.sub("", normalize("NFKD", word))
    composed = normalize("NFC", bare.casefold())  # what is no accent stays with its letter, such as marks of kana
    return "".join(filter(str.isalnum, composed))[:LONGEST_WORD]
