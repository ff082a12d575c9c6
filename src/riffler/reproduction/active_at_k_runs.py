"""All cases, each with all its seeds; runs that are finished are kept in a file, so that a stopped run goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from riffler.evaluation.active_runs import ActiveRun
from riffler.reproduction import Progress
from riffler.reproduction.active_at_k_cases import Case
from riffler.reproduction.active_at_k_feeds import run_case
from riffler.reproduction.kept_runs import KeptRuns
from riffler.reproduction.problems import Problem

FILE = "active-at-k-runs.jsonl"


def run_all(
    cases: Iterable[Case],
    found: Mapping[str, Problem],
    n_runs: int,
    progress: Progress = lambda share, doing: None,
    folder: Path | None = None,
) -> dict[Case, list[ActiveRun]]:
    """Run the seeds 0 to ``n_runs - 1`` of every case, one thread; a case that is named twice is run once.

    With a folder, finished runs are written there and taken from there; remove the file after changing the code.
    """
    from threadpoolctl import threadpool_limits

    kept = KeptRuns(None if folder is None else folder / FILE, run_as_json, run_from_json)
    wanted = list(dict.fromkeys(cases))
    results: dict[Case, list[ActiveRun]] = {case: [] for case in wanted}
    with threadpool_limits(1):
        for number, case in enumerate(wanted):
            problem = found[case.feed.data]
            for seed in range(n_runs):
                progress((number + seed / n_runs) / len(wanted), f"{case.feed.data}, {case.way.name}, k = {case.k}")
                key = f"{case!r} rows={len(problem.y)} seed={seed}"
                run = kept.get(key)
                if run is None:
                    run = run_case(case, problem, seed)
                    kept.add(key, run)
                results[case].append(run)
    return results


def run_as_json(run: ActiveRun) -> dict[str, Any]:
    """Give a run as plain values; what could not be measured is None."""
    held_out = None if np.isnan(run.held_out_precision) else run.held_out_precision
    return {
        "precision": run.precision.tolist(),
        "n_asked": run.n_asked.tolist(),
        "n_asked_below": run.n_asked_below.tolist(),
        "seconds": [round(float(seconds), 4) for seconds in run.seconds],
        "held_out_precision": held_out,
    }


def run_from_json(entry: Mapping[str, Any]) -> ActiveRun:
    """Read what `run_as_json` gave."""
    arrays = {name: np.array(entry[name]) for name in ("precision", "n_asked", "n_asked_below", "seconds")}
    held_out = entry["held_out_precision"]
    return ActiveRun(**arrays, held_out_precision=float("nan") if held_out is None else held_out)
