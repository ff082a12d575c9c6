"""What chunk tags may follow each other: I- goes on with a chunk of its type, and with E- or S- chunks have an end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riffler.errors import LabelError
from riffler.metrics.chunks import is_chunk_tag
from riffler.structured.label_rules import Allowed

INSIDE = ("I", "E")
"""Letters of tokens that go on with a chunk."""


def bio_constraints(labels: Sequence[str]) -> Allowed:
    """Give the rules of BIO (IOB2) tags, or of BIOES tags where there is an E- or S- among them.

    I- (and E-) may only follow B- or I- of the same type; a type that has no B- begins with I-, as in IOB1. In BIOES a
    chunk that was begun must come to its E-.

    >>> bio_constraints(["O", "B-NP", "I-NP"]).after.tolist()
    [[True, True, False], [True, True, True], [True, True, True]]
    """
    wrong = next((label for label in labels if not is_chunk_tag(label)), None)
    if wrong is not None:
        raise LabelError(f"Rules of chunks are for tags O, B-, I-, E- and S- with a type, got {wrong!r}. Pass None.")
    known = set(labels)
    has_ends = any(label[0] in "ES" for label in labels)
    first = np.array([_may_begin(label, known) for label in labels])
    after = np.array([[_may_follow(one, two, known, has_ends) for two in labels] for one in labels])
    last = np.array([not (has_ends and label[0] in "BI") for label in labels])
    return Allowed(tuple(labels), first, after, last)


def first_broken_rule(tags: Sequence[Sequence[str]], rules: Allowed) -> tuple[int, int] | None:
    """Find sentence and token of the first tag that the rules do not allow there.

    >>> first_broken_rule([["O"], ["B-NP", "O", "I-NP"]], bio_constraints(["O", "B-NP", "I-NP"]))
    (1, 2)
    """
    place = {label: number for number, label in enumerate(rules.labels)}
    for number, sentence in enumerate(tags):
        codes = [place[tag] for tag in sentence]
        for token, code in enumerate(codes):
            if not (rules.after[codes[token - 1], code] if token else rules.first[code]):
                return number, token
        if codes and rules.last is not None and not rules.last[codes[-1]]:
            return number, len(codes) - 1
    return None


def _begins_with_b(label: str, known: set[str]) -> bool:
    return f"B{label[1:]}" in known


def _may_begin(label: str, known: set[str]) -> bool:
    return label[0] not in INSIDE or not _begins_with_b(label, known)


def _may_follow(before: str, label: str, known: set[str], has_ends: bool) -> bool:
    goes_on = before[0] in "BI" and before[1:] == label[1:]
    if label[0] in INSIDE:
        return goes_on or (_may_begin(label, known) and not (has_ends and before[0] in "BI"))
    return not (has_ends and before[0] in "BI")
