"""conlleval, as the script of the CoNLL shared tasks has it, with S- as in later versions; L- and U- are E- and S-."""

from __future__ import annotations

from collections.abc import Sequence

Chunk = tuple[int, int, str]


def split(tag: str) -> tuple[str, str]:
    letter, _, kind = tag.partition("-")
    return {"L": "E", "U": "S"}.get(letter, letter), kind


def ends(before: tuple[str, str], here: tuple[str, str]) -> bool:
    (last, last_kind), (letter, kind) = before, here
    if last in ("E", "S"):
        return True
    if (last, letter) in (("B", "B"), ("B", "S"), ("B", "O"), ("I", "B"), ("I", "S"), ("I", "O")):
        return True
    return last != "O" and last_kind != kind


def starts(before: tuple[str, str], here: tuple[str, str]) -> bool:
    (last, last_kind), (letter, kind) = before, here
    if letter in ("B", "S"):
        return True
    if last in ("E", "S", "O") and letter in ("E", "I"):
        return True
    return letter != "O" and last_kind != kind


def chunks(tags: Sequence[str]) -> list[Chunk]:
    found: list[Chunk] = []
    first, before = -1, ("O", "")
    for place, here in enumerate([split(tag) for tag in tags] + [("O", "")]):
        if first >= 0 and ends(before, here):
            found.append((first, place, before[1]))
            first = -1
        if starts(before, here):
            first = place
        before = here
    return found


def counts(true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> tuple[int, int, int]:
    pairs = [(set(chunks(one)), set(chunks(other))) for one, other in zip(true, predicted, strict=True)]
    return sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs), sum(len(a & b) for a, b in pairs)
