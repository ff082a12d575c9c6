"""The data sets of Shen and Lin (2013) that are here, and others in place of those that are not, split anew by seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from riffler.errors import DataSetMissing
from riffler.records import IntArray, Matrix, is_sparse
from riffler.reproduction.problems import digits

MAX_ROWS, MAX_TEST_ROWS = 16_000, 100_000  # to learn from and choose by; to measure on
MAX_VALUES, MAX_TEST_VALUES = 4_800_000, 16_000_000  # rows x columns of a dense set
WIDEST = 2000
"""Columns up to which sparse rows are made dense and standardised."""

VALIDATION = 0.25  # of the rows that are learned from and chosen by


@dataclass(frozen=True, slots=True, eq=False)
class RankingProblem:
    """A data set under the paper's name for it: rows as they are read, labels 0 or 1."""

    name: str
    X: Matrix
    y: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows for fitting, for choosing settings, and for the test; dense columns are standardised on the first part."""

    X: Matrix
    y: IntArray
    fit: IntArray
    validation: IntArray
    test: IntArray

    @property
    def learn(self) -> IntArray:
        """Rows of fit and validation."""
        return np.concatenate([self.fit, self.validation])


def problem_of(name: str, about: Mapping[str, Any]) -> RankingProblem | None:
    """Read all parts of a set; None where it is not here."""
    from riffler import datasets

    try:
        table = datasets.load(about["data"], split="all", positive=about.get("positive"), dtype=np.float64)
    except DataSetMissing:
        return None
    X = one_column_a_value(table.X) if about.get("categories", False) else table.X
    return RankingProblem(name, X, np.asarray(table.labels()).astype(np.int64))


def one_column_a_value(X: Matrix) -> Matrix:
    """Numbers that stand for categories as columns of 0 and 1.

    >>> one_column_a_value(np.array([[2.0], [0.0], [2.0]]))
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """
    from sklearn.preprocessing import OneHotEncoder

    columns: Matrix = OneHotEncoder(sparse_output=False, dtype=np.float64).fit_transform(X)
    return columns


def small_problem() -> RankingProblem:
    """The digits that ship with scikit-learn, for where no data set is here."""
    found = digits()
    return RankingProblem(found.name, found.X.astype(np.float64), found.y)


def problem_key(problem: RankingProblem) -> list[Any]:
    """What tells one experiment's splits of a set from another's, but the seed."""
    limits = [MAX_ROWS, MAX_TEST_ROWS, MAX_VALUES, MAX_TEST_VALUES, WIDEST, VALIDATION]
    return [*problem.X.shape, int(problem.y.sum()), *limits]


def split_of(problem: RankingProblem, seed: int) -> Split:
    """Draw rows for fitting (60 %), for choosing (20 %) and for the test, each with the same share of positives.

    From a large set 16,000 rows are learned from and chosen by, and up to 100,000 others are the test: differences are
    small, and a small test part would hide them.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    X, y = problem.X, problem.y
    dense = not is_sparse(X) or X.shape[1] <= WIDEST
    n_learn = min(round(0.8 * len(y)), MAX_ROWS, MAX_VALUES // X.shape[1] if dense else MAX_ROWS)
    n_test = min(len(y) - n_learn, MAX_TEST_ROWS, MAX_TEST_VALUES // X.shape[1] if dense else MAX_TEST_ROWS)
    learn, test = train_test_split(
        np.arange(len(y)), train_size=n_learn, test_size=n_test, stratify=y, random_state=seed
    )
    fit, validation = train_test_split(learn, test_size=VALIDATION, stratify=y[learn], random_state=seed)
    rows = np.concatenate([fit, validation, test])
    X, y = X[rows], y[rows]
    if is_sparse(X) and X.shape[1] <= WIDEST:
        X = X.toarray()
    if not is_sparse(X):
        X = np.ascontiguousarray(StandardScaler().fit(X[: len(fit)]).transform(X))
    parts = np.split(np.arange(len(rows)), [len(fit), len(fit) + len(validation)])
    return Split(X, y, *parts)
