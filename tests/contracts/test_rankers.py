"""What every ranker in the name table keeps: scikit-learn's manners, both storages, both precisions, any two labels."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from riffler import precision_at_k, precision_at_k_scorer
from riffler.learners import RANKERS, ranker_from_name

X, y = make_classification(240, 6, weights=[0.75], class_sep=0.8, random_state=3)
X[np.abs(X) < 0.3] = 0.0


def ranker(name: str, k: int | float = 0.5, **params: Any) -> Any:  # noqa: ANN401 - an estimator
    return ranker_from_name(name, k=k, random_state=0, **params)


every_ranker = pytest.mark.parametrize("name", RANKERS)


@every_ranker
def test_clone_and_pickle_keep_the_scores(name: str) -> None:
    fitted = ranker(name).fit(X, y)
    scores = fitted.decision_function(X)
    again = clone(fitted)
    assert not hasattr(again, "coef_")
    np.testing.assert_array_equal(again.fit(X, y).decision_function(X), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), scores)


@every_ranker
def test_works_in_model_selection(name: str) -> None:
    scorer = precision_at_k_scorer(0.5)
    pipeline = make_pipeline(StandardScaler(), ranker(name))
    scores = cross_val_score(pipeline, X, y, cv=2, scoring=scorer)
    assert scores.min() > 0.5  # a quarter of the rows are positive
    step = type(ranker(name)).__name__.lower()
    search = GridSearchCV(pipeline, {f"{step}__k": [0.5, 20]}, cv=2, scoring=scorer).fit(X, y)
    assert search.best_score_ >= scores.mean()
    assert search.best_params_[f"{step}__k"] in (0.5, 20)


@every_ranker
def test_float32_stays_float32(name: str) -> None:
    double = ranker(name).fit(X, y)
    single = ranker(name).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == single.intercept_.dtype == np.float32
    scores = single.decision_function(X.astype(np.float32))
    assert scores.dtype == np.float32
    assert double.coef_.dtype == double.decision_function(X).dtype == np.float64
    # TopKRanker's search may stop elsewhere, but not with another ranking
    assert np.corrcoef(scores, double.decision_function(X))[0, 1] > 0.99


@every_ranker
def test_dense_and_sparse_rows_give_the_same_scores(name: str) -> None:
    # "auto" scaling leaves sparse columns as they are, and TopKRanker's solver starts from another guess of the
    # curvature: with one convex problem, solved well, both must arrive at the same place
    exact: dict[str, Any] = {"scale": "none", "order_weight": 1.0, "tol": 1e-7, "max_iter": 500}
    params = exact if name == "top-k" else {}
    dense = ranker(name, **params).fit(X, y)
    csr = ranker(name, **params).fit(sparse.csr_array(X), y)
    tolerance = 1e-3 if name == "top-k" else 1e-9
    np.testing.assert_allclose(csr.coef_, dense.coef_, atol=tolerance * np.abs(dense.coef_).max())
    np.testing.assert_allclose(dense.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-12)


@every_ranker
@pytest.mark.parametrize("k", [15, 0.25, np.int64(15), np.float64(0.25)])
def test_k_as_rows_and_as_a_share(name: str, k: int | float) -> None:
    fitted = ranker(name, k=k).fit(X, y)
    rows = 15  # a quarter of 60 positives
    assert (y == 1).sum() == pytest.approx(60, abs=2)
    assert int(fitted.predict(X).sum()) == rows
    assert fitted.score(X, y) == precision_at_k(y, fitted.decision_function(X), k)
    plain = ranker(name, k=k.item() if isinstance(k, np.generic) else k).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, fitted.coef_)


@every_ranker
def test_the_same_seed_gives_the_same_ranker_and_inputs_stay_as_they_are(name: str) -> None:
    features, labels, weight = X.copy(), y.copy(), np.arange(len(y)) % 3 + 0.0
    csr = sparse.csr_matrix(X)
    given = features.copy(), labels.copy(), weight.copy(), csr.copy()
    one = ranker(name).fit(features, labels, sample_weight=weight)
    two = ranker(name).fit(features, labels, sample_weight=weight)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    ranker(name).fit(csr, labels, sample_weight=weight).decision_function(csr)
    for array, copy in zip((features, labels, weight), given[:3], strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(csr.toarray(), given[3].toarray())


@every_ranker
@pytest.mark.parametrize("names", [("no", "yes"), (-1, 1), (False, True), (2.0, 7.0)])
def test_labels_of_any_two_kinds(name: str, names: tuple[Any, Any]) -> None:
    plain = ranker(name).fit(X, y)
    labels = np.array(names)[y]
    other = ranker(name).fit(X, labels)
    assert list(other.classes_) == list(names)
    np.testing.assert_array_equal(other.coef_, plain.coef_)
    np.testing.assert_array_equal(other.predict(X), np.array(names)[plain.predict(X)])
    assert other.score(X, labels) == plain.score(X, y)


@every_ranker
def test_tags_say_binary_only_and_sparse_welcome(name: str) -> None:
    tags = get_tags(ranker(name))
    assert tags.estimator_type == "classifier"
    assert not tags.classifier_tags.multi_class
    assert tags.input_tags.sparse


@every_ranker
def test_rows_of_weight_zero_do_not_count(name: str) -> None:
    """Not even as one of the classes, nor for the threshold."""
    junk = 50 * np.ones((3, X.shape[1]))
    features, labels = np.vstack([X, junk]), np.append(y, [0, 1, 1])
    weight = np.append(np.ones(len(y)), np.zeros(3))
    fitted = ranker(name).fit(features, labels, sample_weight=weight)
    assert fitted.score(X, y) == pytest.approx(ranker(name).fit(X, y).score(X, y), abs=0.1)
    assert int(fitted.predict(X).sum()) == round(0.5 * y.sum())
