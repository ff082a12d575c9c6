"""Letters of handwritten words: a chain beside a linear SVM that looks at each letter alone, C chosen alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from riffler.reproduction import Progress
from riffler.reproduction.active_pairs_methods import may_end_early
from riffler.reproduction.kept_runs import KeptRuns
from riffler.reproduction.structured_data import Labelled, LabellingProblem, with_ends
from riffler.reproduction.structured_solvers import C_GRID, HELD_OUT, chosen_c, file_in, key_of
from riffler.structured.structural_svm import StructuralSVM

FILE = "structured-letters.jsonl"
TOL = 0.01
ALONE_GRID = (0.01, 0.03, 0.1, 0.3, 1.0)
CHAIN, ALONE = "chain", "each letter alone"
ROWS, WITH_ENDS = "pixels", "pixels, ends of the word"


@dataclass(frozen=True, slots=True)
class Read:
    """How many letters of the test part one method read rightly, and the C it chose."""

    fold: int
    columns: str
    method: str
    C: float
    accuracy: float


def read_letters(
    problems: Sequence[LabellingProblem], progress: Progress, folder: Path | None, grid: Sequence[float] = C_GRID
) -> list[Read]:
    """Both methods on every fold, from pixels, and from pixels with columns for the ends of the word."""
    kept: KeptRuns[Read] = KeptRuns(file_in(folder, FILE), asdict, lambda values: Read(**values))
    found = []
    for number, problem in enumerate(problems):
        for columns, one in ((ROWS, problem), (WITH_ENDS, with_ends(problem))):
            for method in (CHAIN, ALONE):
                progress(number / len(problems), f"{method} on fold {problem.fold}, {columns}")
                key = key_of([*one.key(), method], [grid, ALONE_GRID, TOL])
                read = kept.get(key)
                if read is None:
                    read = Read(one.fold, columns, method, *(_chain(one, grid) if method == CHAIN else _alone(one)))
                    kept.add(key, read)
                found.append(read)
    return found


def _chain(problem: LabellingProblem, grid: Sequence[float]) -> tuple[float, float]:
    C = chosen_c(problem, grid)
    with may_end_early():
        model = StructuralSVM(problem.task, C=C, tol=TOL, random_state=0).fit(problem.train.X, problem.train.Y)
    return C, problem.quality(model.predict(problem.test.X))


def _alone(problem: LabellingProblem) -> tuple[float, float]:
    """A linear SVM, one class against the rest, on the same columns; C chosen on the same words held out."""
    order = np.random.default_rng(0).permutation(len(problem.train.Y))
    n_held_out = max(1, round(HELD_OUT * len(order)))
    held_out, learn = problem.train.some(order[:n_held_out]), problem.train.some(order[n_held_out:])
    C = max(ALONE_GRID, key=lambda C: share_right(C, learn, held_out))
    return C, share_right(C, problem.train, problem.test)


def share_right(C: float, learn: Labelled, test: Labelled) -> float:
    """The share of letters that a linear SVM reads rightly."""
    from sklearn.svm import LinearSVC

    with may_end_early():
        model = LinearSVC(C=C, random_state=0).fit(learn.X.rows, np.concatenate(learn.Y))
    return float(model.score(test.X.rows, np.concatenate(test.Y)))
