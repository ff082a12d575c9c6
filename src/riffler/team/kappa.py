"""How far people agree who say the same of the same things: shares, and kappa, which is what chance does not explain.

Two tables say it all. A *contingency table* has a row for each verdict of the first of two people and a column for each
of the second. *Counts* have a row for each document: how many of its readers gave each verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from riffler.errors import InputError
from riffler.records import FloatArray, IntArray

FEWEST = 10
"""Documents from which on something is claimed: with fewer, chance decides."""

TWO_SIDED = NormalDist().inv_cdf(0.975)  # of a 95% interval
NEARLY_ZERO = 1e-9  # a variance that rounding alone makes

ONE_VERDICT = "All opinions are the same verdict. Chance alone would do that, so kappa says nothing."
NOTHING = "No document has two opinions."
TOO_FEW = f"Fewer than {FEWEST} documents: too few for an interval."
TOO_EVEN = "The opinions vary too little for an interval: its formula would claim certainty."


@dataclass(frozen=True, slots=True)
class Share:
    """A share of pairs of opinions, and its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance: 1 is full, 0 is what chance gives.

    name : "Cohen" or "Fleiss"
    observed, expected : share of agreement that was seen, and that chance would give; None without documents
    value, low, high : kappa and its 95% interval; None where they are not defined
    note : says so then
    """

    name: str
    n_documents: int
    observed: float | None
    expected: float | None
    value: float | None
    low: float | None
    high: float | None
    note: str = ""


def cohen_kappa(table: IntArray) -> Kappa:
    """Kappa of two people, of Cohen (1960), from their contingency table.

    It is (observed - expected) / (1 - expected). The interval is that of the large-sample standard error of Fleiss,
    Cohen and Everitt (1969), and is cut at -1 and 1.

    >>> found = cohen_kappa(np.array([[20, 5], [10, 15]]))
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.4, 0.15, 0.65)
    """
    n = int(table.sum())
    if n == 0:
        return _undefined("Cohen", 0, None, NOTHING)
    p = table / n
    first, second = p.sum(axis=1), p.sum(axis=0)
    observed, expected = float(np.trace(p)), float(first @ second)
    if np.count_nonzero(first + second) == 1:
        return _undefined("Cohen", n, observed, ONE_VERDICT)
    value = (observed - expected) / (1 - expected)
    return _kappa("Cohen", n, observed, expected, value, _cohen_variance(p, observed, expected) / n)


def fleiss_kappa(counts: IntArray) -> Kappa:
    """Kappa of any number of people, of Fleiss (1971), from counts; those with fewer than two opinions are left out.

    Documents may differ in how many read them, and each weighs the same: so Gwet (2014, Handbook of Inter-Rater
    Reliability) generalises it. Chance draws both verdicts from the mean shares of all. His standard error takes the
    documents for a sample of many.

    >>> round(fleiss_kappa(np.array([[3, 0], [0, 2], [2, 1], [0, 3]])).value, 2)
    0.66
    """
    counts = _read_by_two(counts)
    n = len(counts)
    if n == 0:
        return _undefined("Fleiss", 0, None, NOTHING)
    alike = _agreeing_pairs(counts) / _n_pairs(counts)
    shares = counts / counts.sum(axis=1, keepdims=True)
    mean = shares.mean(axis=0)
    observed, expected = float(alike.mean()), float(mean @ mean)
    if np.count_nonzero(mean) == 1:
        return _undefined("Fleiss", n, observed, ONE_VERDICT)
    value = (observed - expected) / (1 - expected)
    # what each document adds, in both the agreement and the chance that it is measured by
    part = ((alike - expected) - 2 * (1 - value) * (shares @ mean - expected)) / (1 - expected)
    return _kappa("Fleiss", n, observed, expected, value, float(np.var(part, ddof=1)) / n if n > 1 else 0.0)


def pair_share(counts: IntArray) -> Share:
    """Share of all pairs of opinions about the same document that are equal, with an interval of Wilson (1927).

    It assumes that documents are independent of each other, and nothing of the opinions about the same one: all pairs
    of a document tell no more than one of them, so with more than two readers the interval is rather too wide. Where
    documents differ in their number of pairs, n is (sum of pairs)^2 / (sum of pairs^2), as for any weighted mean.

    >>> found = pair_share(np.array([[2, 0]] * 37 + [[1, 1]] * 3))
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
    (0.925, 0.8, 0.97)
    """
    counts = _read_by_two(counts)
    if not len(counts):
        raise InputError("There is no share of no pairs. Give counts with a document that has two opinions.")
    pairs = _n_pairs(counts)
    value = float(_agreeing_pairs(counts).sum() / pairs.sum())
    return Share(value, *wilson_interval(value, float(pairs.sum() ** 2 / (pairs**2).sum())))


def wilson_interval(share: float, n: float) -> tuple[float, float]:
    """95% interval of a share of n independent things: the shares from which this one is not too far.

    >>> [round(end, 3) for end in wilson_interval(1.0, 40)]
    [0.912, 1.0]
    """
    square = TWO_SIDED**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = TWO_SIDED * math.sqrt(share * (1 - share) / n + square / (4 * n**2)) / (1 + square / n)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))  # rounding could leave it out


def pairs_table(counts: IntArray) -> IntArray:
    """Count pairs of opinions about the same document by their verdicts, in any order.

    So the table is symmetric, and its diagonal with what is above it has every pair once.

    >>> pairs_table(np.array([[2, 1], [0, 2]])).tolist()
    [[1, 2], [2, 1]]
    """
    table = counts.T @ counts
    np.fill_diagonal(table, (counts * (counts - 1) // 2).sum(axis=0))
    return table


def counts_of_first(counts: IntArray) -> IntArray:
    """Merge all verdicts but the first into one.

    >>> counts_of_first(np.array([[1, 2, 3], [4, 5, 6]])).tolist()
    [[1, 5], [4, 11]]
    """
    return np.column_stack([counts[:, 0], counts[:, 1:].sum(axis=1)])


def table_of_first(table: IntArray) -> IntArray:
    """Merge all verdicts but the first into one, of both people.

    >>> table_of_first(np.arange(9).reshape(3, 3)).tolist()
    [[0, 3], [9, 24]]
    """
    return counts_of_first(counts_of_first(table).T).T


def _cohen_variance(p: FloatArray, observed: float, expected: float) -> float:
    """Return n times the variance of kappa: formula 13 of Fleiss, Cohen and Everitt."""
    marginals = p.sum(axis=0)[:, None] + p.sum(axis=1)[None, :]  # p_.i + p_j.
    weights = -marginals * (1 - observed)
    np.fill_diagonal(weights, (1 - expected) + weights.diagonal())
    spread = float((p * weights**2).sum())
    return (spread - (observed * expected - 2 * expected + observed) ** 2) / (1 - expected) ** 4


def _kappa(name: str, n: int, observed: float, expected: float, value: float, variance: float) -> Kappa:
    if n < FEWEST:
        return Kappa(name, n, observed, expected, value, None, None, TOO_FEW)
    if variance * n < NEARLY_ZERO:
        return Kappa(name, n, observed, expected, value, None, None, TOO_EVEN)
    half = TWO_SIDED * math.sqrt(variance)
    return Kappa(name, n, observed, expected, value, max(-1.0, value - half), min(1.0, value + half))


def _undefined(name: str, n: int, observed: float | None, note: str) -> Kappa:
    return Kappa(name, n, observed, observed, None, None, None, note)


def _read_by_two(counts: IntArray) -> IntArray:
    kept: IntArray = counts[counts.sum(axis=1) >= 2]
    return kept


def _n_pairs(counts: IntArray) -> FloatArray:
    n: FloatArray = counts.sum(axis=1).astype(np.float64)
    return n * (n - 1) / 2


def _agreeing_pairs(counts: IntArray) -> FloatArray:
    alike: FloatArray = (counts * (counts - 1) / 2).sum(axis=1)
    return alike
