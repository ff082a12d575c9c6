"""What structured learning costs: tokens decoded a second, bytes kept by solvers, and time and questions to a gap.

Called by structured.py. Times are CPU seconds of one thread.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from typing import Any

import numpy as np
from numba import njit
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from riffler import datasets
from riffler._fast.chain import best_path
from riffler.data.svmlight import read_svmlight
from riffler.errors import DataSetMissing
from riffler.records import FloatArray, IntArray
from riffler.reproduction.structured_data import LabellingProblem, chunked, letters
from riffler.structured.block_descent import BlockDescent
from riffler.structured.convergence import Turn
from riffler.structured.frank_wolfe import FrankWolfe, SparseBlocks
from riffler.structured.multiclass import Multiclass
from riffler.structured.solvers import SOLVERS
from riffler.structured.structural_svm import StructuralSVM, problem_of

N_LABELS = 23
DECODE_GOAL = 500_000
LETTERS_C, CHUNKS_C, CLASSES_C = 100.0, 300.0, 100.0
LIMIT = 120.0  # seconds of CPU that a solver may take to a gap
SPARSE_PASSES = 5


def viterbi(repeats: int = 5) -> list[dict[str, Any]]:
    """Tokens decoded a second for 23 labels: with scores given, and from sparse features to labels."""
    problem = chunked("conll2000")
    if problem is None:
        return []
    rng = np.random.default_rng(0)
    X: Any = problem.train.X
    n_tokens, n_columns = X.rows.shape
    scores, steps, ends = (
        rng.normal(size=(n_tokens, N_LABELS)),
        rng.normal(size=(N_LABELS, N_LABELS)),
        np.zeros((2, N_LABELS)),
    )
    labels = tuple(range(N_LABELS))
    chain = type(problem.task)(labels=labels, n_columns=n_columns)
    weights = rng.normal(size=n_columns * N_LABELS + N_LABELS**2)
    ways: dict[str, Callable[[], object]] = {
        "scores given": lambda: decode_scores(scores, ends, steps, X.starts, np.empty(n_tokens, np.int64)),
        "features to labels": lambda: chain.decode(X, weights),
    }
    return [
        {
            "what": what,
            "labels": N_LABELS,
            "tokens": n_tokens,
            "features a token": X.rows.nnz / n_tokens if what != "scores given" else 0.0,
            "tokens a second": int(n_tokens / least_seconds(work, repeats)),
            "goal": DECODE_GOAL,
        }
        for what, work in ways.items()
    ]


@njit(cache=True)
def decode_scores(
    scores: FloatArray, ends: FloatArray, steps: FloatArray, starts: IntArray, paths: IntArray
) -> IntArray:
    """Viterbi over all sentences."""
    longest = np.max(np.diff(starts))
    back, best = np.zeros((longest, scores.shape[1]), np.int64), np.empty((2, scores.shape[1]))
    for i in range(len(starts) - 1):
        start, stop = starts[i], starts[i + 1]
        if stop > start:
            best_path(scores[start:stop], ends, steps, stop - start, back, best, paths[start:stop])
    return paths


def least_seconds(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds, the least of some; compiled before."""
    work()
    times = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


class Watched:
    """A problem that remembers what a solver asked it to keep; with ``generic``, blocks are those of any task."""

    def __init__(self, problem: Any, generic: bool) -> None:  # noqa: ANN401 - a problem
        self._problem, self._generic = problem, generic
        self.held: Any = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the problem has
        return getattr(self._problem, name)

    def blocks(self, C: float) -> Any:  # noqa: ANN401 - blocks
        """Remember the blocks."""
        self.held = SparseBlocks(self._problem, C) if self._generic else self._problem.blocks(C)
        return self.held

    def working_sets(self, C: float) -> Any:  # noqa: ANN401 - working sets
        """Remember the working sets."""
        self.held = self._problem.working_sets(C)
        return self.held


