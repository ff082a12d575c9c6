"""Words of texts: every script, every chunking, and entries that are no texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.errors import InputError
from riffler.features import tokens
from riffler.features.tokens import code_texts
from tests.naive import text_features as naive

# characters that this Python's Unicode knows; the rest of the planes is not assigned
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=30)
WORDY = st.text(
    st.sampled_from("aB_ -9\u00e9\u0301\u0939\u093f\u03a3\u0130\u00df\u4e2d\u00b2\u200d\U0001d54f'"), max_size=30
)


def words_of(texts: list[str]) -> list[list[str]]:
    coded = code_texts(texts)
    words = np.array([*coded.words.texts(), ""], dtype=object)
    cut = zip(coded.bounds[:-1], coded.bounds[1:], strict=True)
    return [words[coded.codes[start:stop]].tolist() for start, stop in cut]


@given(texts=st.lists(st.one_of(ANY_TEXT, WORDY), max_size=6))
def test_words_of_any_script(texts: list[str]) -> None:
    assert words_of(texts) == [naive.words(text) for text in texts]


def is_a_word_character_for_python(character: str) -> bool:
    return bool(re.fullmatch(r"\w", character))


def test_differences_to_the_pattern_of_scikit_learn_are_as_documented() -> None:
    ours = tokens._word_characters(True)
    points = [p for p in range(0x110000) if unicodedata.category(chr(p)) not in ("Cs", "Cn")]
    extra = {chr(p) for p in points if ours[p] and not is_a_word_character_for_python(chr(p))}
    assert all(ours[p] for p in points if is_a_word_character_for_python(chr(p)))
    assert {unicodedata.category(c) for c in extra} == {"Mn", "Mc", "Me", "Pc", "Cf", "So"}
    assert all(naive.is_word_character(c) for c in extra)


def test_marks_belong_to_their_words() -> None:
    decomposed = unicodedata.normalize("NFD", "Caf\u00e9 na\u00efve")
    assert [len(found) for found in words_of(["हिन्दी भाषा", "שָׁלוֹם", decomposed])] == [2, 1, 2]
    assert words_of(["CO\u2082 and m\u00b2"]) == [["co\u2082", "and", "m\u00b2"]]


@pytest.mark.parametrize("chunk_bytes", [1, 100, 10**6])
def test_chunks_make_no_difference(chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["ant", "Bee", "c\u00e9", "dd", "the"], size=rng.integers(0, 9))) for _ in range(700)]
    expected = [[word for word in naive.words(text) if word != "the"] for text in texts]
    monkeypatch.setattr(tokens, "CHUNK_BYTES", chunk_bytes)
    monkeypatch.setattr(tokens, "FIRST_CHUNK", 3)

    def generated() -> Iterator[str]:
        yield from texts

    for form in (texts, tuple(texts), np.array(texts, dtype=object), pl.Series(texts), generated()):
        coded = code_texts(form, stop_words=["the"])
        assert coded.words.texts() == ["ant", "bee", "c\u00e9", "dd"]
        assert [coded.words.texts()[code] for code in coded.codes] == [word for text in expected for word in text]
        assert np.diff(coded.bounds).tolist() == [len(text) for text in expected]


def test_known_words_keep_their_numbers_and_others_come_after() -> None:
    known = code_texts(["zebra ant"]).words.take(np.array([1, 0]))
    coded = code_texts(["bee zebra", "ant the"], stop_words=["The"], known=known)
    assert coded.words.texts() == ["zebra", "ant", "bee"]
    assert coded.codes.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "Expected several texts, got one of type str"),
        (["fine", None], "Text 1 is None of type NoneType"),
        ([*["fine"] * 700, 3.5], "Text 700 is 3.5 of type float"),
        ([b"bytes"], "Text 0 is b'bytes' of type bytes"),
        (["fine", "half \ud800"], "Text 1 holds half a character"),
        (pl.Series([1, 2]), "Expected a column of strings, got Int64"),
        (pl.Series(["a", None]), "Text 1 is missing"),
    ],
)
def test_entries_that_are_no_texts(texts: list[str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        code_texts(texts)
