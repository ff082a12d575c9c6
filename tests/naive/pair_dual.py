"""Learning from pairs on difference vectors that are there."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from riffler.records import FloatArray, IntArray


def differences(X: FloatArray, upper: IntArray, lower: IntArray) -> FloatArray:
    """x_i - x_j of each pair; -1 is the zero vector."""
    padded = np.vstack([X, np.zeros((1, X.shape[1]))])
    return np.asarray(padded[upper] - padded[lower])


def objective(w: FloatArray, Z: FloatArray, cost: FloatArray, loss: str) -> float:
    """|w|^2 / 2 + sum of cost * loss(w . z)."""
    margin = Z @ w
    short = np.maximum(0, 1 - margin)
    losses = {"hinge": short, "squared_hinge": short**2, "logistic": np.logaddexp(0, -margin)}[loss]
    return float(w @ w / 2 + cost @ losses)


def optimum(Z: FloatArray, cost: FloatArray, loss: str) -> FloatArray:
    """The best weights, by a generic solver of the dual in its box."""
    if loss == "hinge":
        gram = Z @ Z.T
        found = minimize(  # type: ignore[call-overload] # the stubs know no such function with its slope
            lambda a: (a @ gram @ a / 2 - a.sum(), gram @ a - 1), np.zeros(len(Z)), jac=True,
            bounds=[(0, c) for c in cost], method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 10_000},
        )  # fmt: skip
        return np.asarray(Z.T @ found.x)
    found = minimize(
        objective, np.zeros(Z.shape[1]), args=(Z, cost, loss), method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9}
    )
    return np.asarray(found.x)
