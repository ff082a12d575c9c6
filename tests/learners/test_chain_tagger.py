"""ChainTagger: sentences and tags in, tags out, and clear words where they do not fit."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from riffler.data.conll import read_conll
from riffler.errors import FeatureMismatch, InputError, LabelError, UnknownName
from riffler.learners.chain_tagger import ChainTagger
from riffler.metrics.chunks import chunk_scores, token_accuracy
from riffler.structured.bio import bio_constraints, first_broken_rule
from riffler.structured.convergence import Turn

SENTENCES = [["the", "gull", "cries"], ["a", "gull", "sees", "the", "old", "owl"], ["owls", "fly"]]
TAGS = [["B-NP", "I-NP", "O"], ["B-NP", "I-NP", "O", "B-NP", "I-NP", "I-NP"], ["B-NP", "O"]]


@pytest.fixture(scope="module")
def tagger() -> ChainTagger:
    return ChainTagger(random_state=0).fit(SENTENCES, TAGS)


def test_tags_are_learned_and_the_gap_is_closed(tagger: ChainTagger) -> None:
    assert tagger.predict(SENTENCES) == TAGS
    assert tagger.predict([["the", "owl", "cries"]]) == [["B-NP", "I-NP", "O"]]
    assert tagger.turns_[-1].is_within(0.01)
    assert tagger.labels_ == ("B-NP", "I-NP", "O")


def test_sentences_of_no_and_of_one_token(tagger: ChainTagger) -> None:
    assert tagger.predict([]) == []
    assert tagger.predict([[], ["owls"], []]) == [[], ["B-NP"], []]
    again = ChainTagger(random_state=0).fit([[], *SENTENCES, ["a"]], [[], *TAGS, ["B-NP"]])
    assert again.predict([[], ["a"]]) == [[], ["B-NP"]]


def test_columns_and_template() -> None:
    tokens = [[("gull", "N"), ("flies", "V")], [("flies", "N"), ("gull", "V")]]
    tagger = ChainTagger("pos[0]", random_state=0).fit(tokens, [["n", "v"], ["n", "v"]])
    assert tagger.features_.n_features_ == 2
    assert tagger.predict([[("x", "V"), ("y", "N")]]) == [["v", "n"]]
    named = ChainTagger("kind[0]", columns=["form", "kind"], random_state=0).fit(tokens, [["n", "v"]] * 2)
    assert named.predict([[("x", "V")]]) == [["v"]]


def test_score_is_f1_of_chunks_or_share_of_tokens(tagger: ChainTagger) -> None:
    other = [["B-NP", "I-NP", "B-VP"], TAGS[1], ["O", "O"]]  # VP was not seen: an error, not a failure
    assert tagger.score(SENTENCES, other) == chunk_scores(other, TAGS).overall.f1
    assert 0 < tagger.score(SENTENCES, other) < 1
    strange: Any = [["B-NP", "I-NP", "X"], TAGS[1], [None, "O"]]  # no tags of chunks: outside of them
    outside = [["B-NP", "I-NP", "O"], TAGS[1], ["O", "O"]]
    assert tagger.score(SENTENCES, strange) == chunk_scores(outside, TAGS).overall.f1 < 1
    kinds = [["D", "N", "V"], ["D", "N", "V", "D", "A", "N"], ["N", "V"]]
    speech = ChainTagger(random_state=0).fit(SENTENCES, kinds)
    wrong = [["D", "N", "X"], *kinds[1:]]
    assert speech.score(SENTENCES, wrong) == token_accuracy(wrong, kinds) == 10 / 11


def test_tags_may_be_any_labels() -> None:
    tagger = ChainTagger(random_state=0).fit(SENTENCES, [[len(word) for word in words] for words in SENTENCES])
    assert tagger.predict([["gull", "a"]]) == [[4, 1]]


@pytest.mark.parametrize("dtype", [str, object])
def test_sentences_and_tags_may_be_arrays(tagger: ChainTagger, dtype: type) -> None:
    sentences: Any = [np.array(own, dtype=dtype) for own in SENTENCES]
    tags: Any = [np.array(own, dtype=dtype) for own in TAGS]
    assert tagger.predict(sentences) == TAGS
    assert (ChainTagger(random_state=0).fit(sentences, tags).model_.coef_ == tagger.model_.coef_).all()


def test_where_all_tags_are_one_there_is_nothing_to_learn() -> None:
    with pytest.warns(UserWarning, match="All tags are 'O': there is nothing to learn") as told:
        tagger = ChainTagger(random_state=0).fit([["a", "b"]], [["O", "O"]])
    assert len(told) == 1
    assert tagger.predict([["a"]]) == [["O"]]
    assert tagger.score([["a"]], [["O"]]) == 0  # F1 of no chunks


def test_a_huge_weight_ends_soon_and_the_warning_says_what_a_tagger_can_do() -> None:
    sentences, tags = [["a", "b"], ["a", "b"], ["a"]], [["O", "B"], ["B", "O"], ["O"]]  # cannot all be right
    with pytest.warns(ConvergenceWarning) as told:
        tagger = ChainTagger(C=1e9, random_state=0).fit(sentences, tags)
    (one,) = [str(warning.message) for warning in told]
    assert "ChainTagger stopped at a gap of" in one
    assert "ask for a smaller C than 1e+09, or a larger tol" in one
    assert tagger.turns_[-1].oracle_calls < 30_000


def test_constraints_keep_chunks_whole() -> None:
    words, tags = [["x", "y"], ["z"], ["x", "y"]], [["B-a", "I-a"], ["O"], ["B-a", "I-a"]]
    free = ChainTagger("word[0]", constraints=None, random_state=0).fit(words, tags)
    bound = ChainTagger("word[0]", constraints="bio", random_state=0).fit(words, tags)
    assert free.predict([["y"], ["z", "y"]]) == [["I-a"], ["O", "I-a"]]
    for said in bound.predict([["y"], ["z", "y"]]):
        assert first_broken_rule([said], bio_constraints(["B-a", "I-a", "O"])) is None


def test_tags_that_break_the_rules() -> None:
    first = [["I-NP", "O", "B-NP"]]  # as in IOB1
    with pytest.raises(LabelError, match="Sentence 0, token 0: 'I-NP' may not stand there"):
        ChainTagger(constraints="bio").fit([["a", "b", "c"]], first)
    tagger = ChainTagger(random_state=0).fit([["a", "b", "c"]], first)
    assert tagger.predict([["a", "b", "c"]]) == first


def test_the_same_seed_gives_the_same_weights_and_models_can_be_kept(tagger: ChainTagger) -> None:
    turns: list[Turn] = []
    again = clone(tagger).set_params(progress=turns.append).fit(SENTENCES, TAGS)
    assert (again.model_.coef_ == tagger.model_.coef_).all()
    assert tuple(turns) == again.turns_
    kept = pickle.loads(pickle.dumps(tagger))
    assert kept.predict(SENTENCES) == TAGS


@pytest.mark.parametrize(
    ("sentences", "tags", "error", "message"),
    [
        ([["a"]], [["O"], ["O"]], InputError, "Sentences: 1, sequences of tags: 2"),
        ([["a", "b"]], [["O"]], InputError, "Sentence 0 has 2 tokens and 1 tags"),
        ([["a"]], ["O"], InputError, "tags of sentence 0 are a text"),
        (["a"], [["O"]], InputError, "Sentence 0 is a text"),
        ([[("a", "N"), ("b",)]], [["O", "O"]], FeatureMismatch, r"Sentence 0 has the token \('b',\)"),
        ([[1]], [["O"]], InputError, "token"),
        ([], [], LabelError, "no label"),
        ([[]], [[]], LabelError, "no label"),
    ],
)
def test_what_cannot_be_learned_from(sentences: Any, tags: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        ChainTagger().fit(sentences, tags)


def test_other_columns_than_in_fit(tagger: ChainTagger) -> None:
    with pytest.raises(FeatureMismatch, match="expected a word"):
        tagger.predict([[("the", "DT")]])


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ({"C": 0}, InputError, "C must be above 0"),
        ({"tol": -1.0}, InputError, "tol must be above 0"),
        ({"constraints": "bia"}, UnknownName, "Known: auto, bio"),
        ({"min_count": 0}, InputError, "min_count must be 1 or more"),
        ({"template": "speech[0]"}, UnknownName, "Line 1 of the template .*no column called 'speech'"),
        ({"columns": ["word", "pos"]}, FeatureMismatch, "expected a tuple of 2 texts"),
        ({"columns": ["my-word"]}, InputError, "columns must be .* of letters, digits and _"),
        ({"columns": 3}, InputError, "columns must be a list"),
        ({"C": "a"}, InputError, "C must be above 0, got 'a'"),
        ({"tol": None}, InputError, "tol must be above 0, got None"),
        ({"min_count": "2"}, InputError, "min_count must be 1 or more, got '2'"),
        ({"min_count": float("nan")}, InputError, "min_count must be 1 or more, got nan"),
        ({"miss_cost": None}, InputError, "miss_cost must be a number above 0 or .*, got None"),
        ({"solver": 3}, InputError, "solver must be a name .*block-descent.*, got 3"),
        ({"template": 3}, InputError, "template must be a text, or a list of lines .*, got 3"),
        ({"template": [3]}, InputError, r"template must be a text, or a list of lines .*, got \[3\]"),
    ],
)
def test_settings_that_cannot_be(setting: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ChainTagger(**setting).fit(SENTENCES, TAGS)


def test_entities_of_messages(data_folder: Path) -> None:
    text = read_conll(data_folder / "wnut17" / "train.conll.xz")
    dev = read_conll(data_folder / "wnut17" / "dev.conll.xz")
    assert text.tags is not None
    assert dev.tags is not None
    tagger = ChainTagger(C=200, tol=0.2, random_state=0).fit(text.sentences[:800], text.tags[:800])
    assert tagger.score(dev.sentences, dev.tags) > 0.1


def test_saying_o_costs_more_where_nearly_all_is_o() -> None:
    sentences, tags = [["Ada", "sees", "the", "sea", "now"]], [["B-PER", "O", "O", "O", "O"]]
    for miss_cost, expected in (("auto", 2.0), (3.0, 3.0)):
        tagger = ChainTagger(miss_cost=miss_cost, random_state=0).fit(sentences, tags)
        task = tagger.model_.task_
        assert task.loss(tags[0], ["O"] * 5) == expected
        assert task.loss(["O"], ["B-PER"]) == 1.0
        assert tagger.miss_cost_ == expected


def test_the_cost_of_a_miss_is_checked() -> None:
    with pytest.raises(InputError, match='miss_cost must be a number above 0 or "auto", got -1'):
        ChainTagger(miss_cost=-1).fit([["a"]], [["O"]])
