"""RBF kernels as explicit features: random Fourier or Nystroem, computed for one block of rows at a time in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler

from riffler.errors import UnknownName
from riffler.features.blocks import Scaling
from riffler.records import FloatArray, Matrix, is_sparse

SAMPLERS = {"fourier": RBFSampler, "nystroem": Nystroem}


class KernelMap:
    """Standardise a block of rows and map it to features z(x) with z(x) . z(x') close to exp(-gamma |x - x'|^2).

    Parameters
    ----------
    method : "fourier" or "nystroem"
        Random cosines need no data and cost D products a row; Nystroem compares with D rows of the data, is closer
        for the same D, and costs D^2 more a row.
    """

    def __init__(self, method: str, n_components: int, gamma: float, scaling: Scaling) -> None:
        if method not in SAMPLERS:
            raise UnknownName.among("kernel feature method", method, SAMPLERS)
        self.method, self.n_components, self.gamma, self.scaling = method, n_components, gamma, scaling

    def fit(self, X: Matrix, rng: np.random.RandomState) -> KernelMap:
        """Draw the random directions, or the rows to compare with."""
        if self.method == "nystroem":
            self.n_components = min(self.n_components, X.shape[0])
        sampler: Any = SAMPLERS[self.method](n_components=self.n_components, gamma=self.gamma, random_state=rng)
        if self.method == "fourier":
            X = X[:1]  # only its width and type matter
        elif X.shape[0] > self.n_components:
            X = X[np.sort(rng.choice(X.shape[0], self.n_components, replace=False))]
        self._sampler = sampler.fit(self._standardised(X))
        return self

    def transform(self, X: Matrix) -> FloatArray:
        """Features of a block of rows, float32."""
        features: FloatArray = self._sampler.transform(self._standardised(X)).astype(np.float32, copy=False)
        return features

    def _standardised(self, X: Matrix) -> Matrix:
        if is_sparse(X):
            return X.multiply(1.0 / self.scaling.scale).tocsr().astype(np.float32)
        centred = X if self.scaling.center is None else X - self.scaling.center
        return (centred / self.scaling.scale).astype(np.float32)
