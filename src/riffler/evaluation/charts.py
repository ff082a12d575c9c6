"""Charts of results (Altair): precision along the ranking, the top against the whole order, cost against size.

Each chart function returns an Altair chart; ``save_chart`` writes it in the form its file ending asks for. Rows of
data are dicts or a polars frame with the columns that the function names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from riffler.data.atomic import atomic_write
from riffler.errors import InputError
from riffler.evaluation.precision_curve import PrecisionCurve

if TYPE_CHECKING:
    import altair as alt

Chart: TypeAlias = Any
"""An Altair chart: single, layered, faceted or side by side; these classes share no typed base."""

Rows: TypeAlias = Sequence[Mapping[str, object]] | pl.DataFrame

# Okabe and Ito's colours, told apart with any colour vision; their yellow is left out as too faint on white.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
INK, FAINT = "#333333", "#8a8a8a"
LINE_LEGEND: Any = {
    "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3, "symbolOpacity": 1, "symbolSize": 220,
}  # fmt: skip


def precision_at_k_chart(curves: Sequence[PrecisionCurve], k: int, title: str = "Precision along the ranking") -> Chart:
    """Draw precision among the first n against n (log axis), a line a method, with the chosen k marked.

    A curve with a band is drawn with it; the dashed level is the share of positives, what a random order has.
    """
    import altair as alt

    # What is drawn last lies on top, and the first method named is the one that matters.
    frame = pl.concat([curve.frame() for curve in reversed(curves)])
    n_items = max(int(curve.depth[-1]) for curve in curves)
    ticks = alt.Axis(values=_round_numbers(1, n_items), format="~s", grid=False)
    x = alt.X("depth:Q", title="first n of the ranking", axis=ticks).scale(type="log", domain=[1, n_items], nice=False)
    y = alt.Y("precision:Q", title="precision among the first n").scale(domain=[0, 1]).axis(format="%", tickCount=5)
    base = alt.Chart(frame).encode(x=x, color=method_colour([curve.method for curve in curves]))
    band = base.mark_area(opacity=0.13).encode(y="low:Q", y2="high:Q")
    tooltip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("depth:Q", title="first", format=","),
        alt.Tooltip("precision:Q", format=".1%"),
        alt.Tooltip("low:Q", title="from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    lines = base.mark_line(strokeWidth=2.2).encode(y=y, tooltip=tooltip)
    marks = [_level(curves[0].positive_share), _mark(k)]
    return styled(alt.layer(band, *marks, lines).properties(width=640, height=360), title)


def tradeoff_chart(points: Rows, title: str = "The very top against the whole order, along the weight") -> Chart:
    """Draw precision at k against AUC along a weight, one panel a data set.

    Columns: ``data``, ``method``, ``weight`` (None for a method without one), ``precision``, ``auc``.
    """
    import altair as alt

    frame = _with_weights_in_words(_frame(points, ["data", "method", "weight", "precision", "auc"]))
    base = alt.Chart(frame).encode(
        x=alt.X("auc:Q", title="AUC (the whole order)").scale(zero=False, padding=20).axis(tickCount=6),
        y=alt.Y("precision:Q", title="precision at k (the top)").scale(zero=False, padding=20).axis(tickCount=6),
        color=method_colour(_in_order(frame, "method")),
    )
    path = base.mark_line(strokeWidth=2).encode(order="weight:Q").transform_filter("isValid(datum.weight)")
    tooltip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("weight:Q"),
        alt.Tooltip("auc:Q", title="AUC", format=".4f"),
        alt.Tooltip("precision:Q", title="precision at k", format=".4f"),
    ]
    shape = alt.Shape("method:N", legend=None).scale(domain=_in_order(frame, "method"))
    dots = base.mark_point(size=90, filled=True, opacity=1).encode(shape=shape, tooltip=tooltip)
    words = base.mark_text(dx=8, dy=-9, align="left", fontSize=11).encode(text="weights:N")
    panel = alt.layer(path, dots, words.transform_filter("isValid(datum.weight)")).properties(width=380, height=320)
    columns = alt.Column("data:N", title=None, sort=_in_order(frame, "data"))
    return styled(panel.facet(column=columns), title)


def _with_weights_in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Add ``weights``: weights that lead to the same point are written once, from the lowest to the highest."""
    place = ["data", "method", pl.col("auc").round(2), pl.col("precision").round(2)]
    low, high = pl.col("weight").min().over(place), pl.col("weight").max().over(place)
    words = pl.when(low == high).then(pl.format("{}", low)).otherwise(pl.format("{} to {}", low, high))
    return frame.with_columns(pl.when(pl.col("weight") == low).then(words).otherwise(pl.lit("")).alias("weights"))


def growth_chart(points: Rows, title: str = "Time and memory against the number of rows") -> Chart:
    """Draw seconds and peak megabytes against rows on log-log axes, each with a line of growth in proportion.

    Columns: ``method``, ``rows``, ``seconds``, ``megabytes``.
    """
    import altair as alt

    frame = _frame(points, ["method", "rows", "seconds", "megabytes"])
    for column in ("rows", "seconds", "megabytes"):
        if not (frame[column] > 0).all():
            raise InputError(f"{column} must be above zero in every row, as the axes are logarithmic.")
    seconds = _growth_panel(frame, "seconds", "time, seconds")
    megabytes = _growth_panel(frame, "megabytes", "peak memory beyond the input, MB")
    return styled(alt.hconcat(seconds, megabytes, spacing=40), title)


