"""Block descent on labels in short form is that on whole vectors, with all labellings looked at."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from riffler._fast import label_descent
from riffler._fast.label_tree import MARGIN, SLACK
from riffler._fast.rows import as_rows
from riffler.records import FloatArray
from riffler.structured.label_forest import forest_of_pairs
from tests.naive.label_descent import Descent, joint_feature, kept_after
from tests.naive.label_tree import all_labellings

FOREST = forest_of_pairs([(0, 2), (2, 1)], 4)
EDGES = list(FOREST.edges)


@pytest.mark.parametrize("seed", range(20))
def test_a_labelling_takes_the_first_idle_place_but_never_that_of_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labellings = rng.permutation(all_labellings(3))
    n_kept = int(rng.integers(1, 5))
    kept, shares = np.zeros((8, 3), np.int8), np.zeros(8)
    kept[:n_kept], shares[:n_kept] = labellings[:n_kept], rng.integers(0, 2, n_kept)
    new = labellings[rng.integers(5)]
    expected = kept_after(new.tolist(), kept[:n_kept].tolist(), shares[:n_kept].tolist())
    shares_before = shares.copy()
    n_after = label_descent.keep_labels(new, kept, shares, n_kept)
    assert kept[:n_after].tolist() == expected
    np.testing.assert_array_equal(shares, shares_before)  # who gives way had none


@pytest.mark.parametrize("rescaling", [MARGIN, SLACK])
def test_slopes_are_those_of_the_joint_features(rescaling: int) -> None:
    rng = np.random.default_rng(0)
    x, costs = rng.normal(size=3), rng.random(4)
    weights = rng.normal(size=4 * 4 + 4 * len(EDGES))
    scores = np.concatenate([weights[:16].reshape(4, 4) @ np.append(x, 1.0), weights[16:]])
    kept = rng.permutation(all_labellings(4))[:5]
    slopes, losses = np.full((6, len(scores)), 7.0), np.empty(6)
    label_descent.write_slopes(kept, 5, costs, rescaling, FOREST.tree, slopes, losses)
    for k in range(5):
        loss = float(costs @ (kept[0] != kept[k]))
        whole = joint_feature(x, kept[0], EDGES) - joint_feature(x, kept[k], EDGES)
        assert losses[k] == pytest.approx(loss)
        assert slopes[k] @ scores == pytest.approx((loss if rescaling == SLACK else 1.0) * float(whole @ weights))


@pytest.mark.parametrize("seed", range(5))
def test_moves_reach_the_best_shares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slopes, losses, squares = rng.normal(size=(4, 6)), rng.random(4), rng.random(6) + 0.5
    slopes[0], losses[0] = 0.0, 0.0  # the truth
    start, scores, change, scale = np.array([0.4, 0.6, 0.0, 0.0]), rng.normal(size=6), np.zeros(6), 0.7
    shares, after = start.copy(), scores.copy()
    before = losses - slopes @ scores
    gap, risen = label_descent.move_shares(slopes, losses, shares, squares, scale, 10_000, 1e-12, after, change)
    assert gap == pytest.approx(scale * (before.max() - before @ start))
    assert risen == pytest.approx(scale * float(losses @ (shares - start)))
    np.testing.assert_allclose(change, scale * (shares - start) @ slopes, atol=1e-12)
    np.testing.assert_allclose(after, scores + squares * change, atol=1e-12)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= 0).all()
    heights = losses - slopes @ after  # best: whoever has a share is as high as any
    assert heights.max() - heights[shares > 1e-9].min() < 1e-6


def test_moves_stop_where_enough_is_gained() -> None:
    slopes, losses = np.array([[0.0, 0.0], [1.0, 0.2], [-0.1, 1.0]]), np.array([0.0, 1.0, 0.9])
    gaps_left = []
    for enough in (1e-9, 0.5):
        shares, scores = np.array([1.0, 0.0, 0.0]), np.zeros(2)
        label_descent.move_shares(slopes, losses, shares, np.ones(2), 5.0, 1000, enough, scores, np.zeros(2))
        heights = losses - slopes @ scores
        gaps_left.append(5.0 * float(heights.max() - heights @ shares))
    first = 5.0
    assert gaps_left[0] <= 1e-9 * first < gaps_left[1] <= 0.5 * first


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_visits_are_those_on_whole_vectors(rescaling: str, storage: type) -> None:
    rng = np.random.default_rng(3)
    X, truths = rng.normal(size=(6, 3)) * (rng.random((6, 3)) < 0.7), rng.integers(0, 2, (6, 4)).astype(np.int8)
    costs = np.full(4, 0.25) if rescaling == "slack" else rng.random(4)
    slow = Descent(X, truths, EDGES, costs, rescaling, 5.0)
    weights: FloatArray = np.zeros(16 + 4 * len(EDGES))
    kept, shares, n_kept = np.zeros((6, 16, 4), np.int8), np.zeros((6, 16)), np.ones(6, np.int64)
    kept[:, 0], shares[:, 0] = truths, 1.0
    offset, gaps = 0.0, np.zeros(6)
    for asks in (True, False, True, True, False, True):
        order = rng.permutation(6)
        offset += label_descent.label_visits(
            as_rows(storage(X)), 1.0 + np.square(X).sum(axis=1), order, asks, costs,
            SLACK if rescaling == "slack" else MARGIN, FOREST.tree, 5.0, 1, 0.1, weights[:16].reshape(4, 4),
            weights[16:], kept, shares, n_kept, gaps,
        )  # fmt: skip
        for example in order:
            if asks:
                slow.ask(example)
            assert gaps[example] == pytest.approx(slow.visit(example), abs=1e-9)
        np.testing.assert_allclose(weights, slow.weights, atol=1e-9)
        assert offset == pytest.approx(slow.offset)
        assert [kept[i, : n_kept[i]].tolist() for i in range(6)] == slow.kept
    assert n_kept.max() > 2
