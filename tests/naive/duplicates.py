"""Nearly equal texts the slow way: sets of word runs as tuples, all pairs compared."""

from __future__ import annotations

from itertools import combinations


def is_unspaced(letter: str) -> bool:
    spans = [(0x2E80, 0x9FFF), (0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)]
    return any(low <= ord(letter) <= high for low, high in spans)


def words(text: str) -> list[str]:
    return "".join(f" {letter} " if is_unspaced(letter) else letter for letter in text).split(" ")


def runs(text: str, width: int = 3) -> set[tuple[str, ...]]:
    own = [word for word in words(text) if word]
    if len(own) < width:
        return {tuple(own)} if own else set()
    return {tuple(own[at : at + width]) for at in range(len(own) - width + 1)}


def jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def near_groups(texts: list[str], threshold: float) -> list[list[int]]:
    """Connected groups of rows whose texts are not empty and at least as similar as the threshold."""
    sets = [runs(text) for text in texts]
    group_of = list(range(len(texts)))
    for a, b in combinations(range(len(texts)), 2):
        if jaccard(sets[a], sets[b]) >= threshold and group_of[a] != group_of[b]:
            old, new = group_of[b], group_of[a]
            group_of = [new if group == old else group for group in group_of]
    groups = [[row for row in range(len(texts)) if group_of[row] == group] for group in set(group_of)]
    return sorted(group for group in groups if len(group) > 1)
