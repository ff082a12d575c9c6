"""How a solver got on: objective, bound and cost after each turn, and what it ended with."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from riffler.errors import InputError, OracleError, UnknownName
from riffler.records import FloatArray


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a solver stands: the objective at its best weights, a proven lower bound of the optimum, and the cost."""

    oracle_calls: int  # examples asked for their most violating output
    seconds: float
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """How much could be left to gain."""
        return self.primal - self.dual

    def is_within(self, tol: float) -> bool:
        """Whether at most this share of the objective is left to gain."""
        return self.gap <= tol * max(self.primal, 0.0)

    def __str__(self) -> str:
        share = self.gap / self.primal if self.primal > 0 else 0.0
        return (
            f"objective {self.primal:.6g}, bound {self.dual:.6g}, gap {share:.2%}, "
            f"{self.oracle_calls:,} oracle calls, {self.seconds:.1f} s"
        )


CONTRADICTION = 1e-6  # of objective or bound: by rounding alone they differ less

Tell = Callable[[Turn], None]
"""Called after each turn."""


def silent(turn: Turn) -> None:
    """Tell nobody."""


def live_line(turn: Turn) -> None:
    """Write a turn to standard error, over the one before where that is a terminal."""
    is_terminal = sys.stderr.isatty()
    sys.stderr.write(f"\r\x1b[K{turn}" if is_terminal else f"{turn}\n")
    sys.stderr.flush()


def end_line(progress: Tell | str | None) -> None:
    """Leave the live line on a terminal, once all is told."""
    if progress == "line" and sys.stderr.isatty():
        sys.stderr.write("\n")


def teller(progress: Tell | str | None) -> Tell:
    """Give who is to be told of turns: a function of one's own, "line" for a live line, None for nobody.

    >>> teller("bar")
    Traceback (most recent call last):
    riffler.errors.UnknownName: No progress called 'bar'. Known: line.
    """
    if progress is None:
        return silent
    if isinstance(progress, str):
        if progress != "line":
            raise UnknownName.among("progress", progress, ["line"])
        return live_line
    return progress


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best weights found, and the turns that led there; the last turn is about these weights."""

    weights: FloatArray
    turns: tuple[Turn, ...]
    converged: bool


class Record:
    """Collects turns: keeps the clock, the best weights and the best bound, and tells of each turn."""

    def __init__(self, tol: float, tell: Tell = silent) -> None:
        self._tol, self._tell = tol, tell
        self._start = time.perf_counter()
        self._turns: list[Turn] = []
        self._weights: FloatArray | None = None
        self._primal, self._dual = float("inf"), 0.0  # no objective is below 0

    def add(self, oracle_calls: int, weights: FloatArray, primal: float, dual: float) -> bool:
        """Take a turn down; tells whether the gap is small enough. ``weights`` are copied if they are the best."""
        if primal < self._primal:
            self._primal, self._weights = primal, weights.copy()
        self._dual = max(self._dual, dual)
        if self._dual > self._primal + CONTRADICTION * max(self._primal, self._dual):
            raise OracleError(
                f"A bound of {self._dual:.6g} stands above an objective of {self._primal:.6g}, which cannot be: an "
                "oracle does not find the most violating output. Check that loss_augmented_argmax adds the loss to the "
                "score, and looks at all outputs."
            )
        turn = Turn(oracle_calls, time.perf_counter() - self._start, self._primal, self._dual)
        self._turns.append(turn)
        self._tell(turn)
        return turn.is_within(self._tol)

    def solution(self) -> Solution:
        """Give what was found."""
        if self._weights is None:
            raise InputError("A solver takes at least one turn. Give it at least one pass or round.")
        return Solution(self._weights, tuple(self._turns), self._turns[-1].is_within(self._tol))
