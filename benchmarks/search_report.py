"""What the parts of the search benchmark share when they write: the head of a page, ratios with intervals, charts."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from search_runs import Settings, machine

import riffler
from riffler.data import atomic_write
from riffler.evaluation.charts import FAINT, Chart, method_colour, save_chart, styled
from riffler.evaluation.search_report import versions

N_RESAMPLES = 10_000
TICKS = [0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0]  # of an axis of ratios


def head(settings: Settings, part: str, results: Sequence[Mapping[str, Any]], more: str = "") -> str:
    """Data, seeds, machine, versions and command of a page."""
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    seeds = sorted({result["seed"] for result in results})
    stamps = Counter(result["code"] for result in results)
    code = ", ".join(f"{stamp} ({n:,} runs)" for stamp, n in stamps.most_common())
    command = " ".join(["python -m benchmarks.search", *sys.argv[1:]])
    lines = [
        f"# Search benchmark: {part}",
        f"riffler {riffler.__version__}, {packages}{'; ' + more if more else ''}.",
        f"{len(results):,} runs, seeds {seeds[0]} to {seeds[-1]}; {machine()}, {settings.jobs} runs at a time, one "
        f"thread each; load when this was written {os.getloadavg()[0]:.1f}.",
        f"`{command}`; code of the search: {code}.",
    ]
    if len(stamps) > 1:
        lines.append("**These runs were made by different states of the code.** Delete the folder and run them again.")
    return "\n\n".join(lines)


def geometric_mean(values: ArrayLike) -> float:
    """The mean of ratios.

    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=float)))))


def interval(ratios: ArrayLike) -> tuple[float, float]:
    """Where the middle 95 % of the geometric mean lies when sets are drawn again (seed 0)."""
    logs = np.log(np.asarray(ratios, dtype=float))
    if logs.size < 2:
        return float("nan"), float("nan")
    drawn = np.random.default_rng(0).integers(logs.size, size=(N_RESAMPLES, logs.size))
    low, high = np.exp(np.quantile(logs[drawn].mean(axis=1), [0.025, 0.975]))
    return float(low), float(high)


def interval_words(ratios: ArrayLike) -> str:
    """The geometric mean with its interval.

    >>> interval_words([0.9, 0.9])
    '0.900 (0.900 to 0.900)'
    """
    low, high = interval(ratios)
    bounds = f" ({low:.3f} to {high:.3f})" if low == low else ""  # one set alone has none
    return f"{geometric_mean(ratios):.3f}{bounds}"


def yes_or_no(reached: bool) -> str:
    """Whether a goal is reached, in a word."""
    return "yes" if reached else "no"


def write_page(path: Path, parts: Sequence[str]) -> None:
    """Print a page and write it."""
    text = "\n\n".join(part for part in parts if part) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
    print(text)


def save_both(chart: Chart, path: Path) -> None:
    """Write a chart as SVG and as PNG."""
    for ending in (".svg", ".png"):
        save_chart(chart, path.with_suffix(ending))


def ratio_chart(points: Sequence[Mapping[str, object]], title: str, words: str) -> Chart:
    """Draw a ratio for every set, one panel a level, a colour a method; the line at 1 is the rival.

    Columns: ``method``, ``data``, ``level``, ``ratio``.
    """
    import altair as alt

    frame = pl.DataFrame(points)
    methods, data, levels = (frame[name].unique(maintain_order=True).to_list() for name in ("method", "data", "level"))
    low, high = float(frame["ratio"].min()), float(frame["ratio"].max())  # type: ignore[arg-type]
    scale = alt.Scale(type="log", domain=[min(0.8, low * 0.95), max(1.25, high * 1.05)], nice=False)
    x = alt.X("ratio:Q", title=words, scale=scale).axis(format=".2~f", values=TICKS)
    base = alt.Chart(frame).encode(
        y=alt.Y("data:N", title=None, sort=data),
        yOffset=alt.YOffset("method:N", sort=methods),
        color=method_colour(methods),
    )
    one = alt.Chart(frame).mark_rule(strokeDash=[5, 4], color=FAINT).encode(x=alt.datum(1.0))
    tooltip = ["data:N", "method:N", alt.Tooltip("ratio:Q", format=".3f")]
    stems = base.mark_rule(opacity=0.35).encode(x=x, x2=alt.datum(1.0))
    dots = base.mark_point(filled=True, size=75, opacity=1).encode(x=x, tooltip=tooltip)
    panel = alt.layer(one, stems, dots).properties(width=300, height=len(data) * (10 + 12 * len(methods)))
    return styled(panel.facet(column=alt.Column("level:N", title=None, sort=levels)), title)


def lines_chart(points: Sequence[Mapping[str, object]], title: str, x_words: str, y_words: str) -> Chart:
    """Draw a line a method over x, one panel a set, each with its own height.

    Columns: ``method``, ``data``, ``x``, ``y``.
    """
    import altair as alt

    frame = pl.DataFrame(points)
    methods, data = (frame[name].unique(maintain_order=True).to_list() for name in ("method", "data"))
    chart = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=55))
        .encode(
            x=alt.X("x:Q", title=x_words).axis(format="~%", tickCount=5),
            y=alt.Y("y:Q", title=y_words).axis(format="~%", tickCount=5).scale(zero=True),
            color=method_colour(methods),
            tooltip=["data:N", "method:N", alt.Tooltip("x:Q", format=".0%"), alt.Tooltip("y:Q", format=".1%")],
        )
        .properties(width=250, height=200)
        .facet(alt.Facet("data:N", title=None, sort=data), columns=4)
        .resolve_scale(y="independent")
    )
    return styled(chart, title)
