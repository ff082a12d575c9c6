"""What a problem that gives cuts hands to the solvers that keep something for each example."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from riffler.records import FloatArray
from riffler.structured.cutting_plane import Plane
from riffler.structured.problem import Cut

if TYPE_CHECKING:
    from riffler.structured.block_descent import WorkingSets
    from riffler.structured.frank_wolfe import Blocks


class ByCuts(ABC):
    """A problem that says nothing of its examples but their cuts."""

    n_examples: int
    n_weights: int

    @abstractmethod
    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Give the cut of the output that violates the margin of one example most."""

    @abstractmethod
    def plane(self, weights: FloatArray) -> Plane:
        """Give the mean of the cuts of all examples."""

    def blocks(self, C: float) -> Blocks:
        """Keep the share of each example as a sparse vector."""
        from riffler.structured.frank_wolfe import SparseBlocks

        return SparseBlocks(self, C)

    def working_sets(self, C: float) -> WorkingSets:
        """Keep the cuts of each example."""
        from riffler.structured.block_descent import KeptCuts

        return KeptCuts(self, C)