def _growth_panel(frame: pl.DataFrame, column: str, words: str) -> Chart:
    """Draw one cost against rows; the dashed line lies below the others, as only its slope is to be compared."""
    import altair as alt

    n_rows = frame["rows"].unique().sort()
    dearness = float((frame[column] / frame["rows"]).min())  # type: ignore[arg-type]
    proportion = pl.DataFrame({"rows": n_rows, column: n_rows * (dearness / 2)})
    x = alt.X("rows:Q", title="rows").scale(type="log", nice=False)
    x = x.axis(values=powers_of_ten(n_rows), format="~s")
    costs = pl.concat([frame[column].cast(pl.Float64), proportion[column].cast(pl.Float64)])
    y = alt.Y(f"{column}:Q", title=words).scale(type="log", nice=False).axis(values=powers_of_ten(costs), format="~g")
    reference = alt.Chart(proportion).mark_line(strokeDash=[5, 4], color=FAINT).encode(x=x, y=y)
    note = annotation(proportion.head(1), "in proportion to the rows", align="left", dx=46, dy=-8).encode(x=x, y=y)
    tooltip = [alt.Tooltip("method:N"), alt.Tooltip("rows:Q", format=","), alt.Tooltip(f"{column}:Q", format=".3g")]
    lines = alt.Chart(frame).mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=60))
    lines = lines.encode(x=x, y=y, color=method_colour(_in_order(frame, "method")), tooltip=tooltip)
    return alt.layer(reference, note, lines).properties(width=380, height=320)


def save_chart(chart: Chart, path: str | Path) -> None:
    """Write a chart as its file ending asks: .html (self-contained), .json, .png or .svg; whole or not at all."""
    write = _WRITERS[chart_ending(path)]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        write(chart, draft)


def chart_ending(path: str | Path) -> str:
    """Give the ending of a chart's file, or say which endings there are.

    >>> chart_ending("out/curve.PNG")
    '.png'
    """
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise InputError(
            f"A chart cannot be written to {str(path)!r}. Use a file ending in {', '.join(sorted(_WRITERS))}."
        )
    return ending


# The menu of a page offers the picture only: Vega's online editor is an outside host.
_MENU = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}

_WRITERS: dict[str, Callable[[Chart, Path], None]] = {
    # Inline: the page carries its own scripts and asks no other host for them.
    ".html": lambda chart, draft: chart.save(str(draft), format="html", inline=True, embed_options=_MENU),
    ".json": lambda chart, draft: chart.save(str(draft), format="json"),
    ".png": lambda chart, draft: chart.save(str(draft), format="png", scale_factor=2.0),
    ".svg": lambda chart, draft: chart.save(str(draft), format="svg"),
}


def _frame(rows: Rows, columns: Sequence[str]) -> pl.DataFrame:
    frame = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(list(rows), infer_schema_length=None)
    missing = [column for column in columns if column not in frame.columns]
    if missing or frame.is_empty():
        raise InputError(
            f"A chart needs rows with the columns {', '.join(columns)}; missing: {', '.join(missing) or 'all rows'}."
        )
    return frame


def _in_order(frame: pl.DataFrame, column: str) -> list[str]:
    """Names in the order given, so that a method keeps its colour whatever the alphabet says."""
    names: list[str] = frame[column].unique(maintain_order=True).to_list()
    return names


def method_colour(methods: list[str]) -> alt.Color:
    """Give each method its colour of the palette, in the order given, with the legend on top."""
    import altair as alt

    colours = [PALETTE[number % len(PALETTE)] for number in range(len(methods))]
    return alt.Color("method:N", title=None, legend=alt.Legend(**LINE_LEGEND)).scale(domain=methods, range=colours)


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, ... between two bounds: few enough to read on a log axis."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in exponents for step in (1, 2, 5) if low <= step * 10.0**power <= high]


def powers_of_ten(values: pl.Series) -> list[float]:
    """Powers of ten inside the values' range; 1, 2, 5 steps where that range holds fewer than two of them."""
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    powers = [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    return powers if len(powers) > 1 else _round_numbers(low, high)


def _level(share: float) -> Chart:
    import altair as alt

    place = pl.DataFrame({"precision": [share]})
    rule = alt.Chart(place).mark_rule(strokeDash=[5, 4], color=FAINT).encode(y="precision:Q")
    return rule + annotation(place, f"random order: {share:.1%}", align="left", x=6, dy=-7).encode(y="precision:Q")


def _mark(k: int) -> Chart:
    import altair as alt

    place = pl.DataFrame({"depth": [k]})
    rule = alt.Chart(place).mark_rule(color=INK, strokeWidth=1.2).encode(x="depth:Q")
    return rule + annotation(place, f"k = {k:,}", align="center", y=-8, color=INK).encode(x="depth:Q")


def annotation(place: pl.DataFrame, words: str | list[str], *, color: str = FAINT, **where: Any) -> Chart:  # noqa: ANN401
    """Write words at a place of the chart; a list has a line each."""
    import altair as alt

    return alt.Chart(place).mark_text(text=words, color=color, fontSize=12, **where)


def styled(chart: Chart, title: str) -> Chart:
    """Give every chart the same type sizes, quiet grid and white ground."""
    return (
        chart.properties(title=title, background="white", padding=16)
        .configure_title(fontSize=17, anchor="start", color=INK, offset=12)
        .configure_axis(labelFontSize=12, titleFontSize=13, titleColor=INK, labelColor=INK, gridColor="#ececec")
        .configure_legend(labelFontSize=13, labelLimit=320, labelColor=INK)
        .configure_header(labelFontSize=14, labelColor=INK)
        .configure_view(stroke=None)
    )
