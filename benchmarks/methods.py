"""The methods that are compared: each peer with its own grid, tuned on the validation part and fitted again on both.

``TopKRanker`` takes no grid: it is given fit and validation together and tunes itself inside.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from sets import Split
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from riffler import KClippedWarning, PerceptronAtK, SGDAtK, TopKRanker, precision_at_k
from riffler.records import FloatArray, IntArray, is_sparse

C_GRID = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


@dataclass(frozen=True, slots=True)
class Method:
    """A name, the family it is compared in, and how to make it for (k, seed, grid point)."""

    name: str
    family: str  # "linear" or "non-linear"
    make: Callable[..., Any]
    grid: dict[str, tuple[Any, ...]]
    tuned_by_k: bool = False  # the training itself depends on k


@dataclass(frozen=True, slots=True)
class Outcome:
    """Test scores of one method on one split at one k."""

    method: str
    k: int | float
    chosen: dict[str, Any]
    validation: float
    scores: FloatArray
    seconds: float


def methods() -> list[Method]:
    """Every method of the comparison."""
    return [
        Method("TopKRanker", "linear", lambda k, seed: TopKRanker(k, random_state=seed), {}, True),
        Method(
            "LogisticRegression",
            "linear",
            lambda k, seed, **grid: LogisticRegression(max_iter=500, **grid),
            {"C": C_GRID},
        ),
        Method("LinearSVC", "linear", _linear_svc, {"C": C_GRID}),
        Method(
            "SGDClassifier",
            "linear",
            lambda k, seed, **grid: SGDClassifier(random_state=seed, average=True, **grid),
            {"loss": ("log_loss", "modified_huber"), "alpha": (1e-6, 1e-5, 1e-4, 1e-3)},
        ),
        Method(
            "PerceptronAtK",
            "linear",
            lambda k, seed, **grid: PerceptronAtK(k, random_state=seed, **grid),
            {"surrogate": ("avg", "max"), "n_epochs": (3, 30), "average": (True, False)},
            True,
        ),
        Method(
            "SGDAtK",
            "linear",
            lambda k, seed, **grid: SGDAtK(k, random_state=seed, n_epochs=20, **grid),
            {"learning_rate": (0.1, 1.0, 10.0), "alpha": (1e-5, 1e-3)},
            True,
        ),
        Method(
            "TopKRanker rbf", "non-linear", lambda k, seed: TopKRanker(k, kernel="rbf", random_state=seed), {}, True
        ),
        Method(
            "LightGBM",
            "non-linear",
            _light_gbm,
            {"n_estimators": (100, 300), "num_leaves": (7, 31)},
        ),
    ]


def _linear_svc(k: int | float, seed: int, **grid: Any) -> Any:  # noqa: ANN401 - a scikit-learn estimator
    # liblinear's primal solver is the faster one for dense rows
    return LinearSVC(dual="auto", max_iter=2000, random_state=seed, **grid)


def _light_gbm(k: int | float, seed: int, **grid: Any) -> Any:  # noqa: ANN401 - an estimator
    from lightgbm import LGBMClassifier

    return LGBMClassifier(learning_rate=0.05, random_state=seed, n_jobs=1, verbose=-1, **grid)


def run(method: Method, split: Split, ks: list[int | float], seed: int) -> list[Outcome]:
    """Tune, fit again on fit and validation, and score the test part, for every k."""
    outcomes: list[Outcome] = []
    fitted: dict[tuple[Any, ...], tuple[FloatArray, float]] = {}
    trained: dict[tuple[Any, ...], tuple[FloatArray, float]] = {}
    for k in ks:
        tuning = 0.0
        points = [dict(zip(method.grid, values, strict=True)) for values in product(*method.grid.values())]
        best, best_value = points[0], np.nan
        if len(points) > 1:
            values = []
            for point in points:
                key = (k if method.tuned_by_k else None, *point.values())
                if key not in trained:
                    trained[key] = _fit_and_score(method, split, k, seed, point, split.fit, split.validation)
                scores, seconds = trained[key]
                tuning += seconds
                values.append(precision_at_k(split.y[split.validation], scores, k))
            best, best_value = points[int(np.argmax(values))], float(np.max(values))
        key = (k if method.tuned_by_k else None, *best.values())
        if key not in fitted:
            fitted[key] = _fit_and_score(method, split, k, seed, best, split.learn, split.test)
        scores, seconds = fitted[key]
        outcomes.append(Outcome(method.name, k, best, best_value, scores, tuning + seconds))
    return outcomes


def _fit_and_score(
    method: Method,
    split: Split,
    k: int | float,
    seed: int,
    point: dict[str, Any],
    train: IntArray,
    score: IntArray,
) -> tuple[FloatArray, float]:
    # an integer k counts rows of the part that is ranked: a longer training part has that many more at its top
    k_train = k if isinstance(k, float) else max(1, round(k * len(train) / len(split.test)))
    model = method.make(k_train, seed, **point)
    X = split.X[train]
    if method.name == "LightGBM" and is_sparse(X):
        X = X.astype(np.float32)
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", KClippedWarning)
        model.fit(X, split.y[train])
        seconds = perf_counter() - start
        if hasattr(model, "decision_function"):
            scores = model.decision_function(split.X[score])
        else:
            scores = model.predict_proba(split.X[score].astype(np.float32))[:, 1]
    return np.asarray(scores, dtype=np.float64), seconds
