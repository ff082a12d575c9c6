"""The charts of the progress page: Vega-Lite specifications from what the learner left.

Altair writes each once, with named data; a request only fills the data in. Colours are named styles (found, guess,
quiet, ...), which the page sets for light and dark.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import pi, sqrt
from threading import Lock
from typing import Any, TypeAlias

from riffler.errors import UnknownName

Rows: TypeAlias = list[dict[str, Any]]
Spec: TypeAlias = dict[str, Any]
Clusters: TypeAlias = Sequence[Mapping[str, Any]]

AREA = 3200
"""Square pixels of the largest cluster."""

N_BARS = 24
FIRST_BAR = 10
FAR = 3.0
"""An estimate of more than this many times what was found would flatten the curve, and is told in words alone."""


_drawing = Lock()  # Altair's setters, such as alt.Y(...).axis(...), mix up charts of several threads


@dataclass(frozen=True, slots=True)
class ChartData:
    """The named data of a chart: rows for its specification, and a table for those who do not see it."""

    named: dict[str, Rows]
    header: tuple[str, ...]
    table: list[tuple[object, ...]]


def chart_spec(name: str, progress: Mapping[str, Any], clusters: Clusters) -> Spec:
    """Return a Vega-Lite specification with its data: "recall", "map" or "pace".

    ``progress`` is the picture of that name (see `riffler.review.panel`), ``clusters`` those of the picture "map".

    >>> spec = chart_spec("pace", {"curve": [[0, 0], [10, 4], [20, 5]]}, [])
    >>> [(row["label"], row["found"]) for row in spec["datasets"]["blocks"]]
    [('1–10', 4), ('11–20', 1)]
    """
    if name not in CHARTS:
        raise UnknownName.among("chart", name, CHARTS)
    with _drawing:
        spec = copy.deepcopy(_template(name))
    named = chart_data(name, progress, clusters).named
    if "layer" in spec:  # one without data has no extent, and would take that of the others away
        spec["layer"] = [layer for layer in spec["layer"] if "data" not in layer or named[layer["data"]["name"]]]
    return {**spec, "datasets": named}


def chart_data(name: str, progress: Mapping[str, Any], clusters: Clusters) -> ChartData:
    """Return the data of a chart."""
    return CHARTS[name].data(progress, clusters)


def _recall_data(progress: Mapping[str, Any], clusters: Clusters) -> ChartData:
    curve = [{"read": read, "found": found} for read, found in progress.get("curve", ())]
    end = curve[-1]["read"] if curve else 0
    if not end:  # a line without length
        curve = []
    guess = _estimate(progress.get("recall"), curve[-1]["found"] if curve else 0)
    ends: Rows = [{"read": 0, **guess}, {"read": end, **guess}] if guess and end else []
    table = [(point["read"], point["found"]) for point in curve[:: max(1, len(curve) // N_BARS)]]
    if curve and table[-1] != (end, curve[-1]["found"]):
        table.append((end, curve[-1]["found"]))
    return ChartData({"curve": curve, "guess": ends, "label": ends[:1]}, ("read", "found"), list(table))


def _estimate(recall: Mapping[str, Any] | None, found: int) -> dict[str, Any] | None:
    if recall is None or recall.get("total") is None or not found:
        return None
    low, high = recall.get("total_low") or found, recall.get("total_high")
    if high is None or high > FAR * found + FIRST_BAR:
        return None
    return {"low": low, "high": high, "total": recall["total"], "words": f"estimated: {recall['total']:,.0f} in all"}


def _pace_data(progress: Mapping[str, Any], clusters: Clusters) -> ChartData:
    """Cut the reading into blocks of equal length: 10, 20, 50, 100, ... documents, at most 24 of them."""
    curve = [(int(read), int(found)) for read, found in progress.get("curve", ())]
    if not curve or not curve[-1][0]:
        return ChartData({"blocks": []}, ("read", "found", "share"), [])
    end = curve[-1][0]
    width = next(size for size in _sizes() if size * N_BARS >= end)
    blocks: Rows = []
    for start in range(0, end, width):
        stop = min(start + width, end)
        found = _found_at(curve, stop) - _found_at(curve, start)
        label = f"{start + 1:,}–{stop:,}"
        blocks.append({"label": label, "start": start, "stop": stop, "found": found, "share": found / (stop - start)})
    table: list[tuple[object, ...]] = [(row["label"], row["found"], f"{row['share']:.0%}") for row in blocks]
    return ChartData({"blocks": blocks}, ("documents", "found", "share"), table)


def _found_at(curve: Sequence[tuple[int, int]], read: int) -> int:
    """Return how many were found after so many were read, between the points of a thinned curve by the point before."""
    return next(found for n, found in reversed(curve) if n <= read)


def _sizes() -> Iterator[int]:
    scale = FIRST_BAR
    while True:
        yield from (scale, 2 * scale, 5 * scale)
        scale *= 10


def _map_data(progress: Mapping[str, Any], clusters: Clusters) -> ChartData:
    rows: Rows = []
    largest = max((one["size"] for one in clusters), default=1)
    for one in clusters:
        words = one["words"] if isinstance(one["words"], str) else ", ".join(one["words"])
        found = f"{one['n_relevant']:,} found" if one["n_relevant"] else ""
        rows.append(
            {
                "x": one["x"],
                "y": one["y"],
                "words": words,
                "size": one["size"],
                "relevant": one["n_relevant"],
                "read": one["n_reviewed"],
                "reach": sqrt(one["size"] / largest),
                "found": found,
            }
        )
    rows.sort(key=lambda row: -row["size"])  # small ones lie on top
    table: list[tuple[object, ...]] = [(row["words"], row["size"], row["read"], row["relevant"]) for row in rows]
    return ChartData({"clusters": rows}, ("words", "documents", "read", "found"), table)


@cache
def _template(name: str) -> Spec:
    """Return a specification without its data."""
    spec: Spec = CHARTS[name].draw().to_dict()
    for key in ("config", "datasets"):  # how it looks is the page's
        spec.pop(key, None)
    return spec


def _draw_recall() -> Any:  # noqa: ANN401 - Altair's charts share no typed base
    import altair as alt

    x = alt.X("read:Q", title="documents read").axis(tickMinStep=1, grid=False)
    y = alt.Y("found:Q", title="relevant found").axis(tickMinStep=1)
    tooltip = [alt.Tooltip("read:Q", format=","), alt.Tooltip("found:Q", format=",")]
    found = alt.Chart(alt.NamedData("curve")).mark_line(style="found", interpolate="step-after")
    band = alt.Chart(alt.NamedData("guess")).mark_area(style="guess").encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
    total = alt.Chart(alt.NamedData("guess")).mark_line(style="total").encode(x=x, y=alt.Y("total:Q"))
    words = alt.Chart(alt.NamedData("label")).mark_text(style="words", align="left", dx=6, dy=-8)
    words = words.encode(x=x, y=alt.Y("total:Q"), text="words:N")
    return alt.layer(band, total, found.encode(x=x, y=y, tooltip=tooltip), words).properties(**_size(260))


def _draw_pace() -> Any:  # noqa: ANN401
    import altair as alt

    x = alt.X("start:Q", title="documents read").axis(tickMinStep=1, grid=False)
    y = alt.Y("share:Q", title="share that was relevant").axis(format="%", tickCount=4)
    tooltip = [
        alt.Tooltip("label:N", title="documents"),
        alt.Tooltip("found:Q", title="found"),
        alt.Tooltip("share:Q", format=".0%"),
    ]
    bars = alt.Chart(alt.NamedData("blocks")).mark_rect(style="found-bar")
    return bars.encode(x=x, x2="stop:Q", y=y, y2=alt.datum(0), tooltip=tooltip).properties(**_size(260))


def _draw_map() -> Any:  # noqa: ANN401
    import altair as alt

    base = alt.Chart(alt.NamedData("clusters")).encode(
        x=alt.X("x:Q", axis=None).scale(zero=False, nice=False, padding=46),
        y=alt.Y("y:Q", axis=None).scale(zero=False, nice=False, padding=40),
        tooltip=[
            alt.Tooltip("words:N"),
            alt.Tooltip("size:Q", title="documents", format=","),
            alt.Tooltip("read:Q", format=","),
            alt.Tooltip("relevant:Q", title="found", format=","),
        ],
    )
    area = alt.Scale(range=[0, AREA], domainMin=0)
    whole = base.mark_circle(style="whole").encode(size=alt.Size("size:Q", legend=None, scale=area))
    read = base.mark_circle(style="explored").encode(size=alt.Size("read:Q", legend=None))
    below = f"{sqrt(AREA / pi):.0f} * datum.reach"  # pixels from the middle of a bubble to its edge
    words = base.mark_text(style="words", baseline="top", dy=alt.expr(f"{below} + 4"), limit=160).encode(text="words:N")
    found = base.mark_text(style="found-words", baseline="top", dy=alt.expr(f"{below} + 19")).encode(text="found:N")
    return alt.layer(whole, read, words, found).properties(**_size(440))


def _size(height: int) -> dict[str, Any]:
    import altair as alt

    return {"width": "container", "height": height, "autosize": alt.AutoSizeParams(type="fit-x", contains="padding")}


@dataclass(frozen=True, slots=True)
class _Chart:
    draw: Callable[[], Any]
    data: Callable[[Mapping[str, Any], Clusters], ChartData]


CHARTS: dict[str, _Chart] = {
    "recall": _Chart(_draw_recall, _recall_data),
    "pace": _Chart(_draw_pace, _pace_data),
    "map": _Chart(_draw_map, _map_data),
}
