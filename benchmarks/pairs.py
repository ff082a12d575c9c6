"""Ranking from pairs: quality beside the baselines, time to a given AUC, the solver of all pairs, draws, and growth.

    python benchmarks/pairs.py [--parts quality,speed,solver,draws,growth] [--seeds 10] [--out out/bench/pairs]

Prints tables and writes them as JSON, with charts, into the folder. One thread; times are CPU seconds.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pairs_speed
from at_k import about, machine, show, write
from rich.console import Console
from threadpoolctl import threadpool_limits

from riffler.evaluation.charts import growth_chart, save_chart
from riffler.reproduction.active_pairs_claims import corrected, duels, letter, shortfalls, totals
from riffler.reproduction.active_pairs_data import problem_of
from riffler.reproduction.active_pairs_methods import OURS, methods
from riffler.reproduction.active_pairs_runs import run_all

PARTS = ("quality", "speed", "solver", "draws", "growth")
RIVALS = ("WSVM", "ERankSVM", "CRR", "random")


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
            rows = quality(given.seeds, given.out) if part == "quality" else getattr(pairs_speed, part)()
            write(given.out / f"{part}.json", {**about(list(range(given.seeds))), "rows": rows})
            show(console, part, rows)
            if part == "growth":
                points = [row for row in rows if row["kind"] == "rows"]
                save_chart(growth_chart(points, "Time and memory against rows"), given.out / "growth.svg")


def quality(n_seeds: int, folder: Path) -> list[dict[str, Any]]:
    """Mean AUC, the distance to all pairs, and who wins after Holm's correction, beside the paper's letters.

    Finished runs are kept in the folder, as those of ``riffler reproduce active-pairs``.
    """
    text = files("riffler.reproduction").joinpath("expected_active_pairs.toml").read_text(encoding="utf-8")
    expected = tomllib.loads(text)
    found = {name: problem_of(name, about) for name, about in expected["sets"].items()}
    problems = {name: problem for name, problem in found.items() if problem is not None}
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
            rival: f"{letter(mine[rival].difference, mine[rival].p_value)}"
            f" ({expected['sets'][name]['cells'][expected['rivals'].index(rival)]})"
            for rival in RIVALS
        }
        areas = {method: round(value, 4) for method, value in mean.items()}
        rows.append(
            {"set": name, **{f"{m} AUC": f"{v:.4f}" for m, v in areas.items()}, "short by": short[name], **letters}
        )
    sums = {rival: "/".join(map(str, totals(ours, rival))) for rival in RIVALS}
    blank = {f"{method} AUC": "" for method in methods()}
    return [*rows, {"set": "win/loss/tie", **blank, "short by": max(short.values()), **sums}]


def _tell(share: float, doing: str) -> None:
    print(f"{share:.0%} {doing}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
