"""The pictures of the reproduction of Shen and Lin (2013), in the style of all Riffler charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riffler.evaluation.charts import FAINT, Chart, method_colour, styled

if TYPE_CHECKING:
    from riffler.reproduction.active_pairs import ActivePairsAgain


def pairs_chart(run: ActivePairsAgain) -> Chart:
    """Draw AUC against the number of pairs, one panel a set; the dashed level is RankSVM on all pairs."""
    import altair as alt

    rows = [
        {"data": name, "method": curve.method, "pairs": n, "auc": auc}
        for name, curves in run.curves.items()
        for curve in curves
        for n, auc in zip(curve.n_pairs, curve.auc, strict=True)
    ]
    methods = list(dict.fromkeys(curve.method for curves in run.curves.values() for curve in curves))
    x = alt.X("pairs:Q", title="pairs").scale(type="log", nice=False).axis(format="~s", tickCount=5)
    y = alt.Y("auc:Q", title="AUC on the test part").scale(zero=False)
    panels = []
    for name in run.curves:
        frame = pl.DataFrame([row for row in rows if row["data"] == name])
        lines = alt.Chart(frame).mark_line(strokeWidth=2.2).encode(x=x, y=y, color=method_colour(methods))
        level = pl.DataFrame({"auc": [run.all_pairs[name]]})
        rule = alt.Chart(level).mark_rule(strokeDash=[5, 4], color=FAINT).encode(y="auc:Q")
        panels.append((rule + lines).properties(title=name, width=280, height=240))
    return styled(alt.hconcat(*panels), "AUC against the number of pairs; dashed: all pairs")


def points_chart(run: ActivePairsAgain) -> Chart:
    """Draw AUC against the share of points among the candidates, with standard errors, a line a reading."""
    import altair as alt

    rows = []
    for reading, shares in run.points.items():
        for share, areas in shares.items():
            error = float(np.std(areas, ddof=1) / np.sqrt(len(areas))) if len(areas) > 1 else 0.0
            mean = float(np.mean(areas))
            rows.append({"method": reading, "share": share, "auc": mean, "low": mean - error, "high": mean + error})
    x = alt.X("share:Q", title="share of points among the candidates").axis(format="%")
    y = alt.Y("auc:Q", title="AUC on the test part").scale(zero=False)
    base = alt.Chart(pl.DataFrame(rows)).encode(x=x, color=method_colour(list(run.points)))
    band = base.mark_area(opacity=0.15).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(point=True, strokeWidth=2.2).encode(y=y)
    return styled((band + line).properties(width=420, height=280), f"Pairs and points together: {run.points_on}")
