"""The pictures of the reproduction of structured estimation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riffler.evaluation.charts import Chart, method_colour, styled
from riffler.reproduction.structured_claims import by_query, of_method
from riffler.reproduction.structured_ranking import ASSIGNED, NDCG_ALONE, PLACES, SORTED
from riffler.reproduction.structured_solvers import Solved
from riffler.structured.convergence import Turn

if TYPE_CHECKING:
    from riffler.reproduction.structured import StructuredAgain

APART = (SORTED, ASSIGNED, NDCG_ALONE)
"""Rankers whose weights may be 0: far below the others, they would hide what tells those apart."""


def convergence(run: StructuredAgain) -> Chart:
    """Draw the gap against oracle calls and against seconds, a row of panels a set: the longest runs on a fold."""
    import altair as alt

    solvers = list(dict.fromkeys(one.solver for one in run.solved))
    panels = []
    for data in run.labelled:
        frame = pl.DataFrame(
            [
                {
                    "method": solver,
                    "oracle_calls": turn.oracle_calls,
                    "seconds": max(turn.seconds, 1e-4),
                    "gap": max(turn.gap / turn.primal, 1e-6),
                }
                for solver in solvers
                if (one := longest(run, data, solver)) is not None
                for turn in thinned(one.turns)
            ]
        )
        percent = alt.Y("gap:Q", title="gap, share of the objective").scale(type="log").axis(format="~%", tickCount=4)
        base = alt.Chart(frame).mark_line(point=alt.OverlayMarkDef(size=18)).encode(color=method_colour(solvers))
        for column, title in (("oracle_calls", "oracle calls"), ("seconds", "seconds")):
            x = (
                alt.X(f"{column}:Q", title=title)
                .scale(type="log", nice=False, padding=8)
                .axis(format="~s", tickCount=5)
            )
            panels.append(base.encode(x=x, y=percent).properties(title=data, width=300, height=220))
    return styled(alt.concat(*panels, columns=2), "How the gap closes")


def thinned(turns: Sequence[Turn], most: int = 60) -> list[Turn]:
    """Leave out turns so that those left are even on a log axis, the last among them.

    >>> [turn.oracle_calls for turn in thinned([Turn(n, 0.0, 1.0, 0.0) for n in range(1, 101)], most=4)]
    [1, 5, 22, 100]
    """
    places = np.unique(np.geomspace(1, len(turns), min(most, len(turns))).round().astype(int)) - 1
    return [turns[place] for place in places]


def longest(run: StructuredAgain, data: str, solver: str) -> Solved | None:
    """The run of a solver on the first fold of a set to the smallest gap."""
    own = [one for one in run.solved if (one.data, one.solver, one.fold) == (data, solver, 1)]
    return min(own, key=lambda one: one.tol, default=None)


def ndcg(run: StructuredAgain) -> Chart:
    """Draw mean NDCG over all test queries against the number of places, one panel a set."""
    import altair as alt

    methods = [name for name in dict.fromkeys(one.method for one in run.ranked) if name not in APART]
    panels = []
    for data in run.graded:
        frame = pl.DataFrame(
            [
                {"method": method, "n": n, "ndcg": float(np.mean(by_query(run.ranked, data, method, n)))}
                for method in methods
                for n in PLACES
                if of_method(run.ranked, data, method)
            ]
        )
        x = alt.X("n:Q", title="first n places").axis(tickCount=10, format="d")
        y = alt.Y("ndcg:Q", title="NDCG at n, test queries").scale(zero=False)
        line = alt.Chart(frame).mark_line(point=True, strokeWidth=2.2).encode(x=x, y=y, color=method_colour(methods))
        panels.append(line.properties(title=data, width=300, height=240))
    return styled(alt.hconcat(*panels), "NDCG on unseen queries")
