"""Plan paths over a map as an expert does: learn what terrain costs from paths that were shown.

A path crosses the map from a start in the west to a goal in the east; each step goes one column on, and one row up or
down, or neither. Columns are gone through one by one, so answers are exact whatever sign the scores of cells have.
"""

from __future__ import annotations

import numpy as np

from riffler import StructuralSVM
from riffler.records import FloatArray, IntArray

TERRAIN = {"road": 1.0, "meadow": 2.0, "sand": 4.0, "swamp": 7.0}  # what a cell costs the expert, who never tells
Map = tuple[FloatArray, int, int]  # features of the cells, shape (n_rows, n_columns, n_features); row of start and goal


class CheapestPath:
    """A path is a row for each column; its score is the sum of the scores of its cells."""

    def joint_feature(self, x: Map, path: IntArray) -> FloatArray:
        """Sum the features of the cells on the path."""
        return np.asarray(x[0][path, np.arange(len(path))].sum(axis=0))

    def loss(self, path: IntArray, other: IntArray) -> float:
        """Give the share of cells that are off the path."""
        return float(np.mean(path != other))

    def argmax(self, x: Map, weights: FloatArray) -> IntArray:
        """Give the path of the highest score."""
        return best_path(x[0] @ weights, *x[1:])

    def loss_augmented_argmax(self, x: Map, path: IntArray, weights: FloatArray) -> IntArray:
        """Give the path of the highest loss plus score: a cell off the true path brings its part of the loss."""
        scores = x[0] @ weights + 1 / len(path)
        scores[path, np.arange(len(path))] -= 1 / len(path)
        return best_path(scores, *x[1:])


def best_path(scores: FloatArray, start: int, goal: int) -> IntArray:
    """Give the path of the highest sum of scores; best[row] is that of the paths to this row of the column."""
    n_rows, n_columns = scores.shape
    best: FloatArray = np.where(np.arange(n_rows) == start, scores[:, 0], -np.inf)
    steps: IntArray = np.zeros((n_columns, n_rows), int)
    for column in range(1, n_columns):
        beside = np.pad(best, 1, constant_values=-np.inf)
        options = np.stack([beside[:-2], beside[1:-1], beside[2:]])  # from the row above, the same row, the row below
        steps[column] = 1 - options.argmax(axis=0)
        best = options.max(axis=0) + scores[:, column]
    path = [goal]
    for step in steps[:0:-1]:
        path.append(path[-1] - step[path[-1]])
    return np.array(path[::-1])


def random_map(rng: np.random.Generator) -> Map:
    kinds = rng.integers(len(TERRAIN), size=(6, 12)).repeat(2, axis=0).repeat(2, axis=1)  # patches of two by two cells
    return np.eye(len(TERRAIN))[kinds], int(rng.integers(12)), int(rng.integers(12))


def main() -> None:
    rng = np.random.default_rng(0)
    task, costs = CheapestPath(), np.array(list(TERRAIN.values()))
    maps = [random_map(rng) for _ in range(80)]
    paths = [task.argmax(x, -costs) for x in maps]
    model = StructuralSVM(task, solver="n-slack", C=100).fit(maps[:40], paths[:40])
    straight = [task.argmax(x, np.zeros(len(costs))) for x in maps[40:]]
    before = 1 - np.mean([task.loss(path, other) for path, other in zip(paths[40:], straight, strict=True)])
    print(f"cells on the expert's path: {before:.0%} before, {model.score(maps[40:], paths[40:]):.0%} after 40 paths")
    learned = (model.coef_[0] - model.coef_) / (model.coef_[0] - model.coef_[1])  # only differences can show in a path
    for name, given, found in zip(TERRAIN, costs - costs[0], learned, strict=True):
        print(f"{name:8} costs the expert {given:.1f} more than road, learned {found:.1f}")


if __name__ == "__main__":
    main()
