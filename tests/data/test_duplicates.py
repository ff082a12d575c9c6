"""Duplicates: none missed and none invented against all pairs, in any script, and nothing grouped unasked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.data import Collection, collection_from_frame, find_duplicates, load_collection
from riffler.data.comparable import comparable
from riffler.data.near_texts import N_HASHES, Signatures, band_width, near_pairs, shingle_sets_of
from riffler.errors import InputError
from riffler.records import IntArray
from tests.naive import duplicates as naive


def collection(titles: list[str], abstracts: list[str] | None = None, **columns: list[object]) -> Collection:
    frame = pl.DataFrame({"title": titles, "abstract": abstracts or [""] * len(titles), **columns})
    return collection_from_frame(frame)


def as_lists(groups: tuple[IntArray, ...]) -> list[list[int]]:
    return [group.tolist() for group in groups]


def edited(rng: np.random.Generator, n_texts: int, letters: str = "abcdefgh") -> list[str]:
    """Texts of which most are an earlier one with a few words changed."""
    vocabulary = ["".join(rng.choice(list(letters), size=4)) for _ in range(300)]
    texts: list[list[str]] = []
    for _ in range(n_texts):
        if texts and rng.random() < 0.7:
            words = list(texts[rng.integers(len(texts))])
            for _ in range(rng.integers(0, 4)):
                words[rng.integers(len(words))] = str(rng.choice(vocabulary))
        else:
            words = [str(word) for word in rng.choice(vocabulary, size=rng.integers(1, 80))]
        texts.append(words)
    return [" ".join(words) for words in texts]


@given(seed=st.integers(0, 10_000), threshold=st.sampled_from([0.5, 0.7, 0.9, 1.0]))
def test_groups_are_those_of_all_pairs_compared(seed: int, threshold: float) -> None:
    texts = edited(np.random.default_rng(seed), 40)
    found = find_duplicates(collection(texts), threshold=threshold)
    assert as_lists(found.groups) == naive.near_groups(texts, threshold)


@given(seed=st.integers(0, 10_000))
def test_groups_are_those_of_all_pairs_in_scripts_without_blanks(seed: int) -> None:
    texts = [text.replace(" ", "") for text in edited(np.random.default_rng(seed), 30, "日本語の論文研究調査データ")]
    assert as_lists(find_duplicates(collection(texts)).groups) == naive.near_groups(texts, 0.9)


@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=20))
def test_any_texts_have_the_sets_of_the_naive_way(texts: list[str]) -> None:
    texts = comparable(pl.Series(texts, dtype=pl.String)).to_list()
    hashes, places = shingle_sets_of(pl.Series(texts, dtype=pl.String))
    sets = [set(hashes[places[row] : places[row + 1]].tolist()) for row in range(len(texts))]
    slow = [naive.runs(text) for text in texts]
    assert [len(own) for own in sets] == [len(own) for own in slow]
    for a in range(len(texts)):
        for b in range(a):
            assert len(sets[a] & sets[b]) == len(slow[a] & slow[b])


def test_each_near_pair_has_its_exact_similarity() -> None:
    texts = edited(np.random.default_rng(5), 200)
    found = find_duplicates(collection(texts), threshold=0.7)
    near = [at for at, reason in enumerate(found.reasons) if reason == "near"]
    assert len(near) > 20
    for at in near:
        a, b = found.pairs[at]
        assert found.similarities[at] == naive.jaccard(naive.runs(texts[a]), naive.runs(texts[b])) >= 0.7


def test_hashes_agree_as_often_as_sets_are_similar() -> None:
    texts = pl.Series(["a b c d e f g h i j k l m n", "a b c d e f g h i j k l x y"])
    similarity = naive.jaccard(naive.runs(texts[0]), naive.runs(texts[1]))
    signatures = Signatures(2, 0.9)
    agree = []
    for seed in range(40):
        signatures._seeds = np.random.default_rng(seed).integers(0, 2**32, N_HASHES, dtype=np.uint32)
        signatures.add(0, texts)
        agree.append(np.mean(signatures._least[0] == signatures._least[1]))
    assert abs(np.mean(agree) - similarity) < 4 * np.sqrt(similarity * (1 - similarity) / (40 * N_HASHES))


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99])
def test_bands_miss_next_to_no_pair_at_the_threshold(threshold: float) -> None:
    width = band_width(threshold)
    assert N_HASHES % width == 0
    assert (1 - threshold**width) ** (N_HASHES // width) <= 1e-4


def test_records_of_other_scripts_are_not_duplicates_of_each_other() -> None:
    titles = [
        "日本語の論文",
        "中文的文章",
        "Русская статья",
        "مقالة عربية",
        "हिन्दी लेख",
        "บทความภาษาไทย",
        "עברית",
        "한국어 논문",
    ]
    assert find_duplicates(collection(titles)).groups == ()
    assert find_duplicates(collection(["कि", "की", "का"])).groups == ()  # they differ in marks alone


def test_case_width_and_punctuation_make_no_difference() -> None:
    titles = [
        "The ﬁrst Straße!",
        "THE FIRST STRASSE",
        "the first -- strasse",
        "Ｔｈｅ first strasse",
        "Cafe\u0301",
        "CAFÉ",
    ]
    assert as_lists(find_duplicates(collection(titles)).groups) == [[0, 1, 2, 3], [4, 5]]


def test_signs_that_matter_are_kept() -> None:
    assert find_duplicates(collection(["A compiler for C", "A compiler for C++", "A compiler for C#"])).groups == ()


def test_empty_texts_are_nobodys_duplicates() -> None:
    assert find_duplicates(collection(["", "...", "", "gulls"])).groups == ()


def test_equal_dois_are_duplicates_whatever_the_text() -> None:
    dois: list[object] = ["10.1000/A1", "https://doi.org/10.1000/a1", None, "", "doi:10.1000/a2"]
    found = find_duplicates(collection(["one", "two", "three", "four", "five"], DOI=dois))
    assert as_lists(found.groups) == [[0, 1]]
    assert found.reasons == ("doi",)


def test_a_crowd_of_copies_takes_one_comparison_each() -> None:
    base = [f"word{at}" for at in range(60)]
    texts = pl.Series([" ".join([*base, f"end{row}"]) for row in range(20_000)])
    signatures = Signatures(len(texts), 0.9)
    signatures.add(0, texts)
    pairs, _ = near_pairs(signatures, np.arange(len(texts)), texts.gather, 0.9)
    assert len(pairs) == len(texts) - 1


def test_nothing_is_grouped_before_it_is_asked_for() -> None:
    items = collection(["Gulls", "gulls", "Owls"], ["They fly", "They fly.", ""], included=["", "yes", "no"])
    found = find_duplicates(items)
    assert items.n_items == 3
    small = items.grouped(found)
    assert small.titles == ("Gulls", "Owls")
    assert small.twins == {items.ids[0]: (items.ids[1],)}
    assert small.labels is not None
    assert small.labels.tolist() == [1, 0]  # what is known of a twin is known of the one that stands for it
    assert small.columns.height == 2


def test_the_longest_text_stands_for_its_group() -> None:
    items = collection(["Gulls", "Gulls"], ["", "They fly."], doi=["10.1000/1", "10.1000/1"])
    small = items.grouped(find_duplicates(items))
    assert small.texts == ("Gulls\nThey fly.",)


def test_duplicates_of_another_collection_are_refused() -> None:
    with pytest.raises(InputError, match="3 items, this collection has 1"):
        collection(["a"]).grouped(find_duplicates(collection(["a", "b", "c"])))
    twice = collection(["a b c", "A b c"])
    with pytest.raises(InputError, match="grouped already"):
        (small := twice.grouped(find_duplicates(twice))).grouped(find_duplicates(small))


def test_the_table_shows_both_sides() -> None:
    items = collection(["Gulls", "gulls", "Owls"])
    table = find_duplicates(items).table(items)
    assert table.select("group", "title", "other_title", "reason").rows() == [(1, "Gulls", "gulls", "text")]
    assert find_duplicates(collection(["a"])).table(collection(["a"])).height == 0


@pytest.mark.parametrize("threshold", [0, -1, 1.1])
def test_a_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold"):
        find_duplicates(collection(["a"]), threshold=threshold)


def test_a_real_collection_equals_all_pairs(data_folder: Path) -> None:
    items = load_collection("screening-nagtegaal2019", folder=data_folder).take(np.arange(1000, 1500))
    texts = comparable(items.texts.series).to_list()
    assert as_lists(find_duplicates(items, threshold=0.8).groups) == naive.near_groups(texts, 0.8)
