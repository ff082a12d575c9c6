"""The report of a tagger, sentences held out, and the choice of C."""

from __future__ import annotations

import pytest

from riffler.data.conll import TaggedText, parse_conll
from riffler.errors import InputError
from riffler.evaluation.tagging_report import choose_c, hold_out, tagging_report
from riffler.learners.chain_tagger import ChainTagger
from riffler.metrics.chunks import chunk_scores


def text_of(n: int) -> TaggedText:
    return parse_conll("".join(f"the{number % 3} B-NP\ngull{number} I-NP\nflies O\n\n" for number in range(n)), "toy")


def test_rows_are_those_of_chunk_scores() -> None:
    true, predicted = [["B-a", "O", "B-b"], ["O"]], [["B-a", "O", "O"], ["B-b"]]
    found = tagging_report(true, predicted, ["B-a", "B-b", "O"], n_resamples=50)
    scores = chunk_scores(true, predicted)
    assert found.overall is not None
    assert found.overall.f1.value == pytest.approx(scores.overall.f1)
    assert [(row.type, row.n_true, row.recall) for row in found.by_type] == [("a", 1, 1.0), ("b", 1, 0.0)]
    assert (found.n_sentences, found.n_tokens, found.token_accuracy) == (2, 4, 0.5)


def test_tags_of_no_chunks_have_an_accuracy_only() -> None:
    found = tagging_report([["DT", "NN"]], [["DT", "VB"]], ["DT", "NN", "VB"])
    assert (found.overall, found.by_type, found.token_accuracy) == (None, (), 0.5)


def test_a_strange_tag_is_a_wrong_token_outside_of_chunks() -> None:
    found = tagging_report([["B-a", "X", "B-a"]], [["B-a", "O", "O"]], ["B-a", "O"], n_resamples=20)
    assert found.overall is not None
    assert (found.overall.n_true, found.overall.n_predicted, found.overall.n_correct) == (2, 1, 1)
    assert found.token_accuracy == pytest.approx(1 / 3)


@pytest.mark.parametrize("labels", [["B-a", "O"], ["O"]])
def test_where_all_is_o_there_are_no_chunks_and_f1_is_0(labels: list[str]) -> None:
    found = tagging_report([["O", "O"]], [["O", "O"]], labels, n_resamples=20)
    assert found.overall is not None
    assert (found.overall.n_true, found.overall.n_predicted, found.overall.f1.value) == (0, 0, 0.0)


def test_a_tenth_is_held_out_and_nothing_is_lost() -> None:
    text = text_of(40)
    train, part = hold_out(text, seed=1)
    assert len(part.sentences) == 4
    assert sorted(train.sentences + part.sentences) == sorted(text.sentences)
    assert part.sentences == hold_out(text, seed=1)[1].sentences != hold_out(text, seed=2)[1].sentences
    with pytest.raises(InputError, match="one sentence cannot be split"):
        hold_out(text_of(1), seed=0)


def test_c_is_chosen_where_a_tag_held_out_is_strange() -> None:
    text = text_of(20)
    assert text.tags is not None
    held_out = hold_out(text, seed=0)[1].sentences[0]
    tags = [["X", *own[1:]] if words == held_out else own for words, own in zip(text.sentences, text.tags, strict=True)]
    strange = TaggedText(text.columns, text.sentences, tags, "toy")
    _, tried = choose_c(ChainTagger("word[0]", random_state=0), strange, grid=(100.0,))
    assert 0 < tried[0].score < 1


def test_c_is_chosen_by_sentences_held_out() -> None:
    said: list[str] = []
    # the last word is mostly O: with a small C the rare one is not worth a weight of its own
    text = parse_conll("a O\na O\n\na O\na O\n\na O\nc B-NP\n\n" * 20, "toy")
    tagger = ChainTagger(["word[0]", "is_last"], tol=0.1, random_state=0)
    tell = said.append
    best, tried = choose_c(tagger, text, grid=(0.01, 100.0), tell=lambda share, doing: tell(doing))
    assert [trial.C for trial in tried] == [0.01, 100.0]
    assert tried[0].score < tried[1].score == 1.0
    assert best == 100.0
    assert said == ["trying C = 0.01", "trying C = 100"]
    assert tagger.C == ChainTagger().C
