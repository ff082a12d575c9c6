"""RBF kernels as explicit features: a linear score of random cosines, or of comparisons with some rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.features.blocks import RowBlocks, Scaling, identity_scaling, mapped_scores
from riffler.records import FloatArray, Matrix
from riffler.scorers.width import check_count, check_gamma, warp_and_gamma

if TYPE_CHECKING:
    from riffler.features.kernel import KernelMap


@dataclass(frozen=True, slots=True)
class RbfFourier:
    """An RBF kernel by random Fourier features: its cost does not grow, its error falls as 1 / sqrt(n_components).

    gamma : as of ``Rbf``
    n_components : features
    """

    gamma: float | None = None
    n_components: int = 1000

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_count("n_components", self.n_components)

    def start(self, X: Matrix, scaling: Scaling, seed: int) -> MappedScorer:
        """Draw the features and return a scorer with all weights 0."""
        return _started("fourier", self.n_components, self.gamma, X, scaling, seed)


@dataclass(frozen=True, slots=True)
class RbfNystroem:
    """An RBF kernel by Nystroem features: its projection on the span of rows of the first batch.

    gamma : as of ``Rbf``
    n_components : rows of the first batch to compare with, all of them if there are fewer
    """

    gamma: float | None = None
    n_components: int = 1000

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_count("n_components", self.n_components)

    def start(self, X: Matrix, scaling: Scaling, seed: int) -> MappedScorer:
        """Draw the rows to compare with and return a scorer with all weights 0."""
        return _started("nystroem", self.n_components, self.gamma, X, scaling, seed)


def _started(
    method: str, n_components: int, gamma: float | None, X: Matrix, scaling: Scaling, seed: int
) -> MappedScorer:
    from riffler.features.kernel import KernelMap  # loads scikit-learn

    warp, gamma = warp_and_gamma(X, scaling, gamma)
    return MappedScorer(KernelMap(method, n_components, gamma, warp).fit(X, np.random.RandomState(seed)))


class MappedScorer:
    """``f(x) = weights . z(x)`` for features z that are made a block of rows at a time."""

    def __init__(self, kernel_map: KernelMap) -> None:
        self.kernel_map = kernel_map
        self.weights: FloatArray = np.zeros(kernel_map.n_components)

    def scores(self, X: Matrix) -> FloatArray:
        """Return f of each row; features and their products are float32."""
        return mapped_scores(X, self.kernel_map, self.weights.astype(np.float32)).astype(np.float64)

    def add(self, X: Matrix, amounts: FloatArray) -> None:
        """Let the weights grow by the sum of ``amounts[i]`` times the features of row i."""
        features = RowBlocks(X, identity_scaling(self.weights.size), self.kernel_map)
        self.weights += features.pull_back(amounts[None, :])[:, 0]
