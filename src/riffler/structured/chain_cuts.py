"""Cuts of many sequences at once, as rows of one sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.structured.cuts import Cuts

if TYPE_CHECKING:
    from riffler.structured.chain_problem import ChainProblem


def cuts_of_chains(problem: ChainProblem, examples: IntArray, weights: FloatArray) -> Cuts:
    """Give the cut of the most violating labels of each of these sequences."""
    from scipy.sparse import csr_matrix

    starts = problem.sequences.starts
    lengths = starts[examples + 1] - starts[examples]
    owners = np.repeat(np.arange(len(examples)), lengths)
    rows = np.arange(len(owners)) + np.repeat(starts[examples] - (np.cumsum(lengths) - lengths), lengths)
    truth, said = problem.gold[rows], problem.violating(examples, weights)
    losses: FloatArray = np.zeros(len(examples))
    np.add.at(losses, owners, problem.cost[truth, said])
    parts = [_of_rows(problem, rows, owners, truth, said), _of_pairs(problem, owners, truth, said)]
    places, of, values = (np.concatenate(some) for some in zip(*parts, strict=True))
    values = values * losses[of] if problem.slack else values
    matrix = csr_matrix((values, (of, places)), shape=(len(examples), problem.n_weights))  # sums what stands twice
    matrix.eliminate_zeros()
    return Cuts(matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64), losses)


Entries = tuple[IntArray, IntArray, FloatArray]
"""Places among the weights, numbers of cuts, and values."""


def _of_rows(problem: ChainProblem, rows: IntArray, owners: IntArray, truth: IntArray, said: IntArray) -> Entries:
    """Columns of the rows whose labels are wrong: + for the true label, - for the other."""
    from scipy.sparse import csr_matrix

    wrong = np.flatnonzero(truth != said)
    entries = csr_matrix(problem.sequences.rows[rows[wrong]])
    at = np.repeat(wrong, np.diff(entries.indptr))
    columns, values = entries.indices.astype(np.int64) * problem.n_labels, entries.data.astype(np.float64)
    places = np.concatenate([columns + truth[at], columns + said[at]])
    return places, np.tile(owners[at], 2), np.concatenate([values, -values])


def _of_pairs(problem: ChainProblem, owners: IntArray, truth: IntArray, said: IntArray) -> Entries:
    """Neighbouring labels in the same sequence: + for the true ones, - for the others."""
    after = np.flatnonzero(owners[1:] == owners[:-1]) + 1
    first = problem.n_columns * problem.n_labels
    places = [first + labels[after - 1] * problem.n_labels + labels[after] for labels in (truth, said)]
    ones = np.ones(len(after))
    return np.concatenate(places), np.tile(owners[after], 2), np.concatenate([ones, -ones])
