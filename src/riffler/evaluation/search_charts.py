"""Charts of simulated searches (Altair): recall against reading, the cost of each recall, where stopping rules end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from riffler.errors import InputError
from riffler.evaluation.charts import FAINT, INK, LINE_LEGEND, PALETTE, Chart, annotation, method_colour, styled
from riffler.evaluation.search_measures import RECALLS, recall_curve
from riffler.evaluation.search_report import PolicyRow
from riffler.evaluation.simulate import SearchRun
from riffler.evaluation.stopping_replay import RuleSummary
from riffler.records import FloatArray

if TYPE_CHECKING:
    import altair as alt

HEAD = 0.1
"""Share of the collection that the panel of the top shows."""

DASH = 18.0
"""Pixels after which the dashes of a line come again."""

LEGEND: Any = {**LINE_LEGEND, "symbolSize": 1600}
"""Of lines that are as long as two dashes."""

ABOVE: Any = {"align": "center", "baseline": "bottom", "dy": -18, "lineHeight": 13}
BESIDE: Any = {"align": "left", "baseline": "middle", "dx": 6, "dy": -6, "lineHeight": 13}
"""Where words of two lines stand that are outside of a panel."""

Runs = Sequence[SearchRun]


def recall_chart(runs: Runs, title: str = "Recall against reading") -> Chart:
    """Draw recall against the share of the collection that was read: all of it, and the first tenth where it is less.

    A line is the mean over the runs of a policy, its band one standard deviation to either side. It ends where the
    reading did.
    """
    import altair as alt

    if not runs:
        raise InputError("A chart of recall needs at least one run.")
    policies = list(dict.fromkeys(run.policy for run in runs))
    most = max(run.answers.size / run.n_items for run in runs)
    end = min(1.0, 1.05 * most)
    ends = {"all that was read": end, "the first tenth": HEAD} if most > HEAD + 1e-9 else {"": end}
    panels = [_recall_panel(recall_frame(runs, end), policies, runs, end, words) for words, end in ends.items()]
    panels = [panel.properties(width=350 if len(panels) > 1 else 760) for panel in panels]
    chart = styled(alt.hconcat(*panels, spacing=24), title)
    return chart.properties(title=alt.TitleParams(text=title, subtitle=_reading(runs), subtitleColor=FAINT))


def recall_frame(runs: Runs, end: float, n_points: int = 201) -> pl.DataFrame:
    """Mean and spread of recall over the runs of each policy, at even shares from 0 to ``end`` or where it ended."""
    parts = []
    for policy in dict.fromkeys(run.policy for run in runs):
        those = [run for run in runs if run.policy == policy]
        last, even = min(end, _reach(those)), np.linspace(0.0, end, n_points)
        shares = np.append(even[even < last], last)
        curves = np.stack([_curve(run, shares) for run in those])
        mean, deviation = curves.mean(axis=0), curves.std(axis=0)
        parts.append(
            pl.DataFrame(
                {
                    "method": [policy] * shares.size,
                    "share": shares,
                    "recall": mean,
                    "low": np.maximum(mean - deviation, 0.0),
                    "high": np.minimum(mean + deviation, 1.0),
                }
            )
        )
    return pl.concat(parts)


def _reach(runs: Runs) -> float:
    """Share of the collection up to which every run is known: one that found everything stays at recall 100 %."""
    short = [run.answers.size / run.n_items for run in runs if not run.discovery.found_all]
    return min(short, default=max(run.answers.size / run.n_items for run in runs))


def _curve(run: SearchRun, shares: FloatArray) -> FloatArray:
    return recall_curve(run.discovery, np.floor(shares * run.n_items + 1e-9).astype(np.int64))


def _recall_panel(frame: pl.DataFrame, policies: list[str], runs: Runs, end: float, title: str) -> Chart:
    import altair as alt

    ticks = alt.Axis(format="~%", tickCount=6, grid=False)
    x = alt.X("share:Q", title="share of the collection read", axis=ticks).scale(domain=[0, end], nice=False)
    y = alt.Y("recall:Q", title="recall").scale(domain=[0, 1]).axis(format="%", tickCount=5)
    base = alt.Chart(frame).encode(x=x, color=method_colour(policies).legend(**LEGEND))
    band = base.mark_area(opacity=0.13).encode(y=alt.Y("low:Q"), y2="high:Q")
    tooltip = [
        alt.Tooltip("method:N", title="policy"),
        alt.Tooltip("share:Q", title="read", format=".3p"),
        alt.Tooltip("recall:Q", format=".1%"),
        alt.Tooltip("low:Q", title="from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    lines = base.mark_line(strokeWidth=2.4).encode(y=y, strokeDash=_dashes(policies), tooltip=tooltip)
    best = float(np.mean([run.n_relevant / run.n_items for run in runs]))
    marks = [_guide(end, end, ["any", "order"]), _guide(min(best, end), min(1.0, end / best), ["nothing", "but finds"])]
    room = annotation(pl.DataFrame({"share": [0.0], "recall": [1.0]}), ["-", "-"], opacity=0, **ABOVE)
    marks.append(room.encode(x="share:Q", y="recall:Q"))  # so that the titles of both panels stand on one line
    chart = alt.layer(band, *marks, lines).properties(height=320)
    return chart.properties(title=alt.TitleParams(text=title, fontSize=13, color=INK, offset=4))


def _dashes(policies: list[str]) -> alt.StrokeDash:
    """The first policy whole, each later one with wider gaps: lines on top of each other show through, all of them."""
    import altair as alt

    filled = [DASH * (1 - 0.8 * number / len(policies)) for number in range(len(policies))]
    scale = alt.Scale(domain=policies, range=[[one, DASH - one] for one in filled])
    return alt.StrokeDash("method:N", title=None, scale=scale).legend(**LEGEND)


def _guide(end: float, recall: float, words: list[str]) -> Chart:
    """Draw a dashed line from the origin, with words at its end, outside of the panel: curves do not come there."""
    import altair as alt

    place = pl.DataFrame({"share": [0.0, end], "recall": [0.0, recall]})
    line = alt.Chart(place).mark_line(strokeDash=[2, 3], color=FAINT, strokeWidth=1.2).encode(x="share:Q", y="recall:Q")
    note = annotation(place.tail(1), words, **(ABOVE if recall >= 1 else BESIDE))
    return line + note.encode(x="share:Q", y="recall:Q")


def _reading(runs: Runs) -> str:
    n_runs = {(run.topic, run.policy): 0 for run in runs}
    for run in runs:
        n_runs[run.topic, run.policy] += 1
    topics = {run.topic for run in runs}
    of = f" of each of {len(topics)} topics" if len(topics) > 1 else ""
    most = max(n_runs.values())
    if most == 1 and len(topics) == 1:
        return "one run of each policy"
    return f"line: mean over {most} run{'s' * (most > 1)}{of}; band: one standard deviation to either side"


def cost_chart(rows: Sequence[PolicyRow], title: str = "What each recall costs") -> Chart:
    """Draw the share of the collection read at each recall: mean, one standard deviation, and every run."""
    import altair as alt

    policies = [row.policy for row in rows]
    points, means = cost_frames(rows)
    if means.is_empty():
        raise InputError("No run reached any of the recalls that the chart shows.")
    level = alt.Y("recall:O", title="recall", sort=[_percent(recall) for recall in RECALLS])
    offset = alt.YOffset("method:N", sort=policies)
    x = alt.X("share:Q", title="share of the collection read").axis(format="~%", tickCount=6).scale(zero=True)
    colour = method_colour(policies)
    dots = alt.Chart(points).mark_tick(thickness=1.4, size=11, opacity=0.45)
    dots = dots.encode(x=x, y=level, yOffset=offset, color=colour)
    base = alt.Chart(means).encode(y=level, yOffset=offset, color=colour)
    spread = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q")
    tooltip = [
        alt.Tooltip("method:N", title="policy"),
        alt.Tooltip("recall:O"),
        alt.Tooltip("share:Q", title="read", format=".3p"),
        alt.Tooltip("labels:Q", title="labels", format=",.0f"),
    ]
    middle = base.mark_point(filled=True, size=80, opacity=1).encode(x=x, tooltip=tooltip)
    words = base.mark_text(align="left", dx=9, fontSize=11).encode(x="end:Q", text=alt.Text("share:Q", format=".3p"))
    height = points["recall"].n_unique() * (16 + 22 * len(policies))
    chart = styled(alt.layer(dots, spread, middle, words).properties(width=760, height=height), title)
    note = "dot: mean of the runs; bar: one standard deviation to either side; ticks: single runs"
    return chart.properties(title=alt.TitleParams(text=title, subtitle=note, subtitleColor=FAINT))


def cost_frames(rows: Sequence[PolicyRow]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every run, and means with deviations, where all runs of a policy reached the recall."""
    points: list[dict[str, object]] = []
    means: list[dict[str, object]] = []
    for row in rows:
        for recall in RECALLS:
            shares, labels = row.shares[str(recall)], row.labels[str(recall)]
            named = {"method": row.policy, "recall": _percent(recall)}
            points += [{**named, "share": one} for one in shares.runs if one is not None]
            if shares.mean is not None and shares.spread is not None:
                low, high = max(shares.mean - shares.spread, 0.0), shares.mean + shares.spread
                end = max(high, *(one for one in shares.runs if one is not None))
                means.append(
                    {**named, "share": shares.mean, "low": low, "high": high, "end": end, "labels": labels.mean}
                )
    return pl.DataFrame(points), pl.DataFrame(means)


