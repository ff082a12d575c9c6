"""How solvers closed the gap: objective and proven bound, and the gap itself, against seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from riffler.evaluation.charts import Chart, method_colour, styled
from riffler.structured.convergence import Turn

SMALLEST_GAP = 1e-12
"""What a gap of nothing is drawn as, on a log axis."""


def convergence_chart(
    runs: Mapping[str, Sequence[Turn]], title: str = "Objective and bound against time", *, tol: float | None = None
) -> Chart:
    """Draw objective (line) and bound (dashed) against seconds, and beside them the gap as a share of the objective.

    ``runs`` has the turns of each solver by its name, as ``turns_`` of an estimator; ``tol`` is marked if given.
    """
    import altair as alt

    frame = frame_of(runs)
    colour = method_colour(list(runs))
    x = alt.X("seconds:Q", title="seconds").scale(type="log", nice=False, padding=12).axis(format="~g", tickCount=5)
    tooltip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("seconds:Q", format=".3g"),
        alt.Tooltip("oracle_calls:Q", title="oracle calls", format=","),
        alt.Tooltip("primal:Q", title="objective", format=".5g"),
        alt.Tooltip("dual:Q", title="bound", format=".5g"),
        alt.Tooltip("gap:Q", title="gap", format=".3%"),
    ]
    base = alt.Chart(frame).encode(x=x, color=colour, tooltip=tooltip)
    primal = base.mark_line(point=True).encode(y=alt.Y("primal:Q", title="objective, and bound below it"))
    dual = base.mark_line(point=True, strokeDash=[5, 3]).encode(y=alt.Y("dual:Q"))
    percent = alt.Y("gap:Q", title="gap, share of the objective").scale(type="log").axis(format="~%", tickCount=5)
    gap: Chart = base.mark_line(point=True).encode(y=percent)
    if tol is not None:
        gap = gap + alt.Chart(pl.DataFrame({"tol": [tol]})).mark_rule(strokeDash=[2, 2]).encode(y="tol:Q")
    panels = [panel.properties(width=330, height=300) for panel in (primal + dual, gap)]
    return styled(alt.hconcat(*panels, spacing=30), title)


def frame_of(runs: Mapping[str, Sequence[Turn]]) -> pl.DataFrame:
    """Give one row a turn: method, oracle_calls, seconds, primal, dual, and gap as a share of the objective.

    >>> frame_of({"frank-wolfe": [Turn(10, 0.1, primal=2.0, dual=1.5)]})["gap"].to_list()
    [0.25]
    """
    return pl.DataFrame(
        [
            {
                "method": name,
                "oracle_calls": turn.oracle_calls,
                "seconds": max(turn.seconds, 1e-6),
                "primal": turn.primal,
                "dual": turn.dual,
                "gap": max(turn.gap / max(turn.primal, SMALLEST_GAP), SMALLEST_GAP),
            }
            for name, turns in runs.items()
            for turn in turns
        ]
    )
