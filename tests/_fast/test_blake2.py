"""Digests of many texts are those of hashlib, for any length of text and key."""

from __future__ import annotations

import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast.blake2 import keyed_digests


@given(
    texts=st.lists(st.one_of(st.binary(max_size=40), st.binary(min_size=100, max_size=400)), min_size=1, max_size=6),
    key=st.binary(min_size=1, max_size=64),
)
def test_digests_are_those_of_hashlib(texts: list[bytes], key: bytes) -> None:
    data = np.frombuffer(b"".join(texts) + b"\0", dtype=np.uint8)
    out = np.empty(len(texts), dtype=np.uint64)
    keyed_digests(data, np.cumsum([len(one) for one in texts]), np.frombuffer(key, dtype=np.uint8), out)
    assert out.tolist() == [
        int.from_bytes(hashlib.blake2b(one, digest_size=8, key=key).digest(), "big") for one in texts
    ]