def _percent(share: float) -> str:
    return f"{share:.0%}"


def stopping_chart(summaries: Mapping[str, Sequence[RuleSummary]], target: float, title: str | None = None) -> Chart:
    """Draw for each rule what it read and what recall it reached at one target, with its lowest recall.

    A rule is a certificate where every review ended with a proof, and red where more reviews ended below the target
    than the confidence allows.
    """
    import altair as alt

    frame = stopping_frame(summaries, target)
    title = title or f"Where stopping rules end, target {target:.0%}"
    order = frame.group_by("rule").agg(pl.col("share").mean()).sort("share", "rule")["rule"].to_list()
    policies = list(summaries)
    base = alt.Chart(frame).encode(
        y=alt.Y("rule:N", title=None, sort=order),
        color=_verdict_colour(),
        tooltip=_stopping_tooltip(),
    )
    if len(policies) > 1:
        base = base.encode(yOffset=alt.YOffset("policy:N", sort=policies))
    height = len(order) * (12 + 12 * len(policies))
    low = min(float(frame["lowest_recall"].min() or 0.0), target)  # type: ignore[arg-type]
    left = alt.layer(*_span(base, "share", "share_needed", "share of the collection read", 0.0, len(policies)))
    right = alt.layer(
        _line_at(target),
        *_span(
            base.encode(y=alt.Y("rule:N", title=None, sort=order).axis(labels=False)),
            "recall", "lowest_recall", "recall reached: mean, and the lowest",
            max(0.0, float(np.floor(low * 20 - 0.5)) / 20), len(policies),
        ),
    )  # fmt: skip
    left, right = (panel.properties(width=370, height=height) for panel in (left, right))
    note = (
        "left: dot, mean share read; tick, what the order itself needs to reach the target. right: tick, worst review"
    )
    chart = styled(alt.hconcat(left, right, spacing=30), title)
    return chart.properties(title=alt.TitleParams(text=title, subtitle=note, subtitleColor=FAINT))


