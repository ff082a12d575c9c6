"""SGD and gradient descent on the surrogates: streams, the plain loop, and what they reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from riffler import GradientAtK, InputError, KClippedWarning, LabelError, OnePassMiniBatch, PerceptronAtK, SGDAtK
from riffler.learners.batches import mean_square
from riffler.losses import SURROGATES, surrogate_from
from tests.naive.sgd_at_k import NaiveSGD

X, y = make_classification(600, 6, weights=[0.8], class_sep=1.5, flip_y=0.02, random_state=2)
PARTS = np.array_split(np.arange(600), 8)
Stream = SGDAtK | PerceptronAtK | OnePassMiniBatch


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("k", [5, 0.25])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_stream_equals_the_plain_loop(k: int | float, average: bool, storage: str) -> None:
    ranker = SGDAtK(k, surrogate="max", learning_rate=0.5, alpha=0.01, radius=1.5, average=average)
    step = 0.5 / mean_square(X[PARTS[0]], np.ones(75))
    slow = NaiveSGD("max", step, 0.01, 1.5, np.zeros(6))
    for rows in PARTS:
        ranker.partial_fit(X[rows] if storage == "dense" else sparse.csr_matrix(X[rows]), y[rows])
        slow.see(X[rows], y[rows], np.ones(len(rows)), k)
        expected = np.mean(slow.iterates, axis=0) if average else slow.w
        np.testing.assert_allclose(ranker.coef_[0], expected, atol=1e-10)
        assert ranker.loss_ == pytest.approx(slow.losses[-1])
    assert ranker.n_iter_ == 8


@pytest.mark.parametrize("ranker", [SGDAtK(0.5), PerceptronAtK(0.5), OnePassMiniBatch(0.5)])
def test_later_batches_of_one_class(ranker: Stream) -> None:
    ranker.partial_fit(X[PARTS[0]], y[PARTS[0]])
    coef, intercept, n_iter = ranker.coef_.copy(), ranker.intercept_.copy(), ranker.n_iter_
    negatives, positives = np.flatnonzero(y == 0)[:30], np.flatnonzero(y == 1)[:30]
    ranker.partial_fit(X[negatives], y[negatives])  # nothing to learn from: no top without positives
    np.testing.assert_array_equal(ranker.coef_, coef)
    np.testing.assert_array_equal(ranker.intercept_, intercept)
    assert ranker.n_iter_ == n_iter
    with pytest.raises(InputError, match="sample_weight is zero in every row"):
        ranker.partial_fit(X[positives], y[positives], sample_weight=np.zeros(30))
    ranker.partial_fit(X[positives], y[positives])
    assert ranker.n_iter_ == n_iter + 1
    assert ranker.predict(X[positives]).sum() == 15


@pytest.mark.parametrize("kind", [SGDAtK, PerceptronAtK, OnePassMiniBatch])
def test_a_first_batch_of_one_class_needs_the_classes(kind: type[Stream]) -> None:
    negatives = np.flatnonzero(y == 0)[:30]
    with pytest.raises(LabelError, match=r"one class only \(0\).*pass classes= to partial_fit"):
        kind(0.5).partial_fit(X[negatives], y[negatives])
    ranker = kind(0.5, random_state=0).partial_fit(X[negatives], y[negatives], classes=[0, 1])
    assert ranker.n_iter_ == 0
    assert not ranker.coef_.any()
    assert not ranker.predict(X).any()  # no top so far
    ranker.partial_fit(X, y)
    assert ranker.coef_.any()
    assert ranker.predict(X).sum() > 0
    with pytest.raises(LabelError, match=r"y holds np.int64\(2\) in row 3|y holds 2 in row 3"):
        ranker.partial_fit(X[:5], [0, 1, 0, 2, 1])


@pytest.mark.parametrize("kind", [SGDAtK, PerceptronAtK])
def test_fewer_positives_than_k_in_a_batch_is_said(kind: type[Stream]) -> None:
    rows = np.append(np.flatnonzero(y == 1)[:3], np.flatnonzero(y == 0)[:20])
    with pytest.warns(KClippedWarning, match="k=10 asks for 10 rows at the top, but only 3 positives are there"):
        kind(10).partial_fit(X[rows], y[rows])


@pytest.mark.parametrize("name", SURROGATES)
def test_training_lowers_the_surrogate_and_ranks_well(name: str) -> None:
    # no flipped labels: against the worst positives the max surrogate would find w = 0 best
    clean, labels = make_classification(600, 6, weights=[0.8], class_sep=2, flip_y=0, random_state=2)
    assert SGDAtK(0.25, surrogate=name, batch_size=100, random_state=0).fit(clean, labels).score(clean, labels) > 0.95
    gradient = GradientAtK(0.25, surrogate=name, alpha=0.0).fit(clean, labels)
    k = round(0.25 * labels.sum())
    at_zero, at_end = (
        surrogate_from(name).value_and_slope(scores, labels, k)[0] / k
        for scores in (np.zeros(600), clean @ gradient.coef_[0])
    )
    assert gradient.loss_ == pytest.approx(at_end)
    assert at_end < at_zero
    assert gradient.score(clean, labels) > 0.95


def test_one_pass_is_one_pass_of_sgd_on_struct() -> None:
    one = OnePassMiniBatch(0.25, radius=2.0, batch_size=100, random_state=0).fit(X, y)
    sgd = SGDAtK(0.25, surrogate="struct", alpha=0.0, n_epochs=1, radius=2.0, batch_size=100, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_, sgd.coef_)
    assert one.n_iter_ == 6


def test_projection_keeps_the_last_iterate_in_the_ball() -> None:
    ranker = SGDAtK(0.25, radius=0.3, average=False, batch_size=50, random_state=0).fit(X, y)
    assert np.linalg.norm(ranker.coef_) <= 0.3 + 1e-9
