"""The pictures of the reproduction of Renders (2017), in the style of all Riffler charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riffler.evaluation.charts import Chart, method_colour, styled
from riffler.reproduction.active_search_claims import ratio
from riffler.reproduction.active_search_runs import RECALLS
from riffler.reproduction.active_search_ways import BUDGET

if TYPE_CHECKING:
    from riffler.reproduction.active_search import ActiveSearchAgain

BOTH = ("greedy", "thompson")


def ratios_chart(run: ActiveSearchAgain) -> Chart:
    """Draw Thompson's share divided by greedy's at each recall, topic by topic: the paper's and ours with intervals."""
    import altair as alt

    frame = pl.DataFrame(_ratio_rows(run), schema=["topic", "recall", "whose", "ratio", "low", "high"], orient="row")
    base = alt.Chart(frame).encode(
        x=alt.X("whose:N", title=None).axis(labels=False, ticks=False),
        color=method_colour(["Riffler", "paper"]),
    )
    scale = alt.Scale(zero=False, type="log")
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title="Thompson / greedy", scale=scale), y2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(y=alt.Y("ratio:Q", scale=scale))
    line = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(strokeDash=[4, 4], color="#777").encode(y="one:Q")
    panels = [
        alt.layer(line, bars, points, data=frame)
        .transform_filter(f"datum.recall == {recall}")
        .properties(width=60, height=160)
        .facet(column=alt.Column("topic:N", title=f"recall {recall:.2f}"))
        for recall in RECALLS
    ]
    return styled(alt.vconcat(*panels), "Share read by Thompson sampling, divided by greedy's: below 1 it saves")


def _ratio_rows(run: ActiveSearchAgain) -> list[tuple[str, float, str, float, float, float]]:
    rows = []
    for place, recall in enumerate(RECALLS):
        for topic in run.plan.topics:
            found = ratio(run.runs(topic, "thompson"), run.runs(topic, "greedy"), recall)
            rows.append((topic, recall, "Riffler", *found))
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
