"""Every ranker says what is wrong, where, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import NotFittedError

from riffler import FeatureMismatch, InputError, KClippedWarning, LabelError, TopKRanker, UnknownName
from riffler.learners import RANKERS, ranker_from_name

rng = np.random.default_rng(0)
y = (np.arange(40) % 4 == 0).astype(int)
X = rng.normal(size=(40, 3)) + 2 * y[:, None]

every_ranker = pytest.mark.parametrize("name", RANKERS)


def ranker(name: str, **params: Any) -> Any:  # noqa: ANN401 - an estimator
    return ranker_from_name(name, random_state=0, **params)


@every_ranker
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(("bad", "said"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_a_value_that_is_not_finite_is_named_by_row_and_column(name: str, storage: str, bad: float, said: str) -> None:
    broken = X.copy()
    broken[17, 2] = bad
    given = broken if storage == "dense" else sparse.csr_matrix(broken)
    with pytest.raises(InputError, match=rf"X holds {said} in row 17, column 2"):
        ranker(name).fit(given, y)
    fitted = ranker(name).fit(X, y)
    with pytest.raises(InputError, match=rf"X holds {said} in row 17, column 2"):
        fitted.decision_function(given)


@every_ranker
@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros(40, dtype=int), r"y has one class only \(0\)"),
        (np.ones(40, dtype=int), r"y has one class only \(1\)"),
        (np.arange(40) % 3, r"3 classes, 0, 1, 2\. Map the relevant class to 1"),
        (rng.normal(size=40), "continuous"),
        (None, "requires y to be passed"),
    ],
    ids=["all negative", "all positive", "three classes", "continuous", "none"],
)
def test_labels_that_are_not_two_classes(name: str, labels: ArrayLike | None, said: str) -> None:
    with pytest.raises(LabelError, match=said):
        ranker(name).fit(X, labels)


@every_ranker
@pytest.mark.parametrize(
    ("features", "labels", "said"),
    [
        (X[:, 0], y, "Expected 2D array, got 1D array"),
        (X, y[:-1], r"inconsistent numbers of samples: \[40, 39\]"),
        (X, np.column_stack([y, y]), "y should be a 1d array|[Mm]ultilabel|multi-?output"),
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
        (X[None], y, "dim 3|3D|dimension"),
    ],
    ids=["one dimension", "other length", "two columns of labels", "no rows", "no columns", "three dimensions"],
)
def test_wrong_shapes(name: str, features: ArrayLike, labels: ArrayLike, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ranker(name).fit(features, labels)


@every_ranker
@pytest.mark.parametrize("k", [0, -1, 1.5, 0.0, -0.2, float("nan"), True, "a", None])
def test_k_must_be_rows_or_a_share(name: str, k: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(InputError, match=r"k must be a positive integer .* or a float in \(0, 1\]"):
        ranker(name, k=k).fit(X, y)


@every_ranker
def test_other_columns_at_prediction(name: str) -> None:
    fitted = ranker(name).fit(X, y)
    with pytest.raises(FeatureMismatch, match=r"X has 2 features.*3 features.*Use the same columns as in fit"):
        fitted.decision_function(X[:, :2])
    with pytest.raises(FeatureMismatch):
        fitted.predict(sparse.csr_matrix(X[:, :2]))
    with pytest.raises(NotFittedError):
        ranker(name).decision_function(X)


@every_ranker
@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (np.where(np.arange(40) == 5, -2.0, 1.0), r"sample_weight must not be negative; row 5 is -2\.0"),
        (np.zeros(40), "sample_weight is zero in every row"),
        (np.ones(39), "sample_weight has 39 rows, labels have 40"),
        (np.where(np.arange(40) == 5, np.nan, 1.0), "sample_weight must be finite; row 5 is nan"),
        (1.0 - y, "one class only"),
    ],
    ids=["negative", "all zero", "other length", "nan", "zero for the positives"],
)
def test_weights(name: str, weight: ArrayLike, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ranker(name).fit(X, y, sample_weight=weight)


@every_ranker
def test_fewer_positives_than_k_clips_with_a_warning(name: str) -> None:
    with pytest.warns(KClippedWarning, match=r"k=25 asks for 25 rows at the top, but only 10 positives are there"):
        fitted = ranker(name, k=25).fit(X, y)
    assert fitted.predict(X).sum() == 10


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("sgd-at-k", {"surrogate": "hinge"}, r"No surrogate called 'hinge'. Known: avg, max, ramp, struct"),
        ("gradient-at-k", {"surrogate": "hinge"}, r"Known: avg, max, ramp, struct"),
        ("perceptron-at-k", {"surrogate": "ramp"}, r"No perceptron surrogate called 'ramp'. Known: avg, max"),
        ("perceptron-at-k", {"missed": "all"}, r"Known: bottom, random, top"),
        ("top-k", {"kernel": "poly"}, r"No kernel called 'poly'. Known: linear, rbf"),
        ("top-k", {"features": "hash"}, r"Known: fourier, nystroem"),
        ("top-k", {"scale": "robust"}, r"No scale called 'robust'. Known: auto, none, standard"),
    ],
)
def test_unknown_names_list_the_known_ones(name: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises(UnknownName, match=said):
        ranker(name, **params).fit(X, y)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("sgd-at-k", {"learning_rate": 0.0}),
        ("sgd-at-k", {"alpha": -1.0}),
        ("sgd-at-k", {"batch_size": 0}),
        ("1pmb", {"radius": 0.0}),
        ("perceptron-at-k", {"n_epochs": 0}),
        ("perceptron-at-k", {"batch_size": 0}),
        ("gradient-at-k", {"max_iter": 0}),
        ("top-k", {"order_weight": 1.1}),
        ("top-k", {"gamma": 0.0}),
        ("top-k", {"tol": 0.0}),
    ],
)
def test_settings_out_of_range_are_named_with_their_value(name: str, params: dict[str, Any]) -> None:
    [(setting, value)] = params.items()
    with pytest.raises(InputError, match=rf"{setting}.*got.*{value!r}"):
        ranker(name, **params).fit(X, y)


def test_sparse_columns_are_not_centred_behind_ones_back() -> None:
    with pytest.raises(InputError, match="sparse"):
        TopKRanker(scale="standard").fit(sparse.csr_matrix(X), y)
