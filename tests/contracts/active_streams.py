"""A small stream of rare positives, and rankers and oracles to walk through it."""

from __future__ import annotations

from typing import Any

import numpy as np

from riffler.learners import active_ranker_from_name
from riffler.learners.asking import Step
from riffler.oracles import Oracle
from riffler.records import FloatArray, IntArray, Matrix

N, BATCH, K = 600, 150, 10


def stream(seed: int = 0) -> tuple[FloatArray, IntArray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.2).astype(np.int8)
    return (rng.normal(size=(N, 4)) + y[:, None]) * (rng.random((N, 4)) < 0.8), y


def ranker(name: str, **params: Any) -> Any:  # noqa: ANN401 - an estimator
    """Build a ranker that buys few labels; parameters that it does not have are left out."""
    return active_ranker_from_name(name, **{"k": K, "random_state": 0, "n_initial": 40, "floor": 0.02, **params})


def batches(X: Matrix) -> list[Matrix]:
    return [X[start : start + BATCH] for start in range(0, N, BATCH)]


def walked(learner: Any, X: Matrix, oracle: Oracle) -> list[Step]:  # noqa: ANN401 - an estimator
    return [learner.step(batch, oracle) for batch in batches(X)]
