from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from riffler.errors import InputError
from riffler.evaluation.scorers import precision_at_k_scorer
from riffler.metrics import precision_at_k


@pytest.mark.parametrize("k", [10, 0.25])
def test_cross_validation_scores_equal_a_plain_loop_over_the_folds(k: int | float) -> None:
    X, y = make_classification(n_samples=300, weights=[0.8], flip_y=0.1, random_state=0)
    folds = StratifiedKFold(3)
    found = cross_val_score(RidgeClassifier(), X, y, scoring=precision_at_k_scorer(k), cv=folds)
    plain = [
        precision_at_k(y[test], RidgeClassifier().fit(X[train], y[train]).decision_function(X[test]), k)
        for train, test in folds.split(X, y)
    ]
    np.testing.assert_allclose(found, plain)


def test_a_search_in_several_processes_takes_it_and_prefers_higher() -> None:
    X, y = make_classification(n_samples=300, weights=[0.8], flip_y=0.1, random_state=0)
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=precision_at_k_scorer(0.5), cv=3, n_jobs=2)
    search.fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_a_model_without_decision_function_is_ranked_by_its_probabilities() -> None:
    X, y = make_classification(n_samples=100, random_state=0)
    model = KNeighborsClassifier().fit(X, y)
    assert precision_at_k_scorer(20)(model, X, y) == precision_at_k(y, model.predict_proba(X)[:, 1], 20)


def test_it_survives_pickling() -> None:
    X, y = make_classification(n_samples=100, random_state=0)
    model = LogisticRegression().fit(X, y)
    scorer = precision_at_k_scorer(0.25)
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == scorer(model, X, y)


def test_a_k_that_means_nothing_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="pass an int"):
        precision_at_k_scorer(50.0)


def test_importing_the_factory_does_not_load_scikit_learn() -> None:
    program = "import sys, riffler.evaluation.scorers; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
