"""Solvers of structural SVMs on the same problem: what they reach, and how often they must ask for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from riffler.records import FloatArray
from riffler.reproduction import Progress
from riffler.reproduction.active_pairs_methods import may_end_early
from riffler.reproduction.kept_runs import KeptRuns
from riffler.reproduction.structured_data import LabellingProblem
from riffler.structured.convergence import Record, Solution, Tell, Turn, silent
from riffler.structured.cutting_plane import objective, solve_dual
from riffler.structured.problem import Problem
from riffler.structured.solvers import Solver
from riffler.structured.structural_svm import StructuralSVM

FILE = "structured-solvers.jsonl"
AS_PUBLISHED = "one-slack, as published"
SOLVERS = (AS_PUBLISHED, "one-slack", "frank-wolfe", "block-descent")
MEASURES = {"frank-wolfe": 2, "block-descent": 1}
"""Questions to each example that a turn spends on measuring the gap alone; those of 1-slack are its steps."""

C_GRID = (10.0, 30.0, 100.0, 300.0, 1000.0)
ROUGH = 0.05  # the gap that is enough to compare values of C
HELD_OUT = 0.25  # of the training part, to choose C by


@dataclass(frozen=True, slots=True)
class Solved:
    """One solver on one problem to one tolerance: its turns, its CPU seconds, and how good its weights are."""

    data: str
    fold: int
    solver: str
    tol: float
    C: float
    n_examples: int
    turns: tuple[Turn, ...]
    seconds: float
    quality: float

    @property
    def last(self) -> Turn:
        """Where it ended."""
        return self.turns[-1]

    @property
    def reached(self) -> bool:
        """Whether the gap is as small as was asked for."""
        return self.last.is_within(self.tol)

    @property
    def n_steps(self) -> int:
        """Questions to the oracle without those that only measure the gap."""
        return self.last.oracle_calls - MEASURES.get(self.solver, 0) * self.n_examples * len(self.turns)


@dataclass(frozen=True, slots=True)
class OneSlackAsPublished:
    """The 1-slack method of Joachims, Finley and Yu (2009): each question is asked at the optimum of the planes so far.

    Riffler's own asks between there and the best weights, which takes fewer questions.
    """

    max_iter: int = 2000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective."""
        record = Record(tol, tell)
        slopes: list[FloatArray] = []
        gram, offsets = np.empty((0, 0)), np.empty(0)
        weights: FloatArray = np.zeros(problem.n_weights)
        shares: FloatArray = np.empty(0)
        bound = 0.0
        for n_planes in range(1, self.max_iter + 1):
            plane = problem.plane(weights)
            value = objective(weights, plane, C)
            if record.add(n_planes * problem.n_examples, weights, value, bound):
                break
            slopes.append(plane.slopes)
            column = np.array([float(plane.slopes @ other) for other in slopes])
            gram = np.block([[gram, column[:-1, None]], [column[None]]])
            offsets = np.append(offsets, plane.offset)
            shares = solve_dual(gram, offsets, C, np.append(shares, 0.0), 0.1 * tol * value)
            weights = np.sum([share * one for share, one in zip(shares, slopes, strict=True) if share > 0], axis=0)
            bound = float(offsets @ shares - weights @ weights / 2.0)
        return record.solution()


def chosen_c(problem: LabellingProblem, grid: Sequence[float] = C_GRID, seed: int = 0) -> float:
    """Try values of C on a part of the training sequences, held out; the smaller of equals."""
    order = np.random.default_rng(seed).permutation(len(problem.train.Y))
    n_held_out = max(1, round(HELD_OUT * len(order)))
    held_out, learn = problem.train.some(order[:n_held_out]), problem.train.some(order[n_held_out:])

    def quality(C: float) -> float:
        with may_end_early():
            model = StructuralSVM(problem.task, C=C, tol=ROUGH, random_state=seed).fit(learn.X, learn.Y)
        return problem.quality(model.predict(held_out.X), held_out.Y)

    return max(sorted(grid), key=quality)


def solved(problem: LabellingProblem, solver: str, C: float, tol: float, seed: int = 0) -> Solved:
    """Run one solver; compiled loops are loaded before the clock starts."""
    way: str | Solver = OneSlackAsPublished() if solver == AS_PUBLISHED else solver
    model = StructuralSVM(problem.task, solver=way, C=C, tol=tol, random_state=seed)
    task = problem.task.for_data(problem.train.X, problem.train.Y)
    few = problem.train.some(range(min(3, len(problem.train.Y))))
    with may_end_early():
        StructuralSVM(task, solver=way, C=1e-6, tol=1.0, random_state=0).fit(few.X, few.Y)
        start = process_time()
        model.fit(problem.train.X, problem.train.Y)
        seconds = process_time() - start
    quality = problem.quality(model.predict(problem.test.X))
    n_examples = len(problem.train.Y)
    return Solved(problem.data, problem.fold, solver, tol, C, n_examples, model.turns_, seconds, quality)


def solve_all(
    problems: Sequence[LabellingProblem],
    tols: Sequence[float],
    progress: Progress,
    folder: Path | None,
    grid: Sequence[float] = C_GRID,
    solvers: Sequence[str] = SOLVERS,
) -> list[Solved]:
    """Run solvers on every problem to every tolerance, C chosen on a part held out; what is finished is kept."""
    kept: KeptRuns[Solved] = KeptRuns(file_in(folder, FILE), asdict, _read)
    chosen: KeptRuns[float] = KeptRuns(
        file_in(folder, "structured-c.jsonl"), lambda C: {"C": C}, lambda values: values["C"]
    )
    found = []
    for number, problem in enumerate(problems):
        name = f"{problem.data}, fold {problem.fold}"
        progress(number / len(problems), f"choosing C on {name}")
        C = chosen.get(key := key_of(problem.key(), grid))
        if C is None:
            C = chosen_c(problem, grid)
            chosen.add(key, C)
        for solver in solvers:
            for tol in tols:
                progress(number / len(problems), f"{solver} on {name} to a gap of {tol:.1%}")
                key = key_of([*problem.key(), solver], [C, tol])
                one = kept.get(key)
                if one is None:
                    one = solved(problem, solver, C, tol)
                    kept.add(key, one)
                found.append(one)
    return found


def _read(values: Mapping[str, Any]) -> Solved:
    return Solved(**{**values, "turns": tuple(Turn(**turn) for turn in values["turns"])})


def key_of(what: Sequence[Any], settings: object) -> str:
    """Name a run by what it is about and a digest of its settings."""
    return "|".join(map(str, what)) + "|" + sha256(json.dumps(settings).encode()).hexdigest()[:16]


def file_in(folder: Path | None, name: str) -> Path | None:
    """Where runs are kept, if they are."""
    return None if folder is None else folder / name
