"""Benchmark of issue-sized questions about buying labels; prints data, seeds, machine and command with the numbers.

python benchmarks/active.py quality [--seeds 10] [--jobs 2]     runs, or goes on with, all streams
python benchmarks/active.py ablation                            ActiveTopK with each part taken out
python benchmarks/active.py speed                               one thread, ratios to X @ w in the same run
python benchmarks/active.py report                              tables and pictures from what has been run
"""

from __future__ import annotations

import argparse
from pathlib import Path

import active_quality
import active_report
import active_sets
import active_speed

MAIN = ("ActiveTopK", "sequential", "exponential", "uniform")
BESIDE = ("ActiveTopK thrifty", "ActiveTopK generous", "ActiveTopK linear", active_quality.FULL)
BASELINES = ("inverse", "selective sampling", "modified perceptron", "IWAL")
PARTS = (
    "random cover", "buys the top", "buys the uncertain", "buys the contested", "no random draws",
    "inverse weights", "never forgets",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("quality", "ablation", "speed", "report"))
    parser.add_argument("--seeds", type=int, default=10, help="runs of the main comparison")
    parser.add_argument("--few-seeds", type=int, default=3, help="runs of everything else")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", default="", help="only sets whose title holds one of these, separated by commas")
    parser.add_argument("--out", type=Path, default=Path("out/active"))
    given = parser.parse_args()
    if given.part == "speed":
        active_speed.main()
        return
    results = active_quality.Results.read(given.out / "cells.jsonl")
    words = [word for word in given.sets.split(",") if word]
    sets = [one for one in active_sets.SETS if not words or any(word in one.title for word in words)]
    if given.part == "quality":
        active_quality.run_missing(results, MAIN, range(given.seeds), sets, given.jobs)
        active_quality.run_missing(results, BESIDE, range(given.few_seeds), sets, given.jobs)
        active_quality.run_missing(results, BASELINES, range(given.few_seeds), sets, given.jobs, kinds=("50",))
    elif given.part == "ablation":
        active_quality.run_missing(results, PARTS, range(given.few_seeds), sets, given.jobs)
    active_report.main(results, given.out)


if __name__ == "__main__":
    main()
