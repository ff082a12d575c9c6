"""The pictures of the reproduction of Renders (2017), in the style of all Riffler charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riffler.evaluation.charts import FAINT, Chart, method_colour, styled
from riffler.reproduction.active_search_claims import ratio
from riffler.reproduction.active_search_runs import RECALLS
from riffler.reproduction.active_search_ways import BUDGET

if TYPE_CHECKING:
    from riffler.reproduction.active_search import ActiveSearchAgain

BOTH = ("greedy", "thompson")


def ratios_chart(run: ActiveSearchAgain) -> Chart:
    """Draw Thompson's share divided by greedy's at each recall, topic by topic: the paper's and ours with intervals."""
    import altair as alt

    frame = pl.DataFrame(_ratio_rows(run), schema=["topic", "recall", "method", "ratio", "low", "high"], orient="row")
    panels = [
        _ratio_panel(frame.filter(pl.col("recall") == recall)).properties(title=f"recall {recall:.2f}", width=210)
        for recall in RECALLS
    ]
    return styled(
        alt.hconcat(*panels).resolve_scale(y="shared"),
        "Share read by Thompson sampling, divided by greedy's: below 1 it saves",
    )


def _ratio_panel(frame: pl.DataFrame) -> Chart:
    import altair as alt

    base = alt.Chart(frame).encode(
        x=alt.X("topic:N", title=None),
        xOffset=alt.XOffset("method:N"),
        color=method_colour(["Riffler", "paper"]),
    )
    scale = alt.Scale(zero=False, type="log", nice=False)
    ticks = alt.Axis(values=[0.5, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0])
    bars = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low:Q", title="Thompson / greedy", scale=scale, axis=ticks), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=50, opacity=1).encode(y=alt.Y("ratio:Q", scale=scale))
    line = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(strokeDash=[4, 4], color=FAINT).encode(y="one:Q")
    return line + bars + points


def _ratio_rows(run: ActiveSearchAgain) -> list[tuple[str, float, str, float, float, float]]:
    rows = []
    for place, recall in enumerate(RECALLS):
        for topic in run.plan.topics:
            found = ratio(run.runs(topic, "thompson"), run.runs(topic, "greedy"), recall)
            # one run has no interval: it is drawn as the point alone
            bounds = found[1:] if math.isfinite(found[2]) else (found[0], found[0])
            rows.append((topic, recall, "Riffler", found[0], *bounds))
            published = run.expected["table"].get(topic)
            if published is not None and not math.isnan(published["thompson"][place]):
                theirs = published["thompson"][place] / published["greedy"][place]
                rows.append((topic, recall, "paper", theirs, theirs, theirs))
    return rows


def curves_chart(run: ActiveSearchAgain) -> Chart:
    """Draw what is still to be found against the share read, mean of the runs, log axis: the end is what matters."""
    import altair as alt

    shares = np.linspace(0.0, BUDGET, 81)
    rows = [
        (
            topic,
            name,
            100 * float(share),
            float(np.mean([1 - one.recall_at(float(share)) for one in run.runs(topic, name)])),
        )
        for topic in run.plan.topics
        for name in BOTH
        for share in shares
    ]
    frame = pl.DataFrame(rows, schema=["topic", "method", "read", "missing"], orient="row").filter(
        pl.col("missing") >= 1e-3
    )
    lines = alt.Chart(frame).mark_line(strokeWidth=2).encode(
        x=alt.X("read:Q", title="read, %"),
        y=alt.Y("missing:Q", title="still to be found").scale(type="log", domain=[1e-3, 1]),
        color=method_colour(list(BOTH)),
    )  # fmt: skip
    panels = lines.properties(width=200, height=160).facet(facet=alt.Facet("topic:N", title=None), columns=3)
    return styled(panels, "Share of the relevant documents that is still to be found")
