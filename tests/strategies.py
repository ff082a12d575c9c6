"""Hypothesis generators of small learning problems, dense and sparse, cut into batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from riffler.records import FloatArray, IntArray, Matrix


@dataclass(frozen=True)
class Problem:
    """Rows with labels 1/0 and whole weights; batch b holds the rows ``order[starts[b]:stops[b]]``."""

    X: FloatArray
    labels: IntArray
    weight: FloatArray
    order: IntArray
    starts: IntArray
    stops: IntArray

    @property
    def csr(self) -> Matrix:
        return sparse.csr_matrix(self.X)

    @property
    def batches(self) -> list[IntArray]:
        return [self.order[start:stop] for start, stop in zip(self.starts, self.stops, strict=True)]


@st.composite
def small_problems(draw: st.DrawFn, max_rows: int = 30, max_weight: int = 3) -> Problem:
    """Draw a problem whose scores do not tie by chance; half of its entries are zero. Some batches lack positives."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns = draw(st.integers(4, max_rows)), draw(st.integers(1, 6))
    X = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    X[:, 0] = rng.normal(size=n_rows)  # no empty row
    labels = (rng.random(n_rows) < draw(st.sampled_from([0.2, 0.5]))).astype(np.int8)
    labels[rng.integers(n_rows)] = 1
    weight = rng.integers(0, max_weight + 1, n_rows).astype(float) if max_weight > 1 else np.ones(n_rows)
    n_batches = draw(st.integers(1, 4))
    cuts = np.linspace(0, n_rows, n_batches + 1).astype(np.int64)
    return Problem(X, labels, weight, rng.permutation(n_rows).astype(np.int32), cuts[:-1], cuts[1:])
