"""Rules of chunk tags allow what a chunk reader reads back, and nothing else."""

from __future__ import annotations

from itertools import product

import pytest

from riffler.errors import LabelError
from riffler.metrics.chunks import chunks_of
from riffler.structured.bio import bio_constraints, first_broken_rule
from riffler.structured.label_rules import Allowed

BIO = ["B-X", "B-Y", "I-X", "I-Y", "O"]
BIOES = ["B-X", "E-X", "I-X", "O", "S-X", "S-Y"]


def is_allowed(tags: tuple[str, ...], rules: Allowed) -> bool:
    return first_broken_rule([tags], rules) is None


def as_bio(tags: tuple[str, ...]) -> tuple[str, ...]:
    """The chunks written down again."""
    again = ["O"] * len(tags)
    for first, end, kind in chunks_of(tags):
        again[first:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - first - 1)
    return tuple(again)


def test_bio_allows_exactly_the_tags_that_chunks_are_written_with() -> None:
    rules = bio_constraints(BIO)
    for tags in product(BIO, repeat=4):
        assert is_allowed(tags, rules) == (as_bio(tags) == tags), tags


def as_bioes(tags: tuple[str, ...]) -> tuple[str, ...]:
    again = ["O"] * len(tags)
    for first, end, kind in chunks_of(tags):
        many = [f"B-{kind}"] + [f"I-{kind}"] * (end - first - 2) + [f"E-{kind}"]
        again[first:end] = [f"S-{kind}"] if end == first + 1 else many
    return tuple(again)


def test_bioes_allows_exactly_the_tags_that_chunks_are_written_with() -> None:
    rules = bio_constraints(BIOES)
    for tags in product(BIOES, repeat=3):
        ended = (*tags, "O")  # no rule speaks of the last tag
        assert is_allowed(ended, rules) == (as_bioes(ended) == ended), tags


def test_a_type_without_b_begins_with_i() -> None:
    rules = bio_constraints(["I-X", "O", "I-Y", "B-Y"])
    assert is_allowed(("O", "I-X", "I-X"), rules)
    assert is_allowed(("I-X",), rules)
    assert not is_allowed(("I-Y",), rules)


def test_other_tags_have_no_such_rules() -> None:
    with pytest.raises(LabelError, match="got 'NN'"):
        bio_constraints(["O", "NN"])


def test_a_sequence_does_not_end_inside_a_chunk() -> None:
    rules = bio_constraints(["O", "B-N", "I-N", "E-N", "S-N"])
    assert first_broken_rule([["O", "B-N"]], rules) == (0, 1)
    assert first_broken_rule([["B-N", "E-N"], ["S-N"]], rules) is None
    assert first_broken_rule([["O", "B-N"]], bio_constraints(["O", "B-N", "I-N"])) is None
