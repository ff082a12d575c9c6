"""How good the first items of queries are, along their number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from riffler.evaluation.query_report import mean_ndcg

if TYPE_CHECKING:
    from riffler.evaluation.charts import Chart

DEPTHS = 30


def ndcg_chart(
    grades: ArrayLike,
    scores: Mapping[str, ArrayLike],
    queries: ArrayLike,
    n_top: int,
    title: str = "NDCG of the first items of queries",
) -> Chart:
    """Draw NDCG of the first n items of a query, averaged over the queries, against n; ``n_top`` is marked."""
    import altair as alt

    from riffler.evaluation.charts import FAINT, method_colour, styled

    given, groups = np.asarray(grades, dtype=np.float64), np.asarray(queries)
    depths = range(1, min(max(DEPTHS, n_top), int(np.unique(groups, return_counts=True)[1].max())) + 1)
    rows = [
        {"method": method, "first": n, "ndcg": mean_ndcg(given, np.asarray(one), groups, n)}
        for method, one in reversed(list(scores.items()))
        for n in depths
    ]
    x = alt.X("first:Q", title="first n items of a query").axis(grid=False, tickMinStep=1)
    y = alt.Y("ndcg:Q", title="NDCG of the first n, mean over queries").scale(zero=False)
    tooltip = [alt.Tooltip("method:N"), alt.Tooltip("first:Q"), alt.Tooltip("ndcg:Q", format=".4f")]
    lines = alt.Chart(pl.DataFrame(rows)).mark_line(strokeWidth=2.2)
    mark = alt.Chart(pl.DataFrame({"first": [n_top]})).mark_rule(strokeDash=[5, 4], color=FAINT).encode(x="first:Q")
    drawn = lines.encode(x=x, y=y, color=method_colour(list(scores)), tooltip=tooltip)
    return styled((mark + drawn).properties(width=640, height=360), title)
