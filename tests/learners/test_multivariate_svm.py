"""A classifier for a measure of the whole set: scikit-learn's manners, and better by its measure than for others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from riffler.errors import InputError, UnknownName
from riffler.learners.hinge_rank_svm import HingeRankSVM
from riffler.learners.multivariate_svm import MultivariateSVM
from riffler.metrics import precision_at_k, roc_auc
from riffler.structured.measures import MEASURES

X, y = make_classification(400, 6, weights=[0.85], class_sep=0.8, random_state=3)
X[np.abs(X) < 0.3] = 0.0
every_measure = pytest.mark.parametrize("measure", MEASURES)


@parametrize_with_checks([MultivariateSVM(), MultivariateSVM("precision"), MultivariateSVM("auc")])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:  # noqa: ANN401 - an estimator
    check(estimator)


@every_measure
def test_the_bound_is_close_and_rows_may_be_stored_in_any_way(measure: str) -> None:
    fitted = MultivariateSVM(measure, tol=1e-3).fit(X, y)
    assert 0 < fitted.bound_ <= fitted.loss_ <= fitted.bound_ / (1 - 1e-3)
    scores = fitted.decision_function(X)
    for form in (sparse.csr_array(X), X.astype(np.float32)):
        other = MultivariateSVM(measure, tol=1e-3).fit(form, y)
        assert np.corrcoef(other.decision_function(form), scores)[0, 1] > 0.99
        assert other.coef_.dtype == other.intercept_.dtype == form.dtype
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), scores)


@every_measure
def test_labels_of_any_kind_and_scores_of_the_measure(measure: str) -> None:
    words = np.where(y > 0, "yes", "no")
    fitted = MultivariateSVM(measure, k=20).fit(X, words)
    scores, called = fitted.decision_function(X), fitted.predict(X) == "yes"
    expected = {
        "auc": roc_auc(y, scores), "error": (called == y).mean(), "f1": f1_score(y, called),
        "prbep": precision_at_k(y, scores, 1.0), "precision": precision_at_k(y, scores, 20),
        "recall": scores[np.argsort(-scores)[:20]].size * precision_at_k(y, scores, 20) / y.sum(),
    }  # fmt: skip
    assert fitted.score(X, words) == pytest.approx(expected[measure])
    if measure in ("precision", "recall"):
        assert called.sum() == 20
    if measure in ("prbep", "auc"):
        assert called.sum() == y.sum()
    assert fitted.score(X, words) > {"recall": 0.2}.get(measure, 0.6)


def test_roc_area_is_the_hinge_over_all_pairs() -> None:
    ours, pairs = MultivariateSVM("auc", C=10, tol=1e-4).fit(X, y), HingeRankSVM(10, tol=1e-4).fit(X, y)
    assert ours.loss_ == pytest.approx(pairs.loss_, rel=2e-4)


def test_f1_is_better_than_errors_where_positives_are_few() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 5))
    labels = (rows[:, 0] + 1.2 * rng.normal(size=3000) > 2.6).astype(int)
    train, test = slice(0, 1500), slice(1500, None)
    by_measure = {
        measure: f1_score(labels[test], MultivariateSVM(measure).fit(rows[train], labels[train]).predict(rows[test]))
        for measure in ("f1", "error")
    }
    assert by_measure["f1"] > by_measure["error"] + 0.05


def test_settings_that_cannot_be_used() -> None:
    with pytest.raises(UnknownName, match="No measure called 'f2'"):
        MultivariateSVM("f2").fit(X, y)
    with pytest.raises(InputError, match="C must be above 0, got 0"):
        MultivariateSVM(C=0).fit(X, y)
    with pytest.raises(InputError, match="k=1000 asks for 1000 rows"):
        MultivariateSVM("precision", k=1000).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=2"):
        MultivariateSVM(max_iter=2).fit(X, y)
