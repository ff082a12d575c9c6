"""The pictures of the reproduction of Kar, Narasimhan and Jain (2015), in the style of all Riffler charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from riffler.evaluation.charts import FAINT, INK, PALETTE, Chart, annotation, method_colour, styled
from riffler.losses import SURROGATES
from riffler.metrics import prec_at_k_loss
from riffler.reproduction.generalisation import Rate, Trained
from riffler.reproduction.mistake_bounds import MistakeCurve, SeparableRun
from riffler.reproduction.precision_against_time import Point


def along_a_line(title: str = "The surrogates along a line of score vectors (k = 2)") -> Chart:
    """Draw the loss and its surrogates while three positives rise past three negatives that stay."""
    import altair as alt

    start, labels = np.array([2.0, 1.0, 0.0, 0.5, -0.5, -1.5]), np.array([0, 0, 0, 1, 1, 1])
    rows = []
    for shift in np.linspace(-1.0, 5.0, 301) + 0.005:  # off the ties, where the loss is a mean over their orders
        scores = start + shift * labels
        for name in ("max", "avg", "ramp", "struct"):
            value = SURROGATES[name]().value_and_slope(scores, labels, 2)[0]
            rows.append({"shift": shift, "method": name, "value": value})
        rows.append({"shift": shift, "method": "loss", "value": prec_at_k_loss(labels, scores, 2)})
    order = ["max", "avg", "ramp", "struct", "loss"]
    lines = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("shift:Q", title="how far the positives have moved up").scale(domain=[-1, 5], clamp=True),
        y=alt.Y("value:Q", title="negatives in the top 2, and what stands in for them"),
        color=_named_colour(order, [*PALETTE[:4], INK]),
    )
    smooth = lines.mark_line(strokeWidth=2.2).transform_filter("datum.method != 'loss'")
    steps = lines.mark_line(strokeWidth=2.6, interpolate="step").transform_filter("datum.method == 'loss'")
    zero = alt.Chart(pl.DataFrame({"value": [0.0]})).mark_rule(color=FAINT, strokeWidth=1).encode(y="value:Q")
    return styled(alt.layer(zero, smooth, steps).properties(width=640, height=360), title)


def updates_chart(
    runs: Sequence[SeparableRun], title: str = "Mistakes of Perceptron@k-avg until none is left, against the margin"
) -> Chart:
    """Draw mistakes against the margin, a panel a k, with the two lines 4k/gamma^2 and 2 sqrt(k)/gamma."""
    import altair as alt

    names = {"adversary": "adversary's stream", "random": "random streams"}
    frame = pl.DataFrame(
        [
            {"k": f"k = {run.k}", "method": names[run.stream], "gamma": run.gamma, "mistakes": run.mistakes}
            for run in runs
        ]
    )
    lines = pl.DataFrame(
        [
            {"k": f"k = {run.k}", "method": name, "gamma": run.gamma, "mistakes": value}
            for run in runs
            if run.stream == "adversary"
            for name, value in (("4k/γ² (the bound)", run.bound), ("2√k/γ (no square)", run.without_square))
        ]
    )
    order = ["4k/γ² (the bound)", "2√k/γ (no square)", *names.values()]
    gammas = sorted({run.gamma for run in runs})
    x = alt.X("gamma:Q", title="margin γ").scale(type="log", nice=False, padding=14)
    x = x.axis(values=gammas, format="~g", grid=False)
    y = alt.Y("mistakes:Q", title="mistakes").scale(type="log").axis(values=[1, 10, 100, 1000, 10_000], format="~s")
    colour = _named_colour(order, [INK, FAINT, PALETTE[1], PALETTE[0]])
    dashes = alt.StrokeDash("method:N", legend=None).scale(domain=order, range=[[1, 0], [5, 4], [1, 0], [1, 0]])
    both = pl.concat([frame.with_columns(kind=pl.lit("run")), lines.with_columns(kind=pl.lit("line"))])
    base = alt.Chart(both).encode(x=x, y=y, color=colour)
    drawn = base.mark_line(strokeWidth=2).encode(strokeDash=dashes).transform_filter("datum.kind == 'line'")
    dots = base.mark_point(size=60, filled=True, opacity=0.8).transform_filter("datum.kind == 'run'")
    panel = alt.layer(drawn, dots).properties(width=215, height=290)
    order_of_k = list(dict.fromkeys(frame["k"].to_list()))
    return styled(panel.facet(column=alt.Column("k:N", title=None, sort=order_of_k)), title)


def mistakes_chart(
    curves: Sequence[MistakeCurve], title: str = "Cumulative mistakes where a tenth of the labels is wrong"
) -> Chart:
    """Draw cumulative mistakes against batches beside the bound with the square and without."""
    import altair as alt

    order = ["bound with the square", "mistakes", "bound without the square"]
    rows = [
        {"method": name, "seed": curve.seed, "batch": batch, "value": value}
        for curve in curves
        for name, values in zip(order, (curve.bound, curve.mistakes, curve.without_square), strict=True)
        for batch, value in zip(curve.batches, values, strict=True)
    ]
    lines = alt.Chart(pl.DataFrame(rows)).mark_line(strokeWidth=2, opacity=0.85)
    last = max(curves[0].batches)
    powers = [10**power for power in range(int(np.log10(last)) + 1)]
    x = (
        alt.X("batch:Q", title="batches seen")
        .scale(type="log", nice=False)
        .axis(values=powers, format="~s", grid=False)
    )
    y = alt.Y("value:Q", title="mistakes").scale(type="log").axis(values=[1, 10, 100, 1000, 10_000], format="~s")
    colour = _named_colour(order, [INK, PALETTE[0], PALETTE[1]])
    return styled(lines.encode(x=x, y=y, color=colour, detail="seed:N").properties(width=640, height=340), title)


def time_chart(points: Sequence[Point], title: str = "Precision at 0.25 on test rows against training time") -> Chart:
    """Draw precision against seconds, a panel a data set: lines along longer trainings, means over the splits.

    A large dot is the mean of the fits whose length the validation rows chose, with one deviation over the splits.
    """
    import altair as alt

    frame = pl.concat([mean_points(points), mean_points([point for point in points if point.chosen], chosen=True)])
    order = list(dict.fromkeys(point.method for point in points))
    x = alt.X("seconds:Q", title="seconds to fit").scale(type="log", padding=12, nice=False)
    x = x.axis(values=[0.001, 0.01, 0.1, 1, 10, 100], format="~g", grid=False)
    y = alt.Y("precision:Q", title="precision at 0.25").scale(zero=False, padding=12).axis(format=".3~f", tickCount=6)
    base = alt.Chart(frame).encode(x=x, y=y, color=method_colour(order))
    tooltip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("length:Q"),
        alt.Tooltip("seconds:Q", format=".3g"),
        alt.Tooltip("precision:Q", format=".4f"),
        alt.Tooltip("spread:Q", format=".4f"),
    ]
    along = base.transform_filter("!datum.chosen")
    path = along.mark_line(strokeWidth=2).encode(order="length:Q")
    dots = along.mark_point(size=26, filled=True, opacity=1).encode(tooltip=tooltip)
    choice = base.transform_filter("datum.chosen")
    bars = choice.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title="precision at 0.25"), y2="high:Q")
    large = choice.mark_point(size=95, filled=True, opacity=1).encode(tooltip=tooltip)
    panel = alt.layer(path, dots, bars, large).properties(width=250, height=230)
    facet = alt.Facet("data:N", title=None, sort=list(dict.fromkeys(point.data for point in points)))
    whole = panel.facet(facet=facet, columns=3).resolve_scale(x="independent", y="independent")
    return styled(whole, title)


def mean_points(points: Sequence[Point], *, chosen: bool = False) -> pl.DataFrame:
    """Average over the splits, length by length; of ``chosen`` fits whatever their length."""
    names = ("data", "method", "length", "seconds", "precision")
    frame = pl.DataFrame(
        [{name: getattr(point, name) for name in names} for point in points],
        schema={"data": pl.String, "method": pl.String, "length": pl.Int64, "seconds": float, "precision": float},
    )
    if chosen:
        frame = frame.with_columns(length=pl.lit(None, dtype=pl.Int64))
    means = frame.group_by("data", "method", "length", maintain_order=True).agg(
        pl.col("seconds", "precision").mean(), pl.col("precision").std().fill_null(0.0).alias("spread")
    )
    return means.with_columns(
        chosen=pl.lit(chosen),
        low=pl.col("precision") - pl.col("spread"),
        high=pl.col("precision") + pl.col("spread"),
    )


def learning_chart(runs: Sequence[Trained], title: str = "Precision at 0.25 on rows not seen, against n") -> Chart:
    """Draw held-out precision against n, with one deviation over the seeds, and the best that is possible."""
    import altair as alt

    frame = pl.DataFrame([{"method": run.method, "n": run.n, "precision": run.held_out} for run in runs])
    means = frame.group_by("method", "n", maintain_order=True).agg(
        pl.col("precision").mean(), pl.col("precision").std().fill_null(0.0).alias("spread")
    )
    means = means.with_columns(low=pl.col("precision") - pl.col("spread"), high=pl.col("precision") + pl.col("spread"))
    order = list(dict.fromkeys(run.method for run in runs))
    y = alt.Y("precision:Q", title="precision at 0.25, held out").scale(zero=False).axis(tickCount=6)
    base = alt.Chart(means).encode(x=_rows_axis(runs), color=method_colour(order))
    band = base.mark_area(opacity=0.13).encode(y="low:Q", y2="high:Q")
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=55)).encode(y=y)
    place = pl.DataFrame({"precision": [runs[0].best]})
    best = alt.Chart(place).mark_rule(strokeDash=[5, 4], color=FAINT).encode(y="precision:Q")
    words = annotation(place, f"the best ranking: {runs[0].best:.3f}", align="left", x=6, dy=-8).encode(y="precision:Q")
    return styled(alt.layer(band, best, words, lines).properties(width=640, height=340), title)


def gap_chart(
    runs: Sequence[Trained], found: Sequence[Rate], title: str = "How far training and held-out precision lie apart"
) -> Chart:
    """Draw the mean absolute gap against n on log axes, with lines of slope -1/2 and -1/4 through its start."""
    import altair as alt

    order = list(dict.fromkeys(run.method for run in runs))
    slope = {rate.method: rate.slope for rate in found if rate.what == "gap"}
    named = {method: f"{method}: slope {slope[method]:.2f}" for method in order}
    frame = pl.DataFrame(
        [{"method": named[run.method], "n": run.n, "gap": abs(run.training - run.held_out)} for run in runs]
    )
    means = frame.group_by("method", "n", maintain_order=True).agg(
        pl.col("gap").mean(), (pl.col("gap").std() / pl.len().sqrt()).fill_null(0.0).alias("error")
    )
    means = means.with_columns(
        low=(pl.col("gap") - pl.col("error")).clip(lower_bound=pl.col("gap") / 3), high=pl.col("gap") + pl.col("error")
    )
    x, words_of_y = _rows_axis(runs), "mean |training - held-out precision|"
    y = alt.Y("gap:Q", title=words_of_y)
    y = y.scale(type="log", nice=False, padding=10).axis(values=[0.003, 0.01, 0.03, 0.1, 0.3], format="~g")
    base = alt.Chart(means).encode(x=x, color=method_colour([named[method] for method in order]))
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=words_of_y), y2="high:Q")
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=55)).encode(y=y)
    layers: list[Any] = []
    start = float(means.filter(pl.col("n") == means["n"].min())["gap"].max())  # type: ignore[arg-type]
    for power, words in ((-0.5, "n^-1/2"), (-0.25, "n^-1/4")):
        n = np.array(sorted({run.n for run in runs}))
        reference = pl.DataFrame({"n": n, "gap": 1.3 * start * (n / n[0]) ** power})
        layers.append(alt.Chart(reference).mark_line(strokeDash=[5, 4], color=FAINT).encode(x=x, y=y))
        layers.append(annotation(reference.tail(1), words, align="right", dx=-4, dy=-18).encode(x=x, y=y))
    return styled(alt.layer(*layers, bars, lines).properties(width=640, height=340), title)


def _rows_axis(runs: Sequence[Trained]) -> Any:  # noqa: ANN401 - an Altair channel
    import altair as alt

    sizes = [run.n for run in runs]
    powers = [10**power for power in range(2, 8) if min(sizes) <= 10**power <= max(sizes)]
    axis = alt.Axis(values=powers, format="~s", grid=False)
    return alt.X("n:Q", title="rows learned from, n", axis=axis).scale(type="log", nice=False, padding=10)


def _named_colour(names: list[str], colours: list[str]) -> Any:  # noqa: ANN401 - an Altair channel
    import altair as alt

    return method_colour(names).scale(alt.Scale(domain=names, range=colours))
