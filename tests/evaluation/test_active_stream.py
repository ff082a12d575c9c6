"""Streams deal every row once, repeatably; thinning leaves the share of positives that was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.errors import InputError, LabelError
from riffler.evaluation.active_stream import random_stream, thinned


@given(n_rows=st.integers(20, 300), n_batches=st.integers(1, 9), share=st.floats(0, 0.5), seed=st.integers(0, 9))
def test_every_row_is_dealt_or_held_out_once(n_rows: int, n_batches: int, share: float, seed: int) -> None:
    X, labels = np.zeros((n_rows, 1)), np.arange(n_rows) % 2
    stream = random_stream(X, labels, seed, n_batches, share)
    everything = np.concatenate([*stream.batches, stream.held_out])
    assert sorted(everything.tolist()) == list(range(n_rows))
    assert len(stream.batches) == n_batches
    sizes = [len(batch) for batch in stream.batches]
    assert max(sizes) - min(sizes) <= 1
    assert len(stream.held_out) == round(share * n_rows)


def test_the_seed_decides_the_order() -> None:
    X, labels = np.zeros((1000, 1)), np.arange(1000) % 2
    first, again, other = (random_stream(X, labels, seed) for seed in (0, 0, 1))
    assert len(first.batches) == 7  # ln 900 = 6.8
    for one, two in zip(first.batches, again.batches, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.batches[0], other.batches[0])


@given(share=st.floats(0.02, 0.29), seed=st.integers(0, 9))
def test_thinning_drops_positives_only(share: float, seed: int) -> None:
    labels = (np.arange(1000) % 10 < 3).astype(int)
    rows = thinned(np.zeros((1000, 1)), labels, share, seed)
    assert np.all(np.diff(rows) > 0)
    assert (labels[rows] == 0).sum() == 700
    assert labels[rows].mean() == pytest.approx(share, abs=1 / 700)


def test_what_cannot_be_dealt_is_refused() -> None:
    X, labels = np.zeros((10, 1)), np.arange(10) % 2
    with pytest.raises(InputError, match="from 1 to the 9 rows"):
        random_stream(X, labels, 0, n_batches=10)
    with pytest.raises(InputError, match="held_out"):
        random_stream(X, labels, 0, held_out=1.0)
    with pytest.raises(LabelError, match="each of the 10 rows"):
        random_stream(X, labels[:9], 0)
    with pytest.raises(LabelError, match="0 or 1; got also"):
        random_stream(X, labels - 1, 0)
    with pytest.raises(LabelError, match="needs 45 positives"):
        thinned(X, labels, share=0.9, seed=0)
    with pytest.raises(InputError, match="between 0 and 1"):
        thinned(X, labels, share=0.0, seed=0)
