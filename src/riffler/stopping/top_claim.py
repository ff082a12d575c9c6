"""What may be claimed about the predicted tops from the ledger alone: their precision, and how much they missed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError, NoClaim
from riffler.ledger import IRRELEVANT, RELEVANT, UNKNOWN, Ledger, Round
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.stopping.sampled_count import Finds, bounded_above, bounded_below, estimated


@dataclass(frozen=True, slots=True)
class TopClaim:
    """Precision of everything predicted in the first ``n_rounds`` rounds, and the relevant rows outside it.

    The estimates are unbiased and so may lie outside what is possible while few rows were asked; the bounds never do.
    ``missed`` counts relevant rows that were not predicted; ``n_found`` of them were asked and are known.
    The interval of the precision holds at all rounds together with this confidence, and so does that of ``missed``.
    """

    precision: float
    precision_low: float
    precision_high: float
    missed: float
    missed_low: float
    missed_high: float
    n_found: int
    n_predicted: int
    n_rounds: int
    n_left_out: int  # rounds from the first on that the budget cut short
    confidence: float

    def in_words(self) -> str:
        """Say it in a sentence or two."""
        precision = min(max(self.precision, self.precision_low), self.precision_high)
        missed = min(max(self.missed, self.missed_low), self.missed_high)
        least, most = math.ceil(self.missed_low - 1e-6), math.floor(self.missed_high + 1e-6)
        words = (
            f"Precision of the {self.n_predicted:,} rows predicted so far: {precision:.3f} "
            f"({self.precision_low:.3f} to {self.precision_high:.3f}); outside them about {missed:,.0f} relevant rows "
            f"(at least {least:,}, at most {most:,}; {self.n_found:,} of them are known), "
            f"each with {self.confidence * 100:g} % confidence at every step."
        )
        if self.n_left_out:
            words += f" This covers {self.n_rounds} rounds; from the next on the budget was spent."
        return words

    def __str__(self) -> str:
        return self.in_words()


def claim_top(ledger: Ledger, confidence: float = 0.95, *, least_floor: float = 1e-4) -> TopClaim:
    """Estimate the precision of what was predicted and the relevant rows outside it, with bounds valid at every step.

    Parameters
    ----------
    ledger : of the oracle that was asked
    confidence : float
        With which each interval holds at all rounds together: look as often as you like, stop whenever you like.
    least_floor : float
        Refuse if a row had a smaller chance of being asked: the bounds would say nothing.

    Raises NoClaim where a row could not have been asked: with the sequential sampler, or without a floor.

    >>> from riffler import ActivePerceptronAtK, ArrayOracle
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(20_000) < 0.1).astype(int)
    >>> X = rng.normal(size=(20_000, 3)) + y[:, None]
    >>> oracle, ranker = ArrayOracle(y), ActivePerceptronAtK(k=50, floor=0.05, random_state=0)
    >>> steps = [ranker.step(X[start : start + 2000], oracle) for start in range(0, 20_000, 2000)]
    >>> print(claim_top(oracle.ledger))
    Precision of the 500 rows predicted so far: ...
    """
    return claim_path(ledger, confidence, least_floor=least_floor)[-1]


def claim_path(ledger: Ledger, confidence: float = 0.95, *, least_floor: float = 1e-4) -> tuple[TopClaim, ...]:
    """Return the claim after each round; one pass over the ledger, whatever the number of rounds."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence!r}.")
    rounds = _covered_rounds(ledger, least_floor)
    asked = _asked_in(ledger, rounds)
    n_top = np.cumsum([one.n_top for one in rounds])
    n_below = np.cumsum([one.n_rows - one.n_top for one in rounds])
    error = (1.0 - confidence) / 2  # one half a side
    # In the top mistakes are the rare ones, below it the relevant rows: counting the rare ones is exacter.
    top_floors = np.array([one.least_in_top for one in rounds])
    floors = np.array([one.floor for one in rounds])
    mistakes = _count(asked, asked.in_top, IRRELEVANT, n_top, top_floors, error)
    missed = _count(asked, ~asked.in_top, RELEVANT, n_below, floors, error)
    # A row that nobody could judge counts as not relevant in both estimates.
    unknown = Finds(*asked.of(asked.in_top & (asked.answer == UNKNOWN)))
    precision = 1.0 - (mistakes.estimate + estimated(unknown, len(rounds))) / n_top
    return tuple(
        TopClaim(
            precision=float(precision[at]),
            precision_low=float(1.0 - mistakes.high[at] / n_top[at]),
            precision_high=float(1.0 - mistakes.low[at] / n_top[at]),
            missed=float(missed.estimate[at]),
            missed_low=float(missed.low[at]),
            missed_high=float(missed.high[at]),
            n_found=int(missed.n_known[at]),
            n_predicted=int(n_top[at]),
            n_rounds=at + 1,
            n_left_out=len(ledger.rounds) - len(rounds),
            confidence=confidence,
        )
        for at in range(len(rounds))
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Entries of the covered rounds as columns; the round is its place among them."""

    round: IntArray
    in_top: BoolArray
    probability: FloatArray
    answer: IntArray

    def of(self, rows: BoolArray) -> tuple[IntArray, FloatArray]:
        return self.round[rows], self.probability[rows]


@dataclass(frozen=True, slots=True, eq=False)
class _Count:
    """A count after each round: known for sure to be at least, estimated, and bounded."""

    n_known: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray


def _count(
    asked: _Asked, stratum: BoolArray, wanted: int, n_offered: IntArray, floors: FloatArray, error: float
) -> _Count:
    """Count the rows of a stratum whose answer is ``wanted``, after each round.

    Rows that were asked for sure are counted exactly, the others by the sample. An unknown answer is none of the
    wanted for the lower bound and one of them for the upper.
    """
    n_rounds = len(floors)
    sure = asked.probability >= 1
    found = stratum & (asked.answer == wanted)
    possible = stratum & ((asked.answer == wanted) | (asked.answer == UNKNOWN))
    n_sure, n_surely_possible, n_known, n_ruled_out = (
        np.cumsum(np.bincount(asked.round[rows], minlength=n_rounds)).astype(float)
        for rows in (found & sure, possible & sure, found, stratum & ~possible)
    )
    low = n_sure + bounded_below(Finds(*asked.of(found & ~sure)), floors, error)
    high = n_surely_possible + bounded_above(Finds(*asked.of(possible & ~sure)), floors, error)
    most = n_offered - n_ruled_out
    return _Count(
        n_known=n_known,
        estimate=n_sure + estimated(Finds(*asked.of(found & ~sure)), n_rounds),
        low=np.clip(low, n_known, most),
        high=np.minimum(high, most),
    )


def _covered_rounds(ledger: Ledger, least_floor: float) -> tuple[Round, ...]:
    """Return the rounds before the first that the budget cut short; refuse where a row could not have been asked."""
    if not ledger.rounds:
        raise NoClaim("The ledger holds no finished round, so nothing was predicted yet. Step a batch first.")
    n_whole = next((at for at, one in enumerate(ledger.rounds) if one.cut), len(ledger.rounds))
    rounds = ledger.rounds[:n_whole]
    if not rounds:
        raise NoClaim(
            f"The budget ended within round {ledger.rounds[0].number}, the first: rows that were drawn could not be "
            "asked, so no probability is known. Raise the budget, pass smaller batches, or lower the floor."
        )
    if len({one.number for one in rounds}) < len(rounds):
        raise NoClaim(
            "The ledger holds several rounds of one number, of several learners, it seems: whose entries are whose "
            "cannot be told. Give each learner an oracle of its own."
        )
    for one in rounds:
        if not one.floor >= least_floor:
            chance = f"a chance of {one.floor:.2g}" if one.floor > 0 else "no chance"
            raise NoClaim(
                f"In round {one.number} some rows had {chance} of being asked, and a claim needs at least "
                f"{least_floor:g} for every row: what is never looked at may be anything. Use sampler='exponential', "
                "'inverse' or 'uniform' with a floor above 0, such as floor=0.02; the sequential sampler allows no "
                "claim."
            )
    return rounds


def _refuse_strangers(rounds: tuple[Round, ...], n_entries: Counter[int]) -> None:
    """Refuse rounds that hold answers about rows which they did not offer."""
    for one in rounds:
        if one.n_asked is not None and n_entries[one.number] > one.n_asked:
            raise NoClaim(
                f"Round {one.number} asked {one.n_asked} rows, and the ledger has {n_entries[one.number]} answers of "
                "it: a batch failed midway, and another one was stepped in its place. Step the same batch again after "
                "a failure, and all that was asked can be counted."
            )


def _asked_in(ledger: Ledger, rounds: tuple[Round, ...]) -> _Asked:
    """Columns of the entries that belong to these rounds."""
    place = {one.number: at for at, one in enumerate(rounds)}
    entries = [entry for entry in ledger if entry.round in place]
    _refuse_strangers(rounds, Counter(entry.round for entry in entries))
    asked = _Asked(
        round=np.array([place[entry.round] for entry in entries], dtype=np.int64),
        in_top=np.array([entry.in_top for entry in entries], dtype=bool),
        probability=np.array([entry.probability for entry in entries], dtype=float),
        answer=np.array([entry.answer for entry in entries], dtype=np.int64),
    )
    promised = np.array([[one.floor, one.least_in_top] for one in rounds])
    wrong = np.flatnonzero(asked.probability < promised[asked.round, asked.in_top.astype(int)] * (1 - 1e-9))
    if wrong.size:
        entry = entries[wrong[0]]
        chance = promised[place[entry.round], int(entry.in_top)]
        raise NoClaim(
            f"Round {entry.round} says that every such row had a chance of at least {chance:g}, "
            f"and item {entry.item!r} was asked with {entry.probability:g}. Let the learner return the least "
            "probability of all rows as the floor of the round."
        )
    return asked
