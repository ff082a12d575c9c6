"""The table of words against a dictionary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from riffler.features.words import PackedWords, WordTable

BATCHES = st.lists(st.lists(st.text("ab\u00e9", max_size=4), max_size=40), max_size=6)


@given(batches=BATCHES)
def test_numbers_are_those_of_a_dictionary(batches: list[list[str]]) -> None:
    table, numbers = WordTable(), dict[str, int]()
    for batch in batches:
        expected = [numbers.setdefault(word, len(numbers)) for word in batch]
        assert table.codes(PackedWords.of(batch)).tolist() == expected
    assert table.words().texts() == list(numbers)
    assert table.words(first=min(2, len(numbers))).texts() == list(numbers)[2:]


def test_many_words_grow_the_table() -> None:
    words = [f"word{i}" for i in range(50_000)]
    table = WordTable()
    for start in range(0, len(words), 7_000):
        table.codes(PackedWords.of(words[start : start + 7_000]))
    assert table.n_words == len(words)
    assert table.codes(PackedWords.of(words[::-1])).tolist() == list(range(len(words)))[::-1]


@given(words=st.lists(st.text("abz\u00e9\u4e2d\U0001f600", min_size=1, max_size=4), min_size=1, unique=True))
def test_packed_words_sort_by_code_point_and_can_be_taken(words: list[str]) -> None:
    packed = PackedWords.of(words)
    order = packed.alphabetical()
    assert packed.take(order).texts() == sorted(words)
    assert packed.take(order[:0]).texts() == []
