"""A classifier for a measure of the whole set: scikit-learn's manners, and better by its measure than for others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import f1_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from riffler.errors import InputError, LabelError, UnknownName
from riffler.learners.hinge_rank_svm import HingeRankSVM
from riffler.learners.multivariate_svm import MultivariateSVM
from riffler.metrics import precision_at_k, roc_auc
from riffler.structured.measures import MEASURES, PrecisionAtK, RocArea

X, y = make_classification(400, 6, weights=[0.85], class_sep=0.8, random_state=3)
X[np.abs(X) < 0.3] = 0.0
every_measure = pytest.mark.parametrize("measure", MEASURES)


@pytest.fixture(scope="module")
def fitted() -> dict[str, MultivariateSVM]:
    return {measure: MultivariateSVM(measure, tol=0.1).fit(X, y) for measure in MEASURES}


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


@every_measure
@pytest.mark.parametrize(
    ("labels", "weight", "error", "message"),
    [
        (y[:-1], None, InputError, "inconsistent numbers of samples"),
        (np.where(y > 0, "yes", "no"), None, LabelError, r"y holds '(yes|no)' in row 0, .* classes \[0, 1\]"),
        (np.where(np.arange(400) == 7, 2, y), None, LabelError, "y holds 2 in row 7"),
        (y, -np.ones(400), InputError, "sample_weight must not be negative; row 0"),
        (y, np.full(400, np.nan), InputError, "sample_weight must be finite; row 0"),
        (y, np.ones(3), InputError, "sample_weight has 3 rows"),
        (y, np.zeros(400), InputError, "sample_weight is zero in every row"),
    ],
)
def test_what_cannot_be_scored(
    fitted: dict[str, MultivariateSVM],
    measure: str,
    labels: ArrayLike,
    weight: ArrayLike | None,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        fitted[measure].score(X, labels, weight)


def test_a_model_that_was_not_fitted_is_not_scored() -> None:
    with pytest.raises(NotFittedError):
        MultivariateSVM().score(X, y)


@every_measure
def test_whole_weights_repeat_rows_in_the_score(fitted: dict[str, MultivariateSVM], measure: str) -> None:
    weight = np.arange(400) % 3
    rows = np.repeat(np.arange(400), weight)
    assert fitted[measure].score(X, y, weight) == pytest.approx(fitted[measure].score(X[rows], y[rows]))


def test_roc_area_is_the_hinge_over_all_pairs() -> None:
    ours, pairs = MultivariateSVM("auc", C=10, tol=1e-4).fit(X, y), HingeRankSVM(10, tol=1e-4).fit(X, y)
    assert ours.loss_ == pytest.approx(pairs.loss_, rel=2e-4)


def noisy(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3000, 5))
    return rows, (rows[:, 0] + 1.2 * rng.normal(size=3000) > 2.6).astype(int)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_f1_is_better_than_errors_where_positives_are_few(seed: int) -> None:
    rows, labels = noisy(seed)
    by_errors, by_f1_alone, by_f1 = (
        f1_on_second_half(rows, labels, MultivariateSVM(measure, pairs=pairs))
        for measure, pairs in (("error", 0.0), ("f1", 0.0), ("f1", 1.0))
    )
    assert by_f1 > by_errors + 0.1
    assert by_f1 > by_f1_alone + 0.1


def f1_on_second_half(rows: Any, labels: Any, model: MultivariateSVM) -> float:  # noqa: ANN401 - arrays
    half = len(labels) // 2
    return float(f1_score(labels[half:], model.fit(rows[:half], labels[:half]).predict(rows[half:])))


def test_without_pairs_noise_leaves_no_weights() -> None:
    """The worst labelling selects the highest of many negatives: no weights are better than those."""
    rows, labels = noisy(0)
    alone = MultivariateSVM("prbep", pairs=0, tol=1e-3).fit(rows, labels)
    assert alone.loss_ == pytest.approx(100.0)
    assert np.abs(alone.coef_).max() < 1e-9
    assert MultivariateSVM("prbep").fit(rows, labels).score(rows, labels) > alone.score(rows, labels) + 0.2


def test_pairs_are_added_to_the_objective() -> None:
    fitted = MultivariateSVM("precision", k=20, C=3.0, pairs=2.0, tol=1e-4).fit(X, y)
    weights = fitted.coef_[0]
    scores = X @ weights
    hinges = [measure.oracle(y)(scores) for measure in (PrecisionAtK(20), RocArea())]
    one, other = (found.loss - found.moves @ scores for found in hinges)
    assert fitted.loss_ == pytest.approx(weights @ weights / 2 + 3 * (one + 2 * other))


def test_settings_that_cannot_be_used() -> None:
    with pytest.raises(UnknownName, match="No measure called 'f2'"):
        MultivariateSVM("f2").fit(X, y)
    with pytest.raises(InputError, match="C must be above 0, got 0"):
        MultivariateSVM(C=0).fit(X, y)
    with pytest.raises(InputError, match="pairs must be 0 or above"):
        MultivariateSVM(pairs=-1).fit(X, y)
    wrong: dict[str, Any] = {"pairs": "1", "C": "a", "tol": None, "max_iter": [3]}
    for name, value in wrong.items():
        with pytest.raises(InputError, match=f"{name} must be .*, got"):
            MultivariateSVM(**{name: value}).fit(X, y)
    not_a_name: Any = ["f1"]
    with pytest.raises(UnknownName, match=r"No measure called \['f1'\]"):
        MultivariateSVM(not_a_name).fit(X, y)
    with pytest.raises(InputError, match="k=1000 asks for 1000 rows"):
        MultivariateSVM("precision", k=1000).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=2"):
        MultivariateSVM(max_iter=2).fit(X, y)
