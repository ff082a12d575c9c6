"""Taking the best few equals sorting them all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast.selection import keep_best, sort_items


@given(
    rows=st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3)), min_size=1, max_size=25),
    sign=st.sampled_from([1.0, -1.0]),
    share=st.floats(0.01, 1.0),
)
def test_keep_best_equals_sorting(rows: list[tuple[int, int]], sign: float, share: float) -> None:
    scores = np.array([score for score, _ in rows], dtype=float)
    weight = np.array([mass for _, mass in rows], dtype=float)
    amount = max(1e-9, share * weight.sum())
    kept = np.empty(len(rows), dtype=np.int64)
    size, total, left_out = keep_best(np.arange(len(rows)), scores, weight, sign, amount, kept)
    mine = kept[:size]

    assert len(set(mine.tolist())) == size
    assert total == pytest.approx(weight[mine].sum())
    others = np.setdiff1d(np.arange(len(rows)), mine)
    if others.size:  # none outside is better than one inside, and the best outside is reported
        assert (sign * scores[others]).max() <= (sign * scores[mine]).min(initial=np.inf)
        assert left_out == sign * (sign * scores[others]).max()
    else:
        assert left_out == -sign * np.inf
    if weight.sum() > 0:
        assert total >= amount - 1e-12
        assert sign * scores[mine[0]] == (sign * scores[mine]).min()
        assert total - weight[mine[0]] < amount  # without the worst it would not reach


@given(scores=st.lists(st.integers(-9, 9), min_size=1, max_size=30), sign=st.sampled_from([1.0, -1.0]))
def test_sort_items_equals_sorting(scores: list[int], sign: float) -> None:
    values = np.array(scores, dtype=float)
    items = np.random.default_rng(len(scores)).permutation(len(scores))
    sort_items(items, values, sign)
    assert sorted(items.tolist()) == list(range(len(scores)))
    np.testing.assert_array_equal(values[items], sign * -np.sort(-sign * values))
