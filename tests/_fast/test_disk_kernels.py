"""Loops of collections on disk against slower, obvious versions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast.id_table import count_keys, find_keys, insert_new, move_keys
from riffler._fast.weights import count_columns, weigh_rows
from riffler.disk.hashed_rows import HashedCounter
from riffler.disk.settings import VectoriserSettings
from riffler.features.text import TextFeatures

TEXTS = st.lists(st.text(st.sampled_from("ab é²_The of\n"), max_size=30), min_size=1, max_size=12)


@given(texts=TEXTS, with_pairs=st.booleans(), stop_words=st.sampled_from(["english", "none"]))
def test_counts_weighed_are_the_rows_of_the_vectoriser(texts: list[str], with_pairs: bool, stop_words: str) -> None:
    import polars as pl

    settings = VectoriserSettings(8, with_pairs, stop_words)
    rows = HashedCounter(settings).rows(pl.Series(texts, dtype=pl.String))
    idf = np.random.default_rng(0).uniform(1, 5, 256)
    values = np.empty(len(rows.indices), dtype=np.float32)
    weigh_rows(rows.bounds, rows.indices, rows.counts, idf, True, True, values)
    expected = settings.fitted(idf).transform(texts)
    np.testing.assert_array_equal(rows.bounds, expected.indptr)
    np.testing.assert_array_equal(rows.indices, expected.indices)
    np.testing.assert_array_equal(values, expected.data)
    n_rows = np.zeros(256, dtype=np.int64)
    count_columns(rows.indices, n_rows)
    np.testing.assert_array_equal(n_rows, np.asarray((expected != 0).sum(axis=0)).ravel())


def test_counts_of_any_size_are_kept() -> None:
    import polars as pl

    for n, kind in ((255, np.uint8), (256, np.uint16), (70_000, np.uint32)):
        rows = HashedCounter(VectoriserSettings(8)).rows(pl.Series(["gull " * n]))
        assert rows.counts.tolist() == [n]
        assert rows.counts.dtype == kind


def test_an_idf_that_does_not_fit_is_refused() -> None:
    import pytest

    from riffler.errors import InputError

    for features, size in ((TextFeatures(n_bits=8), 255), (TextFeatures(), 256)):
        with pytest.raises(InputError, match="use_idf needs n_bits"):
            features.use_idf(np.ones(size))


@given(keys=st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_the_table_of_keys_is_a_dictionary(keys: list[int]) -> None:
    new = np.array(keys, dtype=np.uint64)
    table, numbers = np.zeros(64, dtype=np.uint64), np.zeros(64, dtype=np.uint32)
    n_so_far = np.empty(len(keys), dtype=np.int64)
    assert count_keys(new, table, numbers, n_so_far) == len(set(keys))
    assert n_so_far.tolist() == [keys[: place + 1].count(key) for place, key in enumerate(keys)]
    larger, larger_numbers = np.zeros(256, dtype=np.uint64), np.zeros(256, dtype=np.uint32)
    move_keys(table, numbers, larger, larger_numbers)
    found = np.empty(42, dtype=np.int64)
    find_keys(np.arange(1, 43, dtype=np.uint64), larger, larger_numbers, found)
    assert found.tolist() == [keys.count(key) or -1 for key in range(1, 43)]
    first: dict[int, int] = {}
    repeated = next((place for place, key in enumerate(keys) if first.setdefault(key, place) != place), len(keys))
    rows, row_numbers = np.zeros(256, dtype=np.uint64), np.zeros(256, dtype=np.uint32)
    at, number = insert_new(new, 0, 100, rows, row_numbers)
    assert at == repeated
    assert number == (-1 if repeated == len(keys) else 100 + first[keys[repeated]])
