"""Precision at the top from full labels: quality, the price in AUC, speed and memory, beside tuned peers.

    python benchmarks/at_k.py [--parts quality,tradeoff,speed,growth] [--seeds 0 1 2] [--sets a9a ...] [--out out/bench]

Prints tables and writes them as JSON, with charts, into the folder. Everything runs on one thread a process; the parts
on speed and memory want an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import quality
import sklearn
import speed
import tradeoff
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import riffler
from riffler.data import atomic_write
from riffler.evaluation.charts import growth_chart, save_chart, tradeoff_chart

PARTS = ("quality", "tradeoff", "speed", "growth")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts to run")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--sets", nargs="*", default=[], help="only these sets, by the names of the tables")
    parser.add_argument("--families", nargs="+", default=["linear", "non-linear"], choices=["linear", "non-linear"])
    parser.add_argument("--resume", action="store_true", help="take results of the part on quality that are there")
    parser.add_argument("--workers", type=int, default=2, help="processes for the part on quality")
    parser.add_argument("--out", type=Path, default=Path("out/bench/at_k"))
    arguments = parser.parse_args()
    parts = arguments.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    console = Console(width=150)
    console.print(f"machine: {machine()}; command: {' '.join(sys.argv)}")
    if "quality" in parts:
        run_quality(arguments, console)
    with threadpool_limits(1):
        if "tradeoff" in parts:
            run_tradeoff(arguments.out, console)
        if "speed" in parts:
            run_speed(arguments.out, console)
    if "growth" in parts:
        run_growth(arguments.out, console)


def machine() -> str:
    """What the numbers were measured on."""
    versions = f"riffler {riffler.__version__}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {versions}"


def run_quality(arguments: argparse.Namespace, console: Console) -> None:
    found = quality.run(
        arguments.seeds,
        arguments.sets,
        arguments.families,
        arguments.workers,
        arguments.out / "quality",
        resume=arguments.resume,
    )
    if not found["cells"]:
        console.print("quality: no data set is on this machine; set RIFFLER_DATA to the folder that holds them")
        return
    found["summary"] = quality.summary(found)
    write(arguments.out / "quality.json", {**about(arguments.seeds), **found})
    for k in sorted({cell["k"] for cell in found["cells"]}):
        for measure in ("precision", "auc", "seconds"):
            titles, names, values = quality.averages(found["cells"], k, measure)
            table = Table(title=f"{measure} at k = {k}, mean over seeds {arguments.seeds}")
            for column in ("data", *names):
                table.add_column(column, justify="left" if column == "data" else "right")
            for title, row in zip(titles, values, strict=True):
                table.add_row(title, *(f"{value:.3f}" for value in row))
            table.add_section()
            table.add_row("mean", *(f"{value:.3f}" for value in np.nanmean(values, axis=0)))
            console.print(table)
    console.print_json(json.dumps(found["summary"]))


def run_tradeoff(out: Path, console: Console) -> None:
    points = tradeoff.curve()
    ends = tradeoff.far_end()
    write(out / "tradeoff.json", {**about([0]), "curve": points, "far_end": ends})
    show(console, "Precision at 25 % of the positives against AUC", points)
    show(console, "AUC at order_weight=1 beside logistic regression", ends)
    if points:
        chart = tradeoff_chart(points, title="What the top costs in AUC, along order_weight")
        for ending in ("png", "svg", "html"):
            save_chart(chart, out / f"tradeoff.{ending}")


def run_speed(out: Path, console: Console) -> None:
    epochs = speed.as_rows(speed.epoch_costs())
    show(console, "One epoch: (epoch - selection) / product, the goal is at most 2", epochs)
    fits = speed.fit_against_cv()
    show(console, "TopKRanker.fit against LogisticRegressionCV with as many candidates", fits)
    write(out / "speed.json", {**about([0]), "epochs": epochs, "fits": fits})


def run_growth(out: Path, console: Console) -> None:
    points = speed.growth(str(Path(__file__).parent))
    show(console, "Time and memory beyond the input against rows", points)
    write(out / "growth.json", {**about([0]), "points": points})
    chart = growth_chart(points, title="Time and memory beyond the input, 30 dense columns")
    for ending in ("png", "svg", "html"):
        save_chart(chart, out / f"growth.{ending}")


def about(seeds: list[int]) -> dict[str, Any]:
    """What every JSON file starts with."""
    return {"machine": machine(), "command": " ".join(sys.argv), "seeds": seeds}


def write(path: Path, value: dict[str, Any]) -> None:
    with atomic_write(path) as draft:
        draft.write_text(json.dumps(value, indent=1, default=float), encoding="utf-8")


def show(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    table = Table(title=title)
    for column in rows[0]:
        table.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:,.3f}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(table)


if __name__ == "__main__":
    main()