def memory() -> list[dict[str, Any]]:
    """Bytes that solvers keep at a gap of 1 %, against a dense vector of weights for each example."""
    rows = []
    for name, problem, C in _chains():
        for what, solver, generic in (
            ("frank-wolfe, shares of labels", FrankWolfe(), False),
            (f"frank-wolfe, any task, {SPARSE_PASSES} passes", FrankWolfe(SPARSE_PASSES), True),
            ("block-descent, labellings kept", BlockDescent(), False),
        ):
            task = problem.task.for_data(problem.train.X, problem.train.Y)
            watched = Watched(problem_of(task, problem.train.X, problem.train.Y, "margin"), generic)
            found: Any = solver.solve(watched, C, tol=0.01, rng=np.random.default_rng(0))
            dense = 8 * watched.n_examples * watched.n_weights
            rows.append(
                {
                    "data": name,
                    "what": what,
                    "sequences": watched.n_examples,
                    "weights": watched.n_weights,
                    "MB": watched.held.n_bytes / 1e6,
                    "n x d MB": dense / 1e6,
                    "share": f"{watched.held.n_bytes / dense:.2e}",
                    "gap": f"{found.turns[-1].gap / found.turns[-1].primal:.2%}",
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def _chains() -> list[tuple[str, LabellingProblem, float]]:
    words, sentences = letters(), chunked("conll2000")
    found = [("letters, fold 1", words[0], LETTERS_C)] if words else []
    return [*found, *([("conll2000", sentences, CHUNKS_C)] if sentences is not None else [])]


class OutOfTime(Exception):
    """A solver took longer than it may."""


def solvers() -> list[dict[str, Any]]:
    """CPU seconds and oracle calls of every solver to gaps of 10 % and 1 %, or the gap where its time was up."""
    problems: list[tuple[str, Any, Any, Any, float]] = [
        (name, problem.task, problem.train.X, problem.train.Y, C) for name, problem, C in _chains()
    ]
    rows = []
    for name, task, X, Y, C in [*_classes(), *problems]:
        for solver in SOLVERS:
            row: dict[str, Any] = {"data": name, "C": C, "solver": solver, "examples": len(Y)}
            there = True
            for tol in (0.1, 0.01):
                if there:  # else its time was up at the larger gap
                    turns, seconds = turns_of(task, X, Y, solver, C, tol)
                    last = turns[-1] if turns else Turn(0, 0.0, 1.0, 0.0)
                there = last.is_within(tol)
                row |= {
                    f"{tol:.0%}: CPU s": round(seconds, 2) if there else f"> {seconds:.0f}",
                    f"{tol:.0%}: calls": f"{last.oracle_calls:,}" if there else f"gap {last.gap / last.primal:.1%}",
                }
            row["objective"] = f"{last.primal:.3f}"
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    return rows


def _classes() -> list[tuple[str, Any, Any, Any, float]]:
    """Handwritten digits, ten classes."""
    try:
        file = datasets.path("pendigits") / datasets.info("pendigits").parts["train"].file
    except DataSetMissing:
        return []
    raw = read_svmlight(file, None, np.float64)
    X = raw.X.toarray() if hasattr(raw.X, "toarray") else np.asarray(raw.X)
    return [("pendigits", Multiclass(), StandardScaler().fit_transform(X), np.asarray(raw.labels), CLASSES_C)]


def turns_of(task: Any, X: Any, Y: Any, solver: str, C: float, tol: float) -> tuple[list[Turn], float]:  # noqa: ANN401
    """The turns of a solver, and its CPU seconds; it is stopped when its time is up."""
    turns: list[Turn] = []
    begun = process_time()

    def tell(turn: Turn) -> None:
        turns.append(turn)
        if process_time() - begun > LIMIT:
            raise OutOfTime

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        few = (X.some(range(3)) if hasattr(X, "some") else X[:3]), Y[:3]
        known = task.for_data(X, Y) if hasattr(task, "for_data") else task
        StructuralSVM(known, solver=solver, C=1e-6, tol=1.0, random_state=0).fit(*few)  # compiles
        begun = process_time()
        with suppress(OutOfTime):
            StructuralSVM(task, solver=solver, C=C, tol=tol, random_state=0, progress=tell).fit(X, Y)
    return turns, process_time() - begun
