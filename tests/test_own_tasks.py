"""The tasks of the examples are exact: their answers are the best of all paths, and of all alignments."""

from __future__ import annotations

import importlib.util
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from riffler.records import FloatArray, IntArray
from riffler.structured.task import Task


def example(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_paths(n_rows: int, n_columns: int, start: int, goal: int) -> list[IntArray]:
    """Every row for every column; those that begin, end or step elsewhere are left out."""
    paths = [np.array(rows) for rows in product(range(n_rows), repeat=n_columns)]
    return [p for p in paths if p[0] == start and p[-1] == goal and (np.abs(np.diff(p)) <= 1).all()]


def all_alignments(n: int, m: int) -> list[IntArray]:
    """Every choice of letters that have a partner, with every choice of as many partners in rising order."""
    found = []
    for n_pairs in range(min(n, m) + 1):
        for letters in combinations(range(n), n_pairs):
            for partners in combinations(range(m), n_pairs):
                places = np.full(n, -1)
                places[list(letters)] = partners
                found.append(places)
    return found


def need_exact(task: Task, x: Any, outputs: list[Any], weights: FloatArray) -> None:  # noqa: ANN401 - the task's own
    """The answers of a task reach the best score, and for each truth the best loss plus score, of all outputs."""
    scores = np.array([task.joint_feature(x, output) @ weights for output in outputs])
    found = task.joint_feature(x, task.argmax(x, weights)) @ weights
    assert found == pytest.approx(scores.max())
    for truth in outputs[:: max(1, len(outputs) // 8)]:
        best = max(task.loss(truth, output) + score for output, score in zip(outputs, scores, strict=True))
        violating = task.loss_augmented_argmax(x, truth, weights)
        assert any(np.array_equal(violating, output) for output in outputs)
        assert task.loss(truth, violating) + task.joint_feature(x, violating) @ weights == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
def test_paths_over_a_map_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = example("own_task_grid")
    n_rows, n_columns = (4, 5) if seed % 2 else (3, 6)
    x = (rng.random((n_rows, n_columns, 3)), int(rng.integers(n_rows)), int(rng.integers(n_rows)))
    outputs = all_paths(n_rows, n_columns, *x[1:])
    assert outputs
    for scale in (0.1, 1.0):  # where the loss weighs more than the scores, and the other way round
        need_exact(grid.CheapestPath(), x, outputs, scale * rng.normal(size=3))


@pytest.mark.parametrize("seed", range(6))
def test_alignments_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    alignment = example("own_task_alignment")
    n, m = [(4, 4), (5, 3), (3, 5), (1, 4), (4, 1), (3, 0)][seed]
    x = (rng.integers(4, size=n), rng.integers(4, size=m))
    for scale in (0.1, 1.0):
        need_exact(alignment.Alignment(), x, all_alignments(n, m), scale * rng.normal(size=17))
