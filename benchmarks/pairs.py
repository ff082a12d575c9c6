"""Ranking from pairs: quality beside the baselines, AUC against pairs, time to an AUC, the solver, draws, and growth.

    python benchmarks/pairs.py [--parts quality,curve,speed,solver,draws,growth] [--seeds 10] [--out out/bench/pairs]

Prints tables and writes them as JSON, with charts, into the folder. One thread; times are CPU seconds.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import altair as alt
import pairs_speed
import polars as pl
from at_k import about, machine, show, write
from rich.console import Console
from threadpoolctl import threadpool_limits

from riffler.evaluation.charts import FAINT, Chart, growth_chart, method_colour, save_chart, styled
from riffler.reproduction.active_pairs import CURVES, curves_beside
from riffler.reproduction.active_pairs_claims import corrected, duels, letter, shortfalls, totals
from riffler.reproduction.active_pairs_data import RankingProblem, problem_of
from riffler.reproduction.active_pairs_methods import OURS, OURS_AT_RANDOM, methods
from riffler.reproduction.active_pairs_runs import run_all

PARTS = ("quality", "curve", "speed", "solver", "draws", "growth")
RIVALS = ("WSVM", "ERankSVM", "CRR", "random", OURS_AT_RANDOM)
CURVE_PAIRS = 1_000_000
STOPS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, CURVE_PAIRS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts to run")
    parser.add_argument("--seeds", type=int, default=10, help="runs of the part on quality")
    parser.add_argument("--out", type=Path, default=Path("out/bench/pairs"))
    given = parser.parse_args()
    parts = given.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    console = Console(width=150)
    console.print(f"machine: {machine()}; command: {' '.join(sys.argv)}")
    with threadpool_limits(1):
        for part in parts:
            rows = run_part(part, given.seeds, given.out)
            write(given.out / f"{part}.json", {**about(list(range(given.seeds))), "rows": rows})
            show(console, part, rows)
            if part == "growth":
                points = [row for row in rows if row["kind"] == "rows"]
                save_chart(growth_chart(points, "Time and memory against rows"), given.out / "growth.svg")
                save_chart(pairs_growth_chart(rows), given.out / "growth-pairs.svg")


def run_part(part: str, n_seeds: int, folder: Path) -> list[dict[str, Any]]:
    if part == "quality":
        return quality(n_seeds, folder)
    if part == "curve":
        return curve(folder)
    rows: list[dict[str, Any]] = getattr(pairs_speed, part)()
    return rows


def pairs_growth_chart(rows: list[dict[str, Any]]) -> Chart:
    """Draw seconds against pairs on log-log axes, with a dashed line of growth in proportion."""
    found = pl.DataFrame([row for row in rows if row["kind"] == "pairs"])
    first = found["seconds"][0] / found["rows"][0]
    x = alt.X("rows:Q", title="pairs").scale(type="log", nice=False).axis(format="~s", tickCount=5)
    y = alt.Y("seconds:Q", title="time, CPU seconds").scale(type="log").axis(format="~g")
    line = (
        alt.Chart(found).mark_line(strokeWidth=2.2, point=True).encode(x=x, y=y, color=method_colour(["ActiveRankSVM"]))
    )
    proportion = alt.Chart(found.with_columns(seconds=pl.col("rows") * first))
    dashed = proportion.mark_line(strokeDash=[5, 4], color=FAINT).encode(x=x, y=y)
    return styled((dashed + line).properties(width=380, height=320), "Time against pairs; dashed: in proportion")


def expected_and_here() -> tuple[dict[str, Any], dict[str, RankingProblem]]:
    """The paper's table, and its sets that are here."""
    text = files("riffler.reproduction").joinpath("expected_active_pairs.toml").read_text(encoding="utf-8")
    expected = tomllib.loads(text)
    found = {name: problem_of(name, about) for name, about in expected["sets"].items()}
    return expected, {name: problem for name, problem in found.items() if problem is not None}


def curve(folder: Path) -> list[dict[str, Any]]:
    """AUC of one run along the number of pairs, up to a million, with the settings of the first run of quality."""
    problems = {name: problem for name, problem in expected_and_here()[1].items() if name in CURVES}
    cells = run_all(problems, list(methods().values()), 1, _tell, folder)
    rows = []
    for name, problem in problems.items():
        curves, all_pairs = curves_beside(problem, cells, CURVE_PAIRS, folder)
        for one in curves:
            at = dict(zip(one.n_pairs, one.auc, strict=True))
            reached = {f"{stop:,}": f"{at[min(at, key=lambda n: abs(n - stop))]:.4f}" for stop in STOPS}
            rows.append({"set": name, "method": one.method, "all pairs": f"{all_pairs:.4f}", **reached})
    return rows


def quality(n_seeds: int, folder: Path) -> list[dict[str, Any]]:
    """Mean AUC, the distance to all pairs, and who wins after Holm's correction, beside the paper's letters.

    Finished runs are kept in the folder, as those of ``riffler reproduce active-pairs``.
    """
    expected, problems = expected_and_here()
    if not problems:
        return []
    cells = run_all(problems, list(methods().values()), n_seeds, _tell, folder)
    ours = corrected(duels(cells, OURS, RIVALS))
    short = shortfalls(cells)
    rows: list[dict[str, Any]] = []
    for name in problems:
        mine = {duel.rival: duel for duel in ours if duel.data == name}
        mean = {method: sum(c.auc for c in cells[name, method]) / n_seeds for method in methods()}
        letters = {
            rival: f"{letter(mine[rival].difference, mine[rival].p_value)} ({_theirs(expected, name, rival)})"
            for rival in RIVALS
        }
        areas = {method: round(value, 4) for method, value in mean.items()}
        rows.append(
            {"set": name, **{f"{m} AUC": f"{v:.4f}" for m, v in areas.items()}, "short by": short[name], **letters}
        )
    sums = {rival: "/".join(map(str, totals(ours, rival))) for rival in RIVALS}
    blank = {f"{method} AUC": "" for method in methods()}
    return [*rows, {"set": "win/loss/tie", **blank, "short by": max(short.values()), **sums}]


def _theirs(expected: dict[str, Any], name: str, rival: str) -> str:
    """The paper's letter, where it has the rival."""
    rivals = expected["rivals"]
    return str(expected["sets"][name]["cells"][rivals.index(rival)]) if rival in rivals else "-"


def _tell(share: float, doing: str) -> None:
    print(f"{share:.0%} {doing}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
