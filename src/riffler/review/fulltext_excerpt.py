"""The piece of a text in which words were found, with the words marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riffler.review.fulltext_folding import places_of
from riffler.review.fulltext_query import EXCERPT_WORDS, Pieces

BEFORE = EXCERPT_WORDS // 4  # words that lead to the first one found
CUT = "…"

Phrase = tuple[str, ...]


def excerpt_of(text: str, phrases: Sequence[Phrase], unfinished: bool) -> Pieces:
    """Return the words around the first that was looked for, or the first words of a text that has none.

    unfinished : whether the last word of the last phrase is the beginning of one

    >>> excerpt_of("Deep snow melts, slowly.", [("snow", "mel")], unfinished=True)
    (('Deep ', False), ('snow melts', True), (', slowly.', False))
    """
    places = list(places_of(text))
    found = sorted(_found([word for word, _, _ in places], phrases, unfinished))
    first = found[0][0] if found else 0
    start = max(0, min(first - BEFORE, len(places) - EXCERPT_WORDS))
    stop = min(start + EXCERPT_WORDS, len(places))
    left = places[start][1] if start else 0
    right = places[stop - 1][2] if stop < len(places) else len(text)
    marked = [(places[begin][1], places[end - 1][2]) for begin, end in found if start <= begin and end <= stop]
    pieces = [(CUT * (left > 0), False), *_cut(text, left, right, marked), (CUT * (right < len(text)), False)]
    return tuple(_joined(pieces))


def _found(words: list[str], phrases: Sequence[Phrase], unfinished: bool) -> Iterator[tuple[int, int]]:
    """Yield where phrases begin and end among the words."""
    for number, phrase in enumerate(phrases, 1):
        *whole, last = phrase
        for at in range(len(words) - len(whole)):
            word = words[at + len(whole)]
            ends = word.startswith(last) if unfinished and number == len(phrases) else word == last
            if ends and words[at : at + len(whole)] == whole:
                yield at, at + len(phrase)


def _cut(text: str, left: int, right: int, marked: list[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    at = left
    for begin, end in marked:
        if end > at:  # else it lies in one that was marked before it
            yield text[at : max(at, begin)], False
            yield text[max(at, begin) : end], True
            at = end
    yield text[at:right], False


def _joined(pieces: list[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """Put pieces of one kind that follow each other together, and leave out empty ones."""
    kept: list[tuple[str, bool]] = []
    for piece, wanted in pieces:
        if not piece:
            continue
        if kept and kept[-1][1] == wanted:
            kept[-1] = (kept[-1][0] + piece, wanted)
        else:
            kept.append((piece, wanted))
    return iter(kept)
