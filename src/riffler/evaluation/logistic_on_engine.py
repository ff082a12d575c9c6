"""Logistic regression on rows that need not fit into memory: sums over blocks by an engine, wherever that runs.

The objective is that of scikit-learn's LogisticRegression with its usual C = 1, in the form it gives to L-BFGS:

    mean over rows of log(1 + exp(-s (w x + b))) + |w|^2 / (2 n),   s = +1 or -1
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from riffler.engine import Engine
from riffler.records import FloatArray, IntArray, Matrix

TOLERANCE = 1e-4  # of the gradient, as scikit-learn has it
MOST_STEPS = 2_000
LEFT_OUT = -1


def fit_logistic(engine: Engine, labels: IntArray) -> Any:  # noqa: ANN401 - a scikit-learn estimator
    """Return a fitted LogisticRegression.

    labels : of every row of the engine: 1, 0, or -1 for a row that is left out

    >>> from riffler.engine import LocalEngine
    >>> X, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, -1], dtype=np.int8)
    >>> fit_logistic(LocalEngine([X]), labels).predict(X[:3])
    array([0, 0, 1])
    """
    from scipy.optimize import minimize

    labels = np.asarray(labels, dtype=np.int8)
    n = int((labels != LEFT_OUT).sum())

    def objective(at: FloatArray) -> tuple[float, FloatArray]:
        sums = engine.sum(partial(log_loss_and_slopes, weights=at[:-1], intercept=float(at[-1])), labels)
        slopes = sums[:-1] / n
        slopes[:-1] += at[:-1] / n
        return float(sums[-1] / n + at[:-1] @ at[:-1] / (2 * n)), slopes

    found = minimize(
        objective, np.zeros(engine.n_columns + 1), jac=True, method="L-BFGS-B",
        options={"maxiter": MOST_STEPS, "maxls": 50, "gtol": TOLERANCE, "ftol": 64 * np.finfo(float).eps},
    )  # fmt: skip
    return _estimator(found.x, int(found.nit))


def log_loss_and_slopes(block: Matrix, labels: IntArray, weights: FloatArray, intercept: float) -> FloatArray:
    """Return the slopes in the weights and the intercept, and behind them the sum of the losses of a block.

    >>> log_loss_and_slopes(np.ones((2, 1)), np.array([1, -1]), np.zeros(1), 0.0).round(3)
    array([-0.5  , -0.5  ,  0.693])
    """
    from scipy.special import expit

    from riffler._fast.rows import as_rows, scores_of_all
    from riffler.engine.products import pulled_back

    scores = np.empty(block.shape[0])
    scores_of_all(as_rows(block), block.shape[0], np.asarray(weights, dtype=np.float64), scores)
    scores += intercept
    counts = labels != LEFT_OUT
    slopes = np.where(counts, expit(scores) - labels, 0.0)
    losses = np.logaddexp(0.0, scores) - labels * scores
    return np.concatenate([pulled_back(block, slopes), [slopes.sum(), losses[counts].sum()]])


def _estimator(found: FloatArray, n_steps: int) -> Any:  # noqa: ANN401 - a scikit-learn estimator
    """The weights as an estimator that can be saved, and predicts."""
    from riffler.evaluation.comparison import baseline

    model = baseline()
    model.classes_, model.n_features_in_ = np.array([0, 1]), len(found) - 1
    model.coef_, model.intercept_ = found[None, :-1].copy(), found[-1:].copy()
    model.n_iter_ = np.array([n_steps], dtype=np.int32)
    return model
