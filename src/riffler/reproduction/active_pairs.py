"""Shen and Lin (2013), "Active Sampling of Pairs and Points for Large-scale Linear Bipartite Ranking", run again.

Who wins on which set, AUC against the number of pairs, and pairs with points together on mnist. What the paper says is
in ``expected_active_pairs.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from riffler.reproduction import Progress, part_of
from riffler.reproduction.active_pairs_claims import Duel, duels, verdicts
from riffler.reproduction.active_pairs_data import RankingProblem, problem_of, small_problem
from riffler.reproduction.active_pairs_methods import AS_OURS, AS_PUBLISHED, OURS, PUBLISHED, Cell, methods
from riffler.reproduction.active_pairs_runs import Curve, curve_of_pairs, curves_of_points, run_all
from riffler.reproduction.verdicts import Verdict

CURVES = ("rcv1", "ijcnn1", "url")
SAMPLINGS = ("soft-correct", "soft-close", "random")
CURVE_PASSES = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is run: runs, pairs of each run, and pairs of the curves."""

    n_runs: int = 10
    n_pairs: int = 10_000
    n_curve_pairs: int = 1_000_000
    quick: bool = False


SIZES = {"full": Plan(), "quick": Plan(n_runs=3, n_pairs=500, n_curve_pairs=1000, quick=True)}


@dataclass(frozen=True, eq=False)
class ActivePairsAgain:
    """A finished run."""

    plan: Plan
    expected: Mapping[str, Any]
    names: Sequence[str]
    cells: Mapping[tuple[str, str], Sequence[Cell]]
    curves: Mapping[str, Sequence[Curve]]
    all_pairs: Mapping[str, float]  # AUC of RankSVM on the sets with curves
    points: Mapping[str, Mapping[float, Sequence[float]]]  # AUC by reading and share of points
    points_on: str
    sizes: Mapping[str, tuple[int, int, float]]  # rows, columns and share of positives of each set
    missing: Sequence[str] = field(default_factory=list)

    @property
    def quick(self) -> bool:
        """Whether this was the small version."""
        return self.plan.quick

    @property
    def n_runs(self) -> int:
        """Runs of each method on each set."""
        return self.plan.n_runs

    @cached_property
    def duels(self) -> list[Duel]:
        """The published way against its rivals."""
        return duels(self.cells, PUBLISHED, self.expected["rivals"])

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What was found of each claim."""
        return verdicts(self)

    def page(self) -> str:
        """Give the page in Markdown."""
        from riffler.reproduction.active_pairs_page import page

        return page(self)

    def charts(self) -> dict[str, Any]:
        """Give the charts by name."""
        from riffler.reproduction import active_pairs_charts as draw

        return {"pairs": draw.pairs_chart(self), "points": draw.points_chart(self)}

    def as_json(self) -> dict[str, object]:
        """Give all numbers as plain values."""
        from riffler import __version__

        return {
            "riffler": __version__,
            "result": "active-pairs",
            "plan": asdict(self.plan),
            "missing": list(self.missing),
            "cells": [
                {"data": name, "method": method, "runs": [asdict(cell) for cell in runs]}
                for (name, method), runs in self.cells.items()
            ],
            "curves": {name: [asdict(curve) for curve in curves] for name, curves in self.curves.items()},
            "all pairs": dict(self.all_pairs),
            "points": {
                reading: {str(share): list(areas) for share, areas in shares.items()}
                for reading, shares in self.points.items()
            },
            "duels": [asdict(duel) for duel in self.duels],
            "claims": [asdict(verdict) for verdict in self.verdicts],
        }

    def summary(self) -> list[str]:
        """Say in a line a claim what was found."""
        skipped = [f"not here, skipped: {', '.join(self.missing)}"] if self.missing else []
        return [*(f"{verdict.verdict:9}  {verdict.claim}" for verdict in self.verdicts), *skipped]


def reproduce(size: str, progress: Progress, folder: Path | None = None, n_runs: int | None = None) -> ActivePairsAgain:
    """Run the table and the curves; what is finished is kept in ``folder``, and gone on with from there."""
    plan = SIZES[size] if n_runs is None else replace(SIZES[size], n_runs=n_runs)
    expected = tomllib.loads(
        files("riffler.reproduction").joinpath("expected_active_pairs.toml").read_text(encoding="utf-8")
    )
    progress(0.0, "reading the data")
    problems, missing = _problems(plan, expected)
    every = list(methods(plan.n_pairs).values())
    cells = run_all(problems, every, plan.n_runs, part_of(progress, 0.02, 0.8), folder)
    drawn = [name for name in CURVES if name in problems] or list(problems)[:1]
    curves, levels = {}, {}
    for number, name in enumerate(drawn):
        progress(0.8 + 0.1 * number / len(drawn), f"curves of {name}")
        curves[name], levels[name] = curves_beside(problems[name], cells, plan.n_curve_pairs, folder)
    points_on = "mnist" if "mnist" in problems else next(iter(problems))
    C = float(cells[points_on, PUBLISHED][0].chosen["C"])
    points = curves_of_points(problems[points_on], plan.n_runs, C, plan.n_pairs, part_of(progress, 0.9, 1.0), folder)
    sizes = {name: (*one.X.shape, float(one.y.mean())) for name, one in problems.items()}
    return ActivePairsAgain(plan, expected, list(problems), cells, curves, levels, points, points_on, sizes, missing)


def _problems(plan: Plan, expected: Mapping[str, Any]) -> tuple[dict[str, RankingProblem], list[str]]:
    found = {} if plan.quick else {name: problem_of(name, about) for name, about in expected["sets"].items()}
    here = {name: problem for name, problem in found.items() if problem is not None}
    missing = [name for name, problem in found.items() if problem is None]
    if not here:
        small = small_problem()
        here = {small.name: small}
    return here, missing


def curves_beside(
    problem: RankingProblem, cells: Mapping[tuple[str, str], Sequence[Cell]], n_pairs: int, folder: Path | None
) -> tuple[list[Curve], float]:
    """AUC along the runs of each sampling, with the settings chosen in the first run; and that of all pairs."""
    C = cells[problem.name, PUBLISHED][0].chosen["C"]
    every = {name: {"sampling": name, "C": C, **AS_PUBLISHED} for name in SAMPLINGS}
    every[OURS] = {"C": C, **AS_OURS, **cells[problem.name, OURS][0].chosen}
    curves = [
        curve_of_pairs(problem, name, n_pairs, {**settings, "max_passes": CURVE_PASSES}, folder)
        for name, settings in every.items()
    ]
    return curves, cells[problem.name, "ERankSVM"][0].auc
