"""Chunks are counted as conlleval counts them; intervals come from sentences drawn again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.errors import InputError, LabelError
from riffler.metrics.chunks import (
    ChunkScore,
    chunk_f1_difference,
    chunk_f1_intervals,
    chunk_scores,
    chunks_of,
    others_outside,
    token_accuracy,
)
from tests.naive import chunks as naive

TAGS = st.sampled_from(["O", "B-NP", "I-NP", "E-NP", "S-NP", "L-NP", "U-VP", "B-VP", "I-VP", "I", "B", "I-a-b"])
TOKENS = st.lists(st.tuples(TAGS, TAGS), max_size=12)
TAGGED = st.lists(TOKENS, min_size=1, max_size=6).filter(lambda sentences: any(map(len, sentences)))


def both(tagged: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[list[str]]]:
    return [[one for one, _ in sentence] for sentence in tagged], [[two for _, two in sentence] for sentence in tagged]


@given(TAGGED)
def test_chunks_are_those_of_conlleval(tagged: list[list[tuple[str, str]]]) -> None:
    true, predicted = both(tagged)
    assert [chunks_of(tags) for tags in true] == [naive.chunks(tags) for tags in true]
    found = chunk_scores(true, predicted)
    assert found.overall == ChunkScore(*naive.counts(true, predicted))
    for kind, score in found.by_type.items():
        n_true = sum(own == kind for tags in true for *_, own in naive.chunks(tags))
        assert score.n_true == n_true


def test_a_case_counted_by_hand() -> None:
    true = [["B-NP", "I-NP", "O", "B-PP"], [], ["I-NP", "B-NP"]]
    predicted = [["B-NP", "I-NP", "B-VP", "B-PP"], [], ["I-NP", "I-NP"]]
    found = chunk_scores(true, predicted)
    assert found.overall == ChunkScore(n_true=4, n_predicted=4, n_correct=2)
    assert (found.overall.precision, found.overall.recall, found.overall.f1) == (0.5, 0.5, 0.5)
    assert found.by_type["NP"] == ChunkScore(3, 2, 1)
    assert found.by_type["VP"] == ChunkScore(0, 1, 0)
    assert found.by_type["VP"].f1 == 0
    assert list(found.by_type) == ["NP", "PP", "VP"]
    assert found.token_accuracy == pytest.approx(4 / 6)


def test_a_chunk_does_not_go_over_the_end_of_a_sentence() -> None:
    assert chunk_scores([["B-X"], ["I-X"]], [["B-X"], ["B-X"]]).overall == ChunkScore(2, 2, 2)


def test_sentences_without_any_chunk() -> None:
    found = chunk_scores([["O", "O"]], [["O", "O"]])
    assert (found.overall, found.token_accuracy) == (ChunkScore(0, 0, 0), 1.0)
    assert found.overall.f1 == found.overall.precision == found.overall.recall == 0


def test_bilou_is_read_as_bioes() -> None:
    assert chunks_of(["B-a", "I-a", "L-a", "U-a", "U-a"]) == chunks_of(["B-a", "I-a", "E-a", "S-a", "S-a"])
    assert chunks_of(["B-a", "L-a", "L-a"]) == [(0, 2, "a"), (2, 3, "a")]


def test_tags_of_no_chunk_are_outside() -> None:
    given = [["B-a", "X", None, "I-a"], []]
    assert others_outside(given) == [["B-a", "O", "O", "I-a"], []]


def noisy(seed: int, share: float) -> tuple[list[list[str]], list[list[str]]]:
    rng = np.random.default_rng(seed)
    true = [rng.choice(["O", "B-X", "I-X", "B-Y"], size=8).tolist() for _ in range(200)]
    return true, [[tag if rng.random() > share else "O" for tag in tags] for tags in true]


def test_intervals_are_those_of_sentences_drawn_one_by_one() -> None:
    true, predicted = noisy(0, 0.2)
    found = chunk_f1_intervals(true, predicted, n_resamples=300, seed=1)
    rng = np.random.default_rng(1)
    values = []
    for _ in range(300):
        drawn = rng.integers(200, size=200)
        n_true, n_predicted, n_correct = naive.counts([true[i] for i in drawn], [predicted[i] for i in drawn])
        values.append(2 * n_correct / (n_true + n_predicted))
    assert (found.overall.low, found.overall.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))
    scores = chunk_scores(true, predicted)
    assert found.overall.value == pytest.approx(scores.overall.f1)
    assert found.by_type["Y"].value == pytest.approx(scores.by_type["Y"].f1)
    assert found.by_type["Y"].low < scores.by_type["Y"].f1 < found.by_type["Y"].high


def test_the_difference_of_two_taggings() -> None:
    true, good = noisy(0, 0.1)
    poor = noisy(0, 0.3)[1]
    found = chunk_f1_difference(true, good, poor, n_resamples=300)
    assert found.difference == pytest.approx(chunk_scores(true, good).overall.f1 - chunk_scores(true, poor).overall.f1)
    assert 0 < found.low < found.difference < found.high
    assert found.p_value < 0.01
    assert chunk_f1_difference(true, good, good, n_resamples=50).p_value == 1.0


def test_nothing_is_known_of_what_no_resample_has() -> None:
    true = [["O"]] * 5
    found = chunk_f1_intervals(true, true, n_resamples=40).overall
    assert (found.value, found.low < 0.1, found.high > 0.9) == (0.0, True, True)


@pytest.mark.parametrize(
    ("true", "predicted", "error", "message"),
    [
        ([["O"]], [["O"], ["O"]], InputError, "1 sentences with true tags, 2 with predicted ones"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], InputError, "Sentence 1 has 2 true tags and 1"),
        ([["NN"]], [["O"]], LabelError, "got 'NN'"),
        ([[]], [[]], InputError, "no token"),
    ],
)
def test_what_cannot_be_compared(true: Any, predicted: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        chunk_scores(true, predicted)


def test_token_accuracy_takes_any_tags() -> None:
    assert token_accuracy([["NN", 3]], [["NN", 4]]) == 0.5  # type: ignore[list-item]
