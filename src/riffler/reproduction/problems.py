"""Public data sets as the published experiments use them: all parts together, dense, labels 0 or 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riffler.errors import DataSetMissing
from riffler.records import FloatArray, IntArray

WIDEST = 1000
"""Columns up to which sparse rows are made dense."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A data set as dense rows and labels 0 or 1."""

    name: str
    X: FloatArray
    y: IntArray


def problems(
    wanted: Mapping[str, Mapping[str, Any]], where_present: Sequence[str] = ()
) -> tuple[list[Problem], list[str]]:
    """Load the wanted data sets (train and test parts together), and name those that are not here.

    The parts ``where_present`` join where their files are.
    """
    from riffler import datasets

    loaded, missing = [], []
    for name, about in wanted.items():
        further = [part for part in where_present if part not in datasets.missing(name)]
        parts = [part for part in ("train", "test", *further) if part in datasets.info(name).splits]
        try:
            tables = [datasets.load(name, part, positive=about.get("positive")) for part in parts]
        except DataSetMissing:
            missing.append(name)
            continue
        X = np.concatenate([_dense(table.X) for table in tables])
        loaded.append(Problem(name, X, np.concatenate([np.asarray(table.y) for table in tables]).astype(np.int64)))
    return loaded, missing


def digits() -> Problem:
    """The handwritten digits that ship with scikit-learn, 8 against the rest: for where no data set is here."""
    from sklearn.datasets import load_digits

    images, digit = load_digits(return_X_y=True)
    return Problem("digits (8)", images.astype(np.float32), (digit == 8).astype(np.int64))


def two_gaussians(n_rows: int = 20_000, n_features: int = 8, share: float = 1 / 3, seed: int = 0) -> Problem:
    """Two Gaussian classes that overlap: for where a large data set is not here.

    >>> two_gaussians(n_rows=900).X.shape
    (900, 8)
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(np.int64)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    X[:, :2] += 1.5 * y[:, None].astype(np.float32)
    return Problem("two Gaussians", X, y)


def _dense(X: Any) -> FloatArray:  # noqa: ANN401 - dense or CSR
    if not hasattr(X, "toarray"):
        return np.asarray(X, dtype=np.float32)
    if X.shape[1] > WIDEST:
        raise ValueError(f"{X.shape[1]} columns are too many to make dense")
    return np.asarray(X.toarray(), dtype=np.float32)
