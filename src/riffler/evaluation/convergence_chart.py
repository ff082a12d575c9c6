"""Chart of how solvers converge (Altair): what is left to gain against questions to the oracle, and against time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from riffler.errors import InputError
from riffler.evaluation.charts import FAINT, Chart, annotation, method_colour, powers_of_ten, styled
from riffler.structured.convergence import Turn

SMALLEST_SHARE = 1e-6  # below this a gap is rounding
SMALLEST_SECONDS = 1e-3


def convergence_chart(
    turns_by_name: Mapping[str, Sequence[Turn]],
    title: str = "How far from the optimum, at most",
    tol: float | None = None,
) -> Chart:
    """Draw the proven gap, as a share of the objective, against oracle calls and against seconds; all axes are log.

    ``tol`` draws the gap that was asked for as a dashed level.
    """
    import altair as alt

    frame, names = convergence_frame(turns_by_name), list(turns_by_name)
    calls = _panel(frame, names, "calls", "examples asked for their most violating output", "~s", tol)
    seconds = _panel(frame, names, "seconds", "seconds", "~g", tol)
    reading = "Share of the objective by which better weights could be better: objective minus proven bound."
    chart = styled(alt.hconcat(calls, seconds, spacing=40), title)
    return chart.properties(title=alt.TitleParams(text=title, subtitle=reading, subtitleColor=FAINT))


def convergence_frame(turns_by_name: Mapping[str, Sequence[Turn]]) -> pl.DataFrame:
    """Give a row for each turn: method, calls, seconds, objective, bound, and the gap as a share of the objective.

    >>> convergence_frame({"one-slack": [Turn(40, 0.5, 2.0, 1.5)]}).row(0)
    ('one-slack', 40, 0.5, 2.0, 1.5, 0.25)
    """
    if not turns_by_name or not all(turns_by_name.values()):
        raise InputError("A chart of convergence needs at least one turn of every solver.")
    rows = [
        (name, max(turn.oracle_calls, 1), max(turn.seconds, SMALLEST_SECONDS), turn.primal, turn.dual, _share(turn))
        for name, turns in turns_by_name.items()
        for turn in turns
    ]
    columns = ["method", "calls", "seconds", "objective", "bound", "share"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _share(turn: Turn) -> float:
    """What could be left to gain, as a share of the objective, on an axis that ends where rounding begins."""
    return max(turn.gap / turn.primal, SMALLEST_SHARE) if turn.primal > 0 else SMALLEST_SHARE


def _panel(frame: pl.DataFrame, names: list[str], column: str, words: str, form: str, tol: float | None) -> Chart:
    """Draw the gap against one cost, a line a solver with a dot a turn; the first named lies on top."""
    import altair as alt

    shares = pl.concat([frame["share"], pl.Series([1.0, tol or 0.1])])
    ticks = alt.Axis(values=powers_of_ten(frame[column].cast(pl.Float64)), format=form, grid=False)
    x = alt.X(f"{column}:Q", title=words, axis=ticks).scale(type="log", nice=False, padding=8)
    y = alt.Y("share:Q", title="gap, share of the objective").scale(type="log", nice=False, padding=4)
    y = y.axis(values=powers_of_ten(shares), format="~%")
    tooltip = [
        alt.Tooltip("method:N", title="solver"),
        alt.Tooltip("calls:Q", title="oracle calls", format=","),
        alt.Tooltip("seconds:Q", format=".3g"),
        alt.Tooltip("objective:Q", format=".6g"),
        alt.Tooltip("bound:Q", format=".6g"),
        alt.Tooltip("share:Q", title="gap", format=".2%"),
    ]
    lines = [
        alt.Chart(frame.filter(method=name))
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=26))
        .encode(x=x, y=y, order=f"{column}:Q", color=method_colour(names), tooltip=tooltip)
        for name in reversed(names)
    ]
    return alt.layer(*([] if tol is None else [_level(tol)]), *lines).properties(width=400, height=320)


def _level(tol: float) -> Chart:
    """A dashed line at the gap that was asked for."""
    import altair as alt

    place = pl.DataFrame({"share": [tol]})
    rule = alt.Chart(place).mark_rule(strokeDash=[5, 4], color=FAINT).encode(y="share:Q")
    return rule + annotation(place, f"asked for: {100 * tol:.3g}%", align="left", x=6, dy=-7).encode(y="share:Q")
