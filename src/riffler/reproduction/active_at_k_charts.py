"""The pictures of the reproduction of Modi, Sekhari and Gupta (2017), in the style of all Riffler charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from riffler.evaluation.active_runs import ActiveRun
from riffler.evaluation.charts import FAINT, INK, PALETTE, Chart, annotation, method_colour, styled
from riffler.reproduction import active_at_k_figures as figures
from riffler.reproduction.active_at_k_cases import SCHEMES, TOP_K, Feed, Results, labels, labels_below, precisions
from riffler.reproduction.active_at_k_growth import Exponents, Growth
from riffler.reproduction.active_at_k_noise import flipped_cases, ordered_cases
from riffler.reproduction.active_at_k_rare import KERNELS, Setting
from riffler.reproduction.active_at_k_readings import readings


def figures_chart(results: Results, feed: Feed, ks: tuple[int, int], variant: str) -> Chart:
    """Draw figures 1 to 4 side by side: precision per batch above, cumulative queries below the top k underneath."""
    words = {"precision": "precision at k, from batch 2", "below": "queries below the top k so far"}
    rows: dict[str, list[Chart]] = {one: [] for one in words}
    for figure in figures.figures(ks):
        cases = figures.figure_cases(feed, figure, variant)
        frame = pl.concat([_along_batches(case.way.name, results[case]) for case in cases])
        for one in words:
            rows[one].append(_titled(_batches_panel(frame.filter(measure=one), words[one]), figure.title))
    n_runs = len(next(iter(results.values())))
    title = (
        f"Figures 1 to 4 on {feed.data}, {figures.VARIANTS[variant][0]}: means of {n_runs} runs, bands of one deviation"
    )
    return styled(_in_rows(rows.values()), title)


def _along_batches(name: str, runs: Sequence[ActiveRun]) -> pl.DataFrame:
    """Mean and deviation over the runs: precision from the second batch on, and queries below the top so far."""
    parts = []
    for measure, first in (("precision", 1), ("below", 0)):
        values = np.stack([run.precision if measure == "precision" else run.n_asked_below for run in runs])[:, first:]
        mean, spread = values.mean(axis=0), values.std(axis=0)
        high = np.minimum(mean + spread, 1.0) if measure == "precision" else mean + spread
        batch = np.arange(first + 1, first + 1 + len(mean))
        columns = {"batch": batch, "mean": mean.astype(float), "low": np.maximum(mean - spread, 0.0), "high": high}
        parts.append(pl.DataFrame(columns).with_columns(method=pl.lit(name), measure=pl.lit(measure)))
    return pl.concat(parts)


def _batches_panel(frame: pl.DataFrame, words: str) -> Chart:
    import altair as alt

    last = int(frame["batch"].to_numpy().max())
    ticks = alt.Axis(values=list(range(1, last + 1, 3)), format="d", grid=False)
    base = alt.Chart(frame).encode(
        x=alt.X("batch:Q", title="batch", axis=ticks).scale(domain=[1, last], nice=False),
        color=method_colour(list(SCHEMES)),
    )
    band = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", title=words), y2="high:Q")
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y("mean:Q", title=words).scale(zero=False).axis(tickCount=5))
    return alt.layer(band, lines).properties(width=205, height=190)


def rare_chart(results: Results, settings: Sequence[Setting]) -> Chart:
    """Draw precision against all labels bought, a panel a data set and k; bars are one deviation over the runs."""
    import altair as alt

    rows = [
        {
            "panel": f"{setting.title}, k = {setting.k}",
            "method": case.way.name,
            "kernel": "RBF" if kernel == "rbf" else kernel,
            "labels": float(np.mean(labels(results[case]))),
            **_spread(precisions(results[case])),
        }
        for setting in settings
        for kernel in KERNELS
        for case in setting.cases(kernel)
    ]
    frame = pl.DataFrame(rows)
    names = [name for name in (*SCHEMES, TOP_K) if name in set(frame["method"])]
    x = alt.X("labels:Q", title="labels bought, the top k included").scale(type="log", padding=14, nice=False)
    ticks = [step * 10**power for power in range(1, 6) for step in (1, 3)]
    x = x.axis(format="~s", values=ticks, grid=False)
    words = "precision at k, from batch 2"
    base = alt.Chart(frame).encode(x=x, color=method_colour(names))
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=words), y2="high:Q")
    shape = alt.Shape("kernel:N", title=None, legend=alt.Legend(orient="top"))
    shape = shape.scale(domain=["linear", "RBF"], range=["circle", "triangle-up"])
    y = alt.Y("mean:Q", title=words).scale(zero=False, padding=10).axis(tickCount=5)
    dots = base.mark_point(size=90, filled=True, opacity=1).encode(y=y, shape=shape)
    panel = alt.layer(bars, dots).properties(width=215, height=210)
    facet = alt.Facet("panel:N", title=None, sort=_small_k_first(settings))
    whole = panel.facet(facet=facet, columns=4, bounds="flush", spacing={"row": 70, "column": 60})
    whole = whole.resolve_scale(y="independent")
    return styled(whole, "What precision costs where the data are harder or positives rare")


def _small_k_first(settings: Sequence[Setting]) -> list[str]:
    """Names of the panels: those of the smaller k of each feed, then those of the larger."""
    smallest = {setting.feed: setting.k for setting in reversed(settings)}
    ordered = sorted(settings, key=lambda setting: setting.k > smallest[setting.feed])
    return [f"{setting.title}, k = {setting.k}" for setting in ordered]


def readings_chart(results: Results, feeds: Mapping[str, Feed], k: int) -> Chart:
    """Draw the precision of each reading, a column a share of positives; the dashed level is that of ours."""
    import altair as alt

    panels = []
    for place, (name, feed) in enumerate(feeds.items()):
        found = {label: results[case] for label, case in readings(feed, k).items()}
        frame = pl.DataFrame([{"label": label, **_spread(precisions(runs))} for label, runs in found.items()])
        axis = alt.Axis(labelLimit=260, labels=place == 0, ticks=False, domain=False)
        y = alt.Y("label:N", title=None, sort=list(found), axis=axis)
        x = alt.X("mean:Q", title="precision at k").scale(domain=[0, 1]).axis(tickCount=6)
        base = alt.Chart(frame).encode(y=y)
        bars = base.mark_rule(color=PALETTE[0], strokeWidth=1.6).encode(
            x=alt.X("low:Q", title="precision at k"), x2="high:Q"
        )
        dots = base.mark_point(size=70, filled=True, opacity=1, color=PALETTE[0]).encode(x=x)
        ours = alt.Chart(frame.head(1)).mark_rule(strokeDash=[5, 4], color=FAINT).encode(x="mean:Q")
        named = alt.TitleParams(name, fontSize=13, color=INK)
        panels.append(alt.layer(ours, bars, dots).properties(width=300, height=430, title=named))
    title = f"Each reading of the text alone: exponential scheme, k = {k}"
    return styled(alt.hconcat(*panels, spacing=24), title)


def noise_chart(results: Results, feeds: Mapping[str, Feed], k: int, shares: Sequence[float]) -> Chart:
    """Draw precision against the share of wrong answers, a panel a share of positives."""
    import altair as alt

    rows = [
        {"panel": name, "method": case.way.name, "flipped": share, **_spread(precisions(results[case]))}
        for name, feed in feeds.items()
        for share, cases in flipped_cases(feed, k, shares).items()
        for case in cases
    ]
    x = alt.X("flipped:Q", title="answers that are wrong").axis(format="%", values=list(shares), grid=False)
    words = "precision at k, by the true labels"
    base = alt.Chart(pl.DataFrame(rows)).encode(x=x, color=method_colour(list(SCHEMES)))
    band = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", title=words), y2="high:Q")
    y = alt.Y("mean:Q", title=words).scale(zero=False)
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45)).encode(y=y)
    panel = alt.layer(band, lines).properties(width=320, height=260)
    whole = panel.facet(column=alt.Column("panel:N", title=None, sort=list(feeds))).resolve_scale(y="independent")
    return styled(whole, f"Wrong answers: what they cost each scheme, k = {k}")


def orders_chart(results: Results, feeds: Mapping[str, Feed], k: int) -> Chart:
    """Draw precision and labels of each scheme under each order, a column a share of positives."""
    import altair as alt

    rows = [
        {
            "panel": name, "order": order, "method": case.way.name,
            "labels": float(np.mean(labels(results[case]))), **_spread(precisions(results[case])),
        }
        for name, feed in feeds.items()
        for order, cases in ordered_cases(feed, k).items()
        for case in cases
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    orders = list(dict.fromkeys(frame["order"]))
    grid = []
    for name in feeds:
        here = frame.filter(panel=name)
        axis = alt.Axis(labelLimit=200, ticks=False, domain=False)
        y = alt.Y("order:N", title=None, sort=orders, axis=axis)
        offset = alt.YOffset("method:N", sort=list(SCHEMES))
        base = alt.Chart(here).encode(y=y, yOffset=offset, color=method_colour(list(SCHEMES)))
        x = alt.X("low:Q", title="precision at k").scale(zero=False)
        bars = base.mark_rule(strokeWidth=1.6).encode(x=x, x2="high:Q")
        dots = base.mark_point(size=60, filled=True, opacity=1).encode(x=alt.X("mean:Q", title="precision at k"))
        bought = alt.X("labels:Q", title="labels bought").scale(zero=True).axis(format="~s", tickCount=5)
        unnamed = alt.Y("order:N", title=None, sort=orders, axis=alt.Axis(labels=False, ticks=False, domain=False))
        cost = base.mark_bar(size=7).encode(x=bought, y=unnamed)
        title = alt.TitleParams(name, fontSize=13, color=INK)
        panels = (alt.layer(bars, dots).properties(width=270, height=250), cost.properties(width=200, height=250))
        grid.append(alt.hconcat(*panels, spacing=20, title=title))
    return styled(alt.vconcat(*grid, spacing=20), f"Unkind orders: what they cost each scheme, k = {k}")


def growth_chart(results: Results, studies: Sequence[Growth], found: Sequence[Exponents]) -> Chart:
    """Draw labels against n and against k on log axes: all of them above, those below the top underneath.

    The dashed line is k log n through the first point of the exponential scheme.
    """
    rows: dict[str, list[Chart]] = {"in all": [], "below the top": []}
    for study in studies:
        for measure, panels in rows.items():
            here = [one for one in found if one.growth == study]
            panels.append(_titled(_growth_panel(results, study, measure, here), study.title))
    title = "Labels bought as n and k grow, on log axes; dashed: in proportion to k log n"
    return styled(_in_rows(rows.values()), title)


def _growth_panel(results: Results, study: Growth, measure: str, found: Sequence[Exponents]) -> Chart:
    import altair as alt

    count = labels if measure == "in all" else labels_below
    rows = [
        {"method": scheme, "size": size, "labels": max(0.5, float(np.mean(count(results[case]))))}
        for scheme in SCHEMES
        for size, case in zip(study.sizes, study.cases(scheme), strict=True)
    ]
    frame = pl.DataFrame(rows)
    start = float(frame.filter(method="exponential")["labels"][0])
    hoped_for = pl.DataFrame(
        {"size": study.sizes, "labels": [start * one / study.hoped_for[0] for one in study.hoped_for]}
    )
    x = alt.X("size:Q", title=study.what).scale(type="log", nice=False, padding=10)
    x = x.axis(values=list(study.sizes), format="~s", grid=False)
    y = alt.Y("labels:Q", title=f"labels, {measure}").scale(type="log", nice=False, padding=10)
    y = y.axis(values=_log_ticks([*frame["labels"], *hoped_for["labels"]]), format="~s")
    lines = alt.Chart(frame).mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=40))
    lines = lines.encode(x=x, y=y, color=method_colour(list(SCHEMES)))
    dashed = alt.Chart(hoped_for).mark_line(strokeDash=[5, 4], color=FAINT).encode(x=x, y=y)
    slopes = ", ".join(f"{(one.in_all if measure == 'in all' else one.below)[0]:.2f}" for one in found)
    words = annotation(frame.head(1), f"slopes {slopes}", align="left", x=4, y=-6)
    return alt.layer(dashed, lines, words).properties(width=190, height=190)


def _log_ticks(values: Sequence[float]) -> list[float]:
    """Round numbers within the values: as few to a power of ten as give three or more.

    >>> _log_ticks([8, 3500]), _log_ticks([450, 790])
    ([10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0], [500.0, 600.0, 700.0])
    """
    found: list[float] = []
    for steps in ((1, 3), (1, 2, 5), range(1, 10)):
        found = [step * 10.0**power for power in range(6) for step in steps]
        found = [one for one in found if min(values) <= one <= max(values)]
        if len(found) > 2:
            break
    return found


def _titled(panel: Chart, title: str) -> Chart:
    import altair as alt

    return panel.properties(title=alt.TitleParams(title, fontSize=13, color=INK, offset=16))


def _in_rows(rows: Iterable[Sequence[Chart]]) -> Chart:
    """Put panels in rows; flush, so that those side by side keep one height whatever their axes say."""
    import altair as alt

    return alt.vconcat(*(alt.hconcat(*panels, spacing=70, bounds="flush") for panels in rows), spacing=26)


def _spread(values: Sequence[float]) -> dict[str, Any]:
    mean, deviation = float(np.mean(values)), float(np.std(values))
    return {"mean": mean, "low": max(0.0, mean - deviation), "high": min(1.0, mean + deviation)}
