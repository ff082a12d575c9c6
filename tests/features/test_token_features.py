"""Features of tokens equal those of a loop that looks at one token after the other."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.errors import FeatureMismatch, InputError
from riffler.features.token_features import TokenFeatures
from riffler.features.token_functions import FUNCTIONS
from riffler.features.token_template import MARKS, Part

TEMPLATE = """
word[-2..2]
prefix(word[0], 2)
suffix(lower(word[1]), 1)
has_digit(word[-1])
is_first
is_last + pos[0]
word[-1] + word[0]
pos[-1] + pos[0] + pos[1]
shape(word[0]) + has_hyphen(word[0]) + pos[-3]
"""
WORDS = st.sampled_from(["a", "A", "ab", "Ab-1", "x9", "é", "the-end", "a|a", "\\", "<begin-1>"])
SENTENCES = st.lists(st.lists(st.tuples(WORDS, st.sampled_from("NVD")), max_size=5), min_size=1, max_size=6)


def value(sentence: list[tuple[str, ...]], place: int, part: Part) -> str | None:
    """What a part says of one token, in plain words."""
    if part.column in MARKS:
        return "yes" if place == (0 if part.column == "is_first" else len(sentence) - 1) else None
    there = place + part.offset
    if there < 0:
        return f"<begin-{-there}>"
    if there >= len(sentence):
        return f"<end-{there - len(sentence) + 1}>"
    found: str | None = sentence[there][("word", "pos").index(part.column)]
    for name, number in part.functions:
        found = None if found is None else FUNCTIONS[name].apply(found, *([] if number is None else [number]))
    return found and found.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<")


def strings(features: TokenFeatures, sentences: Any) -> list[list[list[str]]]:  # noqa: ANN401
    found = []
    for sentence in sentences:
        rows = []
        for place in range(len(sentence)):
            values = [[value(sentence, place, part) for part in feature] for feature in features.features_]
            rows.append(
                [
                    f"{' + '.join(map(str, feature))}={'|'.join(map(str, own))}"
                    for feature, own in zip(features.features_, values, strict=True)
                    if None not in own
                ]
            )
        found.append(rows)
    return found


@given(SENTENCES.filter(lambda sentences: any(map(len, sentences))), SENTENCES, st.integers(1, 3))
def test_features_equal_those_of_a_plain_loop(train: Any, test: Any, min_count: int) -> None:  # noqa: ANN401
    features = TokenFeatures(TEMPLATE, columns=["word", "pos"], min_count=min_count)
    X = features.fit_transform(train)
    seen = [name for rows in strings(features, train) for row in rows for name in row]
    kept = {name for name in seen if seen.count(name) >= min_count}
    for sentences in (train, test):
        expected = [[[name for name in row if name in kept] for row in rows] for rows in strings(features, sentences)]
        assert features.strings(sentences) == expected
    assert set(features.get_feature_names_out()) == kept
    assert X.shape == (sum(map(len, train)), len(kept))
    np.testing.assert_array_equal(features.transform(train).toarray(), X.toarray())


def test_the_matrix_is_binary_sorted_and_small() -> None:
    X = TokenFeatures().fit_transform([["The", "gull", "and", "the", "owl"]] * 3)
    assert X.dtype == np.float32
    assert set(X.data) == {1.0}
    assert X.has_sorted_indices
    assert X.indices.dtype == np.int32


def test_words_alone_and_tuples_of_one_are_the_same() -> None:
    words = [["a", "b"], [], ["c"]]
    tuples = [[("a",), ("b",)], [], [("c",)]]
    features = TokenFeatures(columns=["word"]).fit(words)
    np.testing.assert_array_equal(features.transform(words).toarray(), features.transform(tuples).toarray())
    assert features.transform([]).shape == (0, features.n_features_)
    assert features.strings([[], ["a"]])[0] == []


def test_no_two_columns_have_one_name() -> None:
    sentences = [["<begin-1>", "x"], ["a|b", "c"], ["a", "b|c"], ["a\\", "b|c"], ["a\\|b", "c"]]
    names = TokenFeatures(["word[-1]", "word[0] + word[1]"]).fit(sentences).get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert {"word[-1]=<begin-1>", "word[-1]=\\<begin-1>", "word[0] + word[1]=a\\|b|c"} <= set(names)


def test_long_conjunctions_of_many_words_do_not_overflow() -> None:
    words = [[f"w{number}" for number in range(start, start + 6)] for start in range(0, 60_000, 6)]
    line = "word[0] + word[1] + word[2] + word[3] + word[4] + word[5]"
    features = TokenFeatures(line).fit(words)
    assert features.n_features_ == 60_000
    assert features.strings([words[7]])[0][0] == [f"{line}={'|'.join(words[7])}"]
    assert features.strings([[*words[7][:5], words[8][0]]])[0][0] == []


def test_fitted_features_can_be_kept() -> None:
    features = TokenFeatures().fit([["a", "b"]])
    kept = pickle.loads(pickle.dumps(features))
    assert kept.strings([["b", "a"]]) == features.strings([["b", "a"]])


@pytest.mark.parametrize(
    ("sentences", "columns", "message"),
    [
        ([["a", None]], None, "Sentence 0 has the token None; expected a word"),
        ([[("a", "N")], [("b",)]], None, r"Sentence 1 has the token \('b',\); expected a tuple of 2 texts"),
        ([["a"], "bc"], None, "Sentence 1 is a text"),
        ([[]], None, "no token"),
        ([["a"]], ["word", "word"], "different names"),
        ([["a"]], ["is_first"], "different names"),
    ],
)
def test_tokens_that_do_not_fit(sentences: Any, columns: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match=message):
        TokenFeatures(columns=columns).fit(sentences)


def test_other_columns_than_in_fit() -> None:
    with pytest.raises(FeatureMismatch, match="tuple of 2 texts"):
        TokenFeatures().fit([[("a", "N")]]).transform([["a"]])
