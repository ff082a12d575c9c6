"""What somebody types to find texts, and what is found: the same whichever database searches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from riffler.features.stop_words import ENGLISH
from riffler.review.fulltext_folding import WORD

TITLE_WEIGHT = 4.0  # a word in a title counts as much as this many in an abstract
EXCERPT_WORDS = 32
MOST_TYPED = 10_000  # characters; a database takes only so many words at once
PARTS = re.compile(r'"([^"]*)"|(\S+)')

Pieces = tuple[tuple[str, bool], ...]
"""A text in pieces, and whether each was looked for."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    asked : the one that stands for it, which may be itself
    excerpt : where the words are: pieces of text, and whether each was looked for
    """

    document: str
    title: str
    asked: str
    excerpt: Pieces


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: words and phrases, of which the last word may be unfinished.

    >>> Wanted.read('deep "snow melts" alp')
    Wanted(parts=('deep', 'snow melts', 'alp'), unfinished=True)
    >>> Wanted.read('AND ( "'), Wanted.read("***")
    (Wanted(parts=('AND',), unfinished=False), Wanted(parts=(), unfinished=True))
    """

    parts: tuple[str, ...]
    unfinished: bool

    @classmethod
    def read(cls, words: str) -> Self:
        """Read what was typed; nothing in it is an operator."""
        words = _typed(words)
        found = [(phrase or word).replace('"', " ").replace("\0", " ") for phrase, word in PARTS.findall(words)]
        parts = tuple(part for part in found if any(letter.isalnum() for letter in part))
        return cls(parts, not words.rstrip().endswith('"'))


def telling_words(words: str) -> tuple[str, ...]:
    """Return the words that say something, each once.

    >>> telling_words("The whales of the sea, the sea")
    ('whales', 'sea')
    """
    parts = WORD.findall(_typed(words))
    return tuple(dict.fromkeys(part for part in parts if part.lower() not in ENGLISH))


def _typed(words: str) -> str:
    words.encode()  # half a character is refused, and not only where a database happens to see it
    return words[:MOST_TYPED]
