"""Kappa and shares: the same numbers as others publish, intervals that cover, and no claim where there is none."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from riffler import InputError
from riffler.records import FloatArray, IntArray
from riffler.team.kappa import (
    FEWEST,
    NOTHING,
    ONE_VERDICT,
    TOO_EVEN,
    TOO_FEW,
    cohen_kappa,
    counts_of_first,
    fleiss_kappa,
    pair_share,
    pairs_table,
    table_of_first,
)

PSYCHIATRISTS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
"""Six psychiatrists on thirty patients, by five diagnoses: table 1 of Fleiss (1971), whose kappa is 0.430."""

verdicts = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60)
many_counts = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=30)


def table_of(pairs: list[tuple[int, int]] | IntArray, n_verdicts: int = 4) -> IntArray:
    table = np.zeros((n_verdicts, n_verdicts), dtype=np.int64)
    for first, second in pairs:
        table[first, second] += 1
    return table


def counts_of(rows: IntArray, n_verdicts: int) -> IntArray:
    return np.stack([(rows == verdict).sum(axis=1) for verdict in range(n_verdicts)], axis=1)


def opinions_of(row: list[int]) -> list[int]:
    return [verdict for verdict, n in enumerate(row) for _ in range(n)]


@given(pairs=verdicts)
def test_kappa_of_two_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    found = cohen_kappa(table_of(pairs))
    first, second = zip(*pairs, strict=True)
    assert found.n_documents == len(pairs)
    if len({*first, *second}) == 1:
        assert (found.value, found.low, found.high, found.note) == (None, None, None, ONE_VERDICT)
    else:
        assert found.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)


@given(pairs=verdicts)
def test_the_standard_error_is_that_of_the_slopes_of_kappa(pairs: list[tuple[int, int]]) -> None:
    p = table_of(pairs) / len(pairs)
    found = cohen_kappa(table_of(pairs * FEWEST))  # many enough for an interval, and the same shares
    if found.value is None or found.low is None or found.high is None or min(1 - found.high, 1 + found.low) <= 0:
        return
    slopes = np.empty_like(p)
    for place in np.ndindex(*p.shape):
        up, down = p.copy(), p.copy()
        up[place] += 1e-6
        down[place] -= 1e-6
        slopes[place] = (_kappa_of_shares(up) - _kappa_of_shares(down)) / 2e-6
    variance = ((p * slopes**2).sum() - (p * slopes).sum() ** 2) / (len(pairs) * FEWEST)
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-3, abs=1e-6)


def _kappa_of_shares(p: FloatArray) -> float:
    """Kappa where the shares of the table need not add up to one by rounding."""
    p = p / p.sum()
    expected = float(p.sum(axis=1) @ p.sum(axis=0))
    return (float(np.trace(p)) - expected) / (1 - expected)


def test_kappa_of_many_is_the_published_one() -> None:
    counts = np.array([[int(digit) for digit in row] for row in PSYCHIATRISTS.split()])
    found = fleiss_kappa(counts)
    assert counts.shape == (30, 5)
    assert (counts.sum(axis=1) == 6).all()
    assert (round(found.observed or 0, 3), round(found.expected or 0, 3)) == (0.556, 0.220)
    assert round(found.value or 0, 3) == 0.430


@given(rows=many_counts)
def test_kappa_of_many_equals_a_loop_over_pairs_of_opinions(rows: list[list[int]]) -> None:
    found = fleiss_kappa(np.array(rows))
    kept = [opinions_of(row) for row in rows if sum(row) >= 2]
    if not kept:
        assert (found.value, found.observed, found.note) == (None, None, NOTHING)
        return
    observed = np.mean([np.mean([a == b for a, b in permutations(said, 2)]) for said in kept])
    mean = [np.mean([said.count(verdict) / len(said) for said in kept]) for verdict in range(4)]
    expected = sum(share**2 for share in mean)
    assert found.observed == pytest.approx(observed)
    if len({verdict for said in kept for verdict in said}) == 1:
        assert (found.value, found.note) == (None, ONE_VERDICT)
    else:
        assert found.value == pytest.approx((observed - expected) / (1 - expected), abs=1e-9)


def test_the_interval_for_many_is_that_of_leaving_one_out() -> None:
    rng = np.random.default_rng(7)
    counts = np.array([rng.multinomial(rng.integers(2, 6), rng.dirichlet([0.4, 0.6, 0.3])) for _ in range(200)])
    found = fleiss_kappa(counts)
    left_out = np.array([fleiss_kappa(np.delete(counts, row, axis=0)).value for row in range(len(counts))])
    jackknife = math.sqrt((len(counts) - 1) * np.var(left_out))
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * jackknife, rel=0.05)


@given(rows=many_counts)
def test_the_table_of_pairs_has_every_pair_once(rows: list[list[int]]) -> None:
    table = pairs_table(np.array(rows))
    slow = np.zeros((4, 4), dtype=int)
    for row in rows:
        for first, second in combinations(opinions_of(row), 2):  # in order, so always above the diagonal
            slow[first, second] += 1
    np.testing.assert_array_equal(np.triu(table), slow)
    np.testing.assert_array_equal(table, table.T)


def readers(rng: np.random.Generator, n: int, n_readers: int) -> IntArray:
    """Readers who see what a document is four times out of five, and guess else."""
    truth = rng.choice(3, size=(n, 1), p=[0.2, 0.7, 0.1])
    guess = rng.choice(3, size=(n, n_readers), p=[0.2, 0.7, 0.1])
    sees: IntArray = np.where(rng.random((n, n_readers)) < 0.8, truth, guess)
    return sees


def test_intervals_cover_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    by_chance = 0.2**2 + 0.7**2 + 0.1**2
    kappa, share = 0.64, 0.64 + 0.36 * by_chance  # both see it with 0.8 * 0.8
    hits = dict.fromkeys(("cohen", "fleiss", "two", "three"), 0)
    n_trials = 600
    for _ in range(n_trials):
        said = readers(rng, 120, 3)
        two, three = counts_of(said[:, :2], 3), counts_of(said, 3)
        cohen, fleiss = cohen_kappa(table_of(said[:, :2], 3)), fleiss_kappa(three)
        for name, low, high, true in (
            ("cohen", cohen.low, cohen.high, kappa),
            ("fleiss", fleiss.low, fleiss.high, kappa),
            ("two", pair_share(two).low, pair_share(two).high, share),
            ("three", pair_share(three).low, pair_share(three).high, share),
        ):
            assert low is not None
            assert high is not None
            hits[name] += low <= true <= high
    covered = {name: n / n_trials for name, n in hits.items()}
    assert 0.92 < covered["cohen"] < 0.98
    assert 0.92 < covered["fleiss"] < 0.98
    assert 0.92 < covered["two"] < 0.98
    assert covered["three"] > 0.95  # pairs of the same document count as one: wider than it had to be


def test_full_agreement_is_no_certainty() -> None:
    share = pair_share(np.array([[2, 0]] * 20 + [[0, 2]] * 20))
    assert share.value == share.high == 1.0
    assert 0.9 < share.low < 0.93
    for kappa in (cohen_kappa(np.diag([20, 20])), fleiss_kappa(np.array([[2, 0]] * 20 + [[0, 2]] * 20))):
        assert (kappa.value, kappa.low, kappa.high, kappa.note) == (1.0, None, None, TOO_EVEN)


def test_few_documents_have_no_interval_of_kappa() -> None:
    rows = [[2, 0], [0, 2], [1, 1]] * 3
    assert fleiss_kappa(np.array(rows)).note == TOO_FEW
    assert fleiss_kappa(np.array([*rows, [2, 0]])).low is not None
    assert fleiss_kappa(np.array([[1, 1]])).value == -1.0
    assert cohen_kappa(np.array([[3, 1], [1, 4]])).note == TOO_FEW
    assert cohen_kappa(np.array([[3, 1], [1, 5]])).low is not None


def test_nothing_is_said_of_nothing() -> None:
    assert cohen_kappa(np.zeros((4, 4), dtype=int)).note == NOTHING
    assert fleiss_kappa(np.zeros((0, 4), dtype=int)).note == NOTHING
    with pytest.raises(InputError, match="no pairs"):
        pair_share(np.array([[1, 0]]))


def test_a_document_with_one_opinion_changes_nothing() -> None:
    rows = np.array([[2, 0, 0], [1, 1, 1], [0, 2, 0]] * 5)
    more = np.vstack([rows, [[1, 0, 0]], [[0, 0, 0]]])
    assert fleiss_kappa(more) == fleiss_kappa(rows)
    assert pair_share(more) == pair_share(rows)


@given(pairs=verdicts)
def test_merged_verdicts_are_those_of_merged_opinions(pairs: list[tuple[int, int]]) -> None:
    merged = [(min(first, 1), min(second, 1)) for first, second in pairs]
    np.testing.assert_array_equal(table_of_first(table_of(pairs)), table_of(merged, 2))
    np.testing.assert_array_equal(counts_of_first(counts_of(np.array(pairs), 4)), counts_of(np.array(merged), 2))
