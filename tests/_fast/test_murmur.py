"""MurmurHash3 against scikit-learn's, and values that must never change since they are written to disk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from riffler._fast import murmur
from riffler.features.words import PackedWords


@given(before=st.binary(max_size=5), data=st.binary(max_size=40), seed=st.integers(0, 2**31 - 1))
def test_equals_the_hash_of_scikit_learn(before: bytes, data: bytes, seed: int) -> None:
    array = np.frombuffer(before + data + b"more", dtype=np.uint8)
    ours = murmur.murmur(array, len(before), len(before) + len(data), seed)
    assert ours == murmurhash3_32(data, seed=seed, positive=True)


@given(words=st.lists(st.text(min_size=1, max_size=9).filter(lambda w: w.isprintable()), min_size=1, max_size=8))
def test_hashes_of_words_and_pairs(words: list[str]) -> None:
    packed = PackedWords.of(words)
    arrays = packed.data, packed.starts[:-1], packed.starts[1:]
    mask = np.uint32(2**12 - 1)
    single, pair = np.empty(len(words), dtype=np.int32), np.empty(len(words), dtype=np.int32)
    murmur.hash_words(*arrays, mask, single)
    bounds = np.array([0, len(words) // 2, len(words)])
    murmur.hash_pairs(*arrays, np.arange(len(words), dtype=np.int32), bounds, mask, pair)
    for i, word in enumerate(words):
        assert single[i] == murmurhash3_32(word.encode(), seed=0, positive=True) % 2**12
        if i + 1 in bounds:
            assert pair[i] == -1
        else:
            assert pair[i] == murmurhash3_32(f"{word} {words[i + 1]}".encode(), seed=0, positive=True) % 2**12


@pytest.mark.parametrize(("word", "value"), [("", 0), ("gold", 0xF0666ADD), ("хромая лошадь", 0x84E374F1)])
def test_hashes_stay_what_they_are(word: str, value: int) -> None:
    array = np.frombuffer(word.encode() + b"\0", dtype=np.uint8)
    assert murmur.murmur(array, 0, len(array) - 1, murmur.SEED) == value
