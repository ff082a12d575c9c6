"""The dual of all cuts of all examples at once, by a generic solver."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from riffler.records import FloatArray, IntArray


def best_shares(gram: FloatArray, offsets: FloatArray, owners: IntArray, mass: float) -> FloatArray:
    """Maximise b . a - a' G a / 2 where the shares of each owner are 0 or more and sum to ``mass`` or less."""
    belongs = (owners[None, :] == np.unique(owners)[:, None]).astype(float)
    found = minimize(  # type: ignore[call-overload] # the stubs know no such function with its slope
        lambda a: (a @ gram @ a / 2 - offsets @ a, gram @ a - offsets),
        np.zeros(len(offsets)), jac=True, bounds=[(0, mass)] * len(offsets), method="SLSQP",
        constraints={"type": "ineq", "fun": lambda a: mass - belongs @ a, "jac": lambda a: -belongs},
        options={"ftol": 1e-15, "maxiter": 2000},
    )  # fmt: skip
    return np.asarray(found.x)
