"""Structured learning: chunks beside python-crfsuite, letters, ranking, oracles, decoding, memory, and the solvers.

    python benchmarks/structured.py [--parts chunking,letters,ranking,oracle,viterbi,memory,solvers] [--out PATH]

Prints tables and writes them as JSON, with charts, into the folder (out/bench/structured). One thread; times are CPU
seconds, both sides measured in one run. Sets that are not in the folder RIFFLER_DATA are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import structured_cost
import structured_ranking
import structured_tagging
from at_k import about, machine, show, write
from rich.console import Console
from threadpoolctl import threadpool_limits

from riffler.evaluation.charts import Chart, method_colour, save_chart, styled

PARTS = ("chunking", "letters", "ranking", "oracle", "viterbi", "memory", "solvers")
TITLES = {
    "chunking": "Chunk F1 and training time; the difference is over resampled sentences, 95 %",
    "letters": "Share of letters read rightly: trained on one fold of ten, tested on nine",
    "ranking": "NDCG on test queries, settings chosen on validation queries",
    "oracle": "The precision-at-k oracle on a million rows, medians",
    "viterbi": "Tokens decoded a second on one core",
    "memory": "What solvers keep, against n x d floats",
    "solvers": "CPU seconds and oracle calls to a gap",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts to run")
    parser.add_argument("--out", type=Path, default=Path("out/bench/structured"))
    given = parser.parse_args()
    parts = given.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    console = Console(width=190)
    console.print(f"machine: {machine()}; command: {' '.join(sys.argv)}")
    with threadpool_limits(1):
        for part in parts:
            before = os.getloadavg()[0]
            rows = run_part(part, given.out)
            load = {"load average before": before, "load average after": os.getloadavg()[0]}
            write(given.out / f"{part}.json", {**about([0]), **load, "rows": rows})
            show(console, f"{TITLES[part]} (load average {before:.1f} before)", rows)
            if not rows:
                console.print(f"{part}: its data sets are not here; set RIFFLER_DATA to the folder that holds them")
            elif part == "memory":
                save_chart(memory_chart(rows), given.out / "memory.svg")


def run_part(part: str, folder: Path) -> list[dict[str, Any]]:
    if part == "chunking":
        return structured_tagging.chunking()
    if part == "letters":
        return structured_tagging.letters(folder)
    if part == "ranking":
        return structured_ranking.ranking()
    if part == "oracle":
        return structured_ranking.oracle_speed()
    rows: list[dict[str, Any]] = getattr(structured_cost, part)()
    return rows


def memory_chart(rows: list[dict[str, Any]]) -> Chart:
    """Draw megabytes on a log axis, a row of bars a set: what is kept, and n x d floats."""
    dense = {row["data"]: {"data": row["data"], "method": "n x d floats", "MB": row["n x d MB"]} for row in rows}
    kept = [{"data": row["data"], "method": row["what"], "MB": row["MB"]} for row in rows]
    frame = pl.DataFrame([*kept, *dense.values()]).with_columns(low=pl.lit(min(row["MB"] for row in rows) / 3))
    methods = list(dict.fromkeys(frame["method"].to_list()))
    x = alt.X("low:Q", title="megabytes").scale(type="log", nice=False).axis(format="~g", tickCount=8)
    y = alt.Y("method:N", title=None, sort=methods).axis(labelLimit=300)
    bars = alt.Chart(frame).mark_bar().encode(x=x, x2="MB:Q", y=y, color=method_colour(methods).legend(None))
    words = alt.Chart(frame).mark_text(align="left", dx=4).encode(x="MB:Q", y=y, text=alt.Text("MB:Q", format=",.3~r"))
    row = alt.Row("data:N", title=None).header(labelAngle=0, labelAlign="left")
    return styled((bars + words).properties(width=420, height=110).facet(row=row), "Memory kept by the solvers")


if __name__ == "__main__":
    main()
