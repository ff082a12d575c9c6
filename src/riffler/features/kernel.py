"""RBF kernels as explicit features: random Fourier or Nystroem, computed for one block of rows at a time in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem

from riffler.errors import UnknownName
from riffler.features.warp import Warp
from riffler.records import FloatArray, Matrix

ORTHOGONAL_COLUMNS = 2000  # up to this many columns the random directions are made orthogonal


class OrthogonalFourier:
    """Random cosines of orthogonal directions: closer to the kernel than independent ones for the same number.

    Features are ``sqrt(2 / D) cos(omega . x + phase)`` with omega of the length and spread that independent normal
    directions of variance 2 gamma would have.
    """

    def __init__(self, n_components: int, gamma: float, random_state: np.random.RandomState) -> None:
        self.n_components, self.gamma, self.random_state = n_components, gamma, random_state

    def fit(self, X: Matrix) -> OrthogonalFourier:
        """Draw the directions; of X only the number of columns matters."""
        n_columns, rng = X.shape[1], self.random_state
        directions = rng.standard_normal((n_columns, self.n_components))
        if n_columns <= ORTHOGONAL_COLUMNS:
            lengths = np.linalg.norm(directions, axis=0)
            for start in range(0, self.n_components, n_columns):
                block = slice(start, start + n_columns)
                directions[:, block] = np.linalg.qr(directions[:, block])[0]
            directions *= lengths
        # in full turns, as the compiled cosine takes them
        self._turns = (directions * np.sqrt(2.0 * self.gamma) / (2.0 * np.pi)).astype(np.float32)
        self._phase = rng.uniform(size=self.n_components).astype(np.float32)
        return self

    def transform(self, X: Matrix) -> FloatArray:
        """Features of float32 rows."""
        from riffler._fast.fourier import cosines

        features: FloatArray = np.ascontiguousarray(X @ self._turns)
        cosines(features, self._phase, np.float32(np.sqrt(2.0 / self.n_components)))
        return features


SAMPLERS = {"fourier": OrthogonalFourier, "nystroem": Nystroem}


class KernelMap:
    """Features z(x) of warped rows with z(x) . z(x') close to exp(-gamma |warp(x) - warp(x')|^2).

    Parameters
    ----------
    method : "fourier" or "nystroem"
        Random cosines need no data and cost D products a row; Nystroem compares with D rows of the data, is closer
        for the same D, and costs D^2 more a row.
    warp : callable
        Brings the columns of a block to one scale.
    """

    def __init__(self, method: str, n_components: int, gamma: float, warp: Warp) -> None:
        if method not in SAMPLERS:
            raise UnknownName.among("kernel feature method", method, SAMPLERS)
        self.method, self.n_components, self.gamma, self.warp = method, n_components, gamma, warp

    def fit(self, X: Matrix, rng: np.random.RandomState) -> KernelMap:
        """Draw the random directions, or the rows to compare with."""
        if self.method == "nystroem":
            self.n_components = min(self.n_components, X.shape[0])
        sampler: Any = SAMPLERS[self.method](n_components=self.n_components, gamma=self.gamma, random_state=rng)
        if self.method == "fourier":
            X = X[:1]  # only its width matters
        elif X.shape[0] > self.n_components:
            X = X[np.sort(rng.choice(X.shape[0], self.n_components, replace=False))]
        self.sampler = sampler.fit(self.warp(X))
        return self

    def transform(self, X: Matrix) -> FloatArray:
        """Features of a block of rows, float32."""
        return self.of_warped(self.warp(X))

    def of_warped(self, X: Matrix) -> FloatArray:
        """Features of rows that were warped before."""
        features: FloatArray = self.sampler.transform(X).astype(np.float32, copy=False)
        return features


class OfWarped:
    """A kernel map for rows that were warped before: a solver that passes many times warps once."""

    def __init__(self, kernel_map: KernelMap) -> None:
        self._map, self.n_components = kernel_map, kernel_map.n_components

    def transform(self, X: Matrix) -> FloatArray:
        """Features of a block of warped rows."""
        return self._map.of_warped(X)