def _shapes(n_policies: int) -> alt.Legend | None:
    """Say below the panels, where there is room for every name, which policy has which shape; one needs none."""
    import altair as alt

    return alt.Legend(orient="bottom", direction="horizontal", columns=6) if n_policies > 1 else None


def _span(base: Chart, to: str, start: str, words: str, least: float, n_policies: int) -> list[Chart]:
    """Draw a tick at one column, a dot at another, and a line between them."""
    import altair as alt

    # every layer has the same scale: of several that differ Vega-Lite takes the widest
    scale = alt.Scale(domain=[least, 1.0], nice=False, zero=False)
    axis = alt.Axis(format="~%", tickCount=5, title=words)
    shape = alt.Shape("policy:N", title=None, sort=None, legend=_shapes(n_policies))
    from_, dot = alt.X(f"{start}:Q", scale=scale, axis=axis), alt.X(f"{to}:Q", scale=scale, axis=axis)
    return [
        base.mark_rule(strokeWidth=1.4, opacity=0.5).encode(x=from_, x2=f"{to}:Q"),
        base.mark_tick(thickness=1.6, size=10, opacity=0.6).encode(x=from_),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=dot, shape=shape),
    ]


def stopping_frame(summaries: Mapping[str, Sequence[RuleSummary]], target: float) -> pl.DataFrame:
    """A row a policy and rule at one target, with what became of its promise in words."""
    rows = [
        {
            "policy": policy,
            "rule": row.rule,
            "share": row.share,
            "recall": row.recall,
            "lowest_recall": row.lowest_recall,
            "share_needed": row.share_needed,
            "short": f"{row.n_short} of {row.n_reviews}",
            "verdict": _verdict(row),
        }
        for policy, those in summaries.items()
        for row in those
        if row.target == target
    ]
    if not rows:
        raise InputError(f"No stopping rule was replayed at the target {target}.")
    return pl.DataFrame(rows)


VERDICTS = {"certificate": PALETTE[0], "heuristic": PALETTE[4], "short too often": "#C1272D"}


def _verdict(row: RuleSummary) -> str:
    if row.p_value < 0.01:
        return "short too often"
    return "certificate" if row.n_certified == row.n_reviews else "heuristic"


def _verdict_colour() -> alt.Color:
    import altair as alt

    legend = alt.Legend(orient="top", symbolType="circle", symbolOpacity=1)
    scale = alt.Scale(domain=list(VERDICTS), range=list(VERDICTS.values()))
    return alt.Color("verdict:N", title=None, legend=legend, scale=scale)


def _stopping_tooltip() -> list[alt.Tooltip]:
    import altair as alt

    return [
        alt.Tooltip("rule:N"),
        alt.Tooltip("policy:N"),
        alt.Tooltip("share:Q", title="read", format=".1%"),
        alt.Tooltip("recall:Q", title="mean recall", format=".1%"),
        alt.Tooltip("lowest_recall:Q", title="lowest recall", format=".1%"),
        alt.Tooltip("short:N", title="below the target"),
    ]


def _line_at(target: float) -> Chart:
    import altair as alt

    place = pl.DataFrame({"recall": [target]})
    x = alt.X("recall:Q").scale(zero=False, nice=False)
    return alt.Chart(place).mark_rule(strokeDash=[5, 4], color=FAINT).encode(x=x)
