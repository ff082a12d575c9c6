"""Charts of active runs (Altair): precision batch by batch beside the labels that were paid for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riffler.errors import InputError
from riffler.evaluation.active_runs import ActiveRun
from riffler.evaluation.charts import FAINT, Chart, annotation, method_colour, styled
from riffler.records import FloatArray, IntArray

if TYPE_CHECKING:
    import altair as alt

Runs = Mapping[str, Sequence[ActiveRun]]
"""Runs by the name of their scheme; all through equally many batches."""


def active_runs_chart(
    runs: Runs, title: str = "Precision and its price, batch by batch", positive_share: float | None = None
) -> Chart:
    """Draw precision per batch and labels bought up to it side by side: mean line and band of +/- one deviation.

    ``positive_share`` draws the precision of a random choice as a dashed level.
    """
    import altair as alt

    frame = runs_frame(runs)
    schemes = list(runs)
    marks = [] if positive_share is None else _random_choice(positive_share)
    left = alt.Y("mean:Q", title="precision at k").scale(domain=[0, 1]).axis(format="%", tickCount=5)
    right = alt.Y("mean:Q", title="labels bought so far").scale(zero=True, nice=True).axis(format="~s", tickCount=5)
    precision = _panel(frame.filter(measure="precision"), schemes, left, ".1%", marks)
    labels = _panel(frame.filter(measure="labels"), schemes, right, ",.0f", [])
    chart = styled(alt.hconcat(precision, labels, spacing=36), title)
    return chart.properties(title=alt.TitleParams(text=title, subtitle=_reading(runs), subtitleColor=FAINT))


def runs_frame(runs: Runs) -> pl.DataFrame:
    """Mean and spread over the runs: a row for each scheme, measure ("precision", "labels") and batch, from 1."""
    if not runs or not all(runs.values()):
        raise InputError("A chart of active runs needs at least one run of every scheme.")
    lengths = {len(run.precision) for those in runs.values() for run in those}
    if len(lengths) > 1:
        raise InputError(f"All runs of a chart must have equally many batches; got {sorted(lengths)}.")
    parts = []
    for scheme, those in runs.items():
        precision = np.stack([run.precision for run in those])
        labels = np.stack([run.n_asked for run in those])
        parts += [_spread(scheme, "precision", precision, most=1.0), _spread(scheme, "labels", labels, most=np.inf)]
    return pl.concat(parts)


def _spread(scheme: str, measure: str, values: FloatArray | IntArray, most: float) -> pl.DataFrame:
    """Mean over the runs (rows of ``values``), and one standard deviation around it, within what is possible."""
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    return pl.DataFrame(
        {
            "method": [scheme] * len(mean),
            "measure": [measure] * len(mean),
            "batch": np.arange(1, len(mean) + 1),
            "mean": mean.astype(float),
            "low": np.maximum(mean - deviation, 0.0),
            "high": np.minimum(mean + deviation, most),
        }
    )


def _panel(frame: pl.DataFrame, schemes: list[str], y: alt.Y, form: str, marks: list[Chart]) -> Chart:
    import altair as alt

    n_batches = int(frame["batch"].n_unique())
    every = 1 if n_batches <= 16 else -(-n_batches // 10)
    ticks = alt.Axis(values=list(range(1, n_batches + 1, every)), format="d", grid=False, labelFlush=False)
    x = alt.X("batch:Q", title="batch", axis=ticks).scale(domain=[0.8, n_batches + 0.2], nice=False)
    # What is drawn last lies on top, and the first scheme named is the one that matters.
    base = alt.Chart(pl.concat([frame.filter(method=one) for one in reversed(schemes)]))
    base = base.encode(x=x, color=method_colour(schemes))
    band = base.mark_area(opacity=0.13).encode(y=alt.Y("low:Q"), y2="high:Q")
    tooltip = [
        alt.Tooltip("method:N", title="scheme"),
        alt.Tooltip("batch:Q"),
        alt.Tooltip("mean:Q", format=form),
        alt.Tooltip("low:Q", title="from", format=form),
        alt.Tooltip("high:Q", title="to", format=form),
    ]
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=36)).encode(y=y, tooltip=tooltip)
    return alt.layer(band, *marks, lines).properties(width=400, height=320)


def _random_choice(share: float) -> list[Chart]:
    import altair as alt

    place = pl.DataFrame({"mean": [share]})
    rule = alt.Chart(place).mark_rule(strokeDash=[5, 4], color=FAINT).encode(y="mean:Q")
    words = annotation(place, f"random choice: {share:.1%}", align="right", x=396, dy=-7).encode(y="mean:Q")
    return [rule, words]


def _reading(runs: Runs) -> str:
    n_runs = sorted({len(those) for those in runs.values()})
    if n_runs == [1]:
        return "one run"
    count = str(n_runs[0]) if len(n_runs) == 1 else f"{n_runs[0]} to {n_runs[-1]}"
    return f"line: mean of {count} runs; band: one standard deviation to either side"
