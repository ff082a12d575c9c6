"""Matrices, ways to cut them, and work for engines that other processes can import."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from riffler.engine.products import pulled_back
from riffler.records import FloatArray, Matrix


def matrix(kind: str, n_rows: int, n_columns: int = 7, seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    return sparse.csr_matrix(X.astype(np.float32)) if kind == "csr" else X


def cut(X: Matrix, cuts: Sequence[int]) -> list[Matrix]:
    return [X[a:b] for a, b in pairwise([0, *sorted(cuts), X.shape[0]])]


def on_disk(X: Matrix, folder: Path, name: str) -> Matrix:
    """Write a block and map it."""
    if isinstance(X, np.ndarray):
        np.save(folder / f"{name}.npy", X)
        return np.load(folder / f"{name}.npy", mmap_mode="r")
    arrays = []
    for part in ("data", "indices", "indptr"):
        np.save(folder / f"{name}.{part}.npy", getattr(X, part))
        arrays.append(np.load(folder / f"{name}.{part}.npy", mmap_mode="r"))
    return sparse.csr_matrix(tuple(arrays), shape=X.shape, copy=False)


def hessian_times(block: Matrix, stiffness: FloatArray, direction: FloatArray) -> FloatArray:
    """Return X' D X v for a diagonal D."""
    moves = np.asarray(block @ direction, dtype=np.float64)
    return pulled_back(block, moves * stiffness)


def sums_of_a_worker_that_is_killed(block: Matrix, weight: FloatArray, marks: str, killed_at: int) -> FloatArray:
    """Kill this process where the weight begins so, the first times."""
    for number in range(2):
        mark = Path(marks) / str(number)
        if weight.size and int(weight[0]) == killed_at and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return pulled_back(block, weight)


def slow_sum(block: Matrix) -> float:
    """Take a while."""
    time.sleep(2)
    return float(block.sum())
