"""What every ranker of the whole order keeps: scikit-learn's manners, both storages, both precisions, clear errors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from riffler.errors import FeatureMismatch, InputError, LabelError
from riffler.learners import PAIR_RANKERS, ranker_from_name

X, y = make_classification(240, 6, weights=[0.75], class_sep=0.8, random_state=3)
X[np.abs(X) < 0.3] = 0.0
QUICK: dict[str, Any] = {"n_pairs": 1000, "n_steps": 5000}
every_ranker = pytest.mark.parametrize("name", PAIR_RANKERS)
with_queries = pytest.mark.parametrize("name", [name for name in PAIR_RANKERS if name != "wsvm"])
with_streams = pytest.mark.parametrize("name", ["active-pairs", "crr"])


def ranker(name: str, **params: Any) -> Any:  # noqa: ANN401 - an estimator
    return ranker_from_name(name, random_state=0, **{**QUICK, **params})


def exactness(name: str) -> tuple[dict[str, float], float]:
    """Settings, and how equal the weights of two ways to write the same problem must be.

    A piecewise linear risk has flat places: which planes are found there hangs on the last digit.
    """
    return ({"tol": 1e-6}, 1e-2) if name in ("hinge-ranksvm", "ndcg") else ({}, 1e-6)


DRAWN = "steps are drawn at random: which ones depends on the rows that are there, as in SGDClassifier"
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
EXPECTED_FAILURES = {"CombinedRankingRegression": dict.fromkeys(WEIGHTS, DRAWN)}
# weights and repetitions are the same problem: solved to the last digits, they have the same solution
EXACT: dict[str, dict[str, Any]] = {
    "active-pairs": {"tol": 1e-12, "max_passes": 100_000},
    "hinge-ranksvm": {"C": 0.1, "tol": 1e-9, "max_iter": 10_000},
    "ndcg": {"C": 0.1, "tol": 1e-9, "max_iter": 10_000},
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [ranker_from_name(name, n_steps=2000, **EXACT.get(name, {})) for name in PAIR_RANKERS],
    expected_failed_checks=lambda one: EXPECTED_FAILURES.get(type(one).__name__, {}),
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:  # noqa: ANN401 - an estimator
    check(estimator)


@every_ranker
def test_clone_and_pickle_keep_the_scores(name: str) -> None:
    fitted = ranker(name).fit(X, y)
    scores = fitted.decision_function(X)
    again = clone(fitted)
    assert not hasattr(again, "coef_")
    np.testing.assert_array_equal(again.fit(X, y).decision_function(X), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), scores)
    assert fitted.score(X, y) > 0.85


@every_ranker
def test_float32_stays_float32(name: str) -> None:
    double, single = ranker(name).fit(X, y), ranker(name).fit(X.astype(np.float32), y)
    scores = single.decision_function(X.astype(np.float32))
    assert single.coef_.dtype == scores.dtype == np.float32
    assert double.coef_.dtype == double.decision_function(X).dtype == np.float64
    assert np.corrcoef(scores, double.decision_function(X))[0, 1] > 0.999


@every_ranker
def test_dense_and_sparse_rows_give_the_same_scores(name: str) -> None:
    tol, tolerance = exactness(name)
    dense, csr = ranker(name, **tol).fit(X, y), ranker(name, **tol).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.coef_, dense.coef_, atol=tolerance * np.abs(dense.coef_).max())


@every_ranker
@pytest.mark.parametrize("names", [("no", "yes"), (-1, 1), (False, True), (2.0, 7.0)])
def test_labels_of_any_two_kinds(name: str, names: tuple[Any, Any]) -> None:
    labels = np.array(names)[y]
    other = ranker(name).fit(X, labels)
    np.testing.assert_array_equal(other.coef_, ranker(name).fit(X, y).coef_)
    assert other.score(X, labels) == ranker(name).fit(X, y).score(X, y)


@every_ranker
def test_rows_of_weight_zero_do_not_count_and_inputs_stay_as_they_are(name: str) -> None:
    junk = 50 * np.ones((3, X.shape[1]))
    features, labels = np.vstack([X, junk]), np.append(y, [0, 1, 1])
    weight = np.append(np.ones(len(y)), np.zeros(3))
    given = features.copy(), labels.copy(), weight.copy()
    tol, tolerance = exactness(name)
    fitted, alone = ranker(name, **tol).fit(features, labels, sample_weight=weight), ranker(name, **tol).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, alone.coef_, atol=tolerance * np.abs(alone.coef_).max())
    for array, copy in zip((features, labels, weight), given, strict=True):
        np.testing.assert_array_equal(array, copy)


@with_queries
def test_queries_reach_fit_and_score_through_metadata_routing(name: str) -> None:
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(24), 10)
    shift = 5 * rng.normal(size=24)[query]
    features = np.column_stack([X[:, 0] + y, shift])
    grades = y + 2 * (shift > 0)
    with sklearn.config_context(enable_metadata_routing=True):
        step = ranker(name).set_fit_request(qid=True).set_score_request(qid=True)
        pipeline = make_pipeline(StandardScaler(), step)
        found = cross_validate(
            pipeline, features, grades, cv=GroupKFold(3), params={"qid": query, "groups": query}, return_estimator=True
        )
        search = GridSearchCV(
            pipeline, {f"{type(step).__name__.lower()}__tol": [1e-2]} if name == "ranksvm" else {}, cv=2
        )
        search.fit(features, grades, qid=query)
    assert found["test_score"].mean() > 0.7
    inside = found["estimator"][0][-1].coef_[0]
    assert abs(inside[1]) < 0.3 * inside[0]


@every_ranker
@pytest.mark.parametrize(
    ("labels", "error", "said"),
    [
        (np.zeros(240), LabelError, r"y has one class only \(0\)"),
        (np.where(np.arange(240) == 7, np.nan, y), LabelError, "y must be finite; row 7 is nan"),
        (np.array(["a", "b", "c"])[np.arange(240) % 3], LabelError, "3 labels that are not numbers"),
        (y[:-1], InputError, r"inconsistent numbers of samples: \[240, 239\]"),
        (np.column_stack([y, y]), InputError, "1d array"),
        (None, LabelError, "requires y to be passed"),
    ],
    ids=["one class", "nan", "three names", "other length", "two columns", "none"],
)
def test_labels_that_cannot_be_ranked_by(name: str, labels: Any, error: type[Exception], said: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=said):
        ranker(name).fit(X, labels)


@with_queries
def test_groups_without_pairs(name: str) -> None:
    with pytest.raises(LabelError, match="no group has rows of two different labels"):
        ranker(name).fit(X, y, qid=np.arange(240))
    with pytest.raises(InputError, match=r"qid has shape \(3,\), X has 240 rows"):
        ranker(name).fit(X, y, qid=[1, 2, 3])
    with pytest.raises(InputError, match="row 5 is nan"):
        ranker(name).fit(X, y, qid=np.where(np.arange(240) == 5, np.nan, 1.0))
    query = np.where(np.arange(240) < 120, 0, np.arange(240))  # most groups have a single row
    tol, tolerance = exactness(name)
    part, alone = ranker(name, **tol).fit(X, y, qid=query), ranker(name, **tol).fit(X[:120], y[:120])
    np.testing.assert_allclose(part.coef_, alone.coef_, atol=tolerance * np.abs(alone.coef_).max())


@every_ranker
def test_other_columns_at_prediction_and_values_that_are_not_finite(name: str) -> None:
    fitted = ranker(name).fit(X, y)
    with pytest.raises(FeatureMismatch, match=r"X has 2 features.*Use the same columns as in fit"):
        fitted.decision_function(X[:, :2])
    with pytest.raises(NotFittedError):
        ranker(name).decision_function(X)
    broken = X.copy()
    broken[17, 2] = np.nan
    with pytest.raises(InputError, match=r"X holds nan in row 17, column 2"):
        ranker(name).fit(broken, y)


@every_ranker
def test_entries_that_stand_in_parts_count_as_their_sum(name: str) -> None:
    whole = sparse.csr_matrix(X)
    parts = sparse.csr_matrix(
        (np.repeat(whole.data / 4, 4), np.repeat(whole.indices, 4), 4 * whole.indptr), shape=whole.shape
    )
    other = {"loss": "hinge"} if name == "active-pairs" else {}
    learned = ranker(name, **other).fit(parts, y).coef_
    np.testing.assert_allclose(learned, ranker(name, **other).fit(whole, y).coef_, rtol=1e-6)
    assert parts.nnz == 4 * whole.nnz  # the caller's matrix stays as it is


@every_ranker
@pytest.mark.parametrize("n_labels", [50, 239])
def test_a_score_needs_a_label_for_each_row(name: str, n_labels: int) -> None:
    fitted = ranker(name).fit(X, y)
    with pytest.raises(InputError, match=rf"\[240, {n_labels}\]"):
        fitted.score(X, y[:n_labels])
    with pytest.raises(InputError, match="inconsistent numbers"):
        fitted.score(X[:n_labels], y)


@every_ranker
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_settings_are_finite(name: str, value: float) -> None:
    setting = "alpha" if name == "crr" else "C"
    with pytest.raises(InputError, match=rf"{setting} must be above 0, got {value}. Pass a finite number"):
        ranker(name, **{setting: value}).fit(X, y)


@every_ranker
def test_values_whose_squares_overflow_are_to_be_scaled(name: str) -> None:
    for rows in (X * 1e160, sparse.csr_array(X * -1e160)):
        with pytest.raises(InputError, match=r"X holds values beyond 1e\+140, .* Scale the columns first"):
            ranker(name).fit(rows, y)


@with_streams
def test_a_stream_keeps_its_labels(name: str) -> None:
    words = np.where(y > 0, "yes", "no")
    for given in (None, ["no", "yes"]):
        fitted = ranker(name).partial_fit(X, words, classes=given)
        assert fitted.classes_.tolist() == ["no", "yes"]
        with pytest.raises(LabelError, match=r"y holds .*'perhaps'.* in row 0, this ranker knows the labels"):
            fitted.partial_fit(X, np.where(np.arange(len(y)) == 0, "perhaps", words))
        assert fitted.score(X, words) > 0.7
    with pytest.raises(LabelError, match="y holds 'later' in row"):
        fitted.partial_fit(X, np.where(y > 0, "later", "yes"))
    numbers = ranker(name).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(LabelError, match="this ranker knows the labels"):
        numbers.partial_fit(X, y + 1)
    assert not hasattr(fitted.fit(X, y), "classes_")  # begun anew, with numbers


@with_streams
def test_points_of_a_stream_need_two_grades(name: str) -> None:
    with pytest.raises(LabelError, match=r"points=0\.5 needs two grades"):
        ranker(name, points=0.5).partial_fit(X, np.arange(len(y)) % 3)


@with_queries
def test_queries_of_which_some_have_no_name(name: str) -> None:
    with pytest.raises(InputError, match="qid mixes text with numbers or None"):
        ranker(name).fit(X, y, qid=["a", None] * (len(y) // 2))
