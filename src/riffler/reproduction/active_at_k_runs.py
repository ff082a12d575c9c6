"""All cases, each with all its seeds; runs that are finished are kept in a file, so that a stopped run goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from riffler.evaluation.active_runs import ActiveRun
from riffler.reproduction import Progress
from riffler.reproduction.active_at_k_cases import Case
from riffler.reproduction.active_at_k_feeds import run_case
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

    kept = KeptRuns(None if folder is None else folder / FILE)
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


class KeptRuns:
    """Finished runs in a file of one JSON object a line; None keeps nothing. Runs of another version are not taken."""

    def __init__(self, path: Path | None) -> None:
        from riffler import __version__

        self.path, self._version = path, __version__
        self._runs: dict[str, ActiveRun] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else ():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # the line that was being written when a run was stopped
                continue
            if entry["riffler"] == self._version:
                self._runs[entry["key"]] = _run_from(entry["run"])

    def get(self, key: str) -> ActiveRun | None:
        """Give the run of that key, or None."""
        return self._runs.get(key)

    def add(self, key: str, run: ActiveRun) -> None:
        """Write a run at the end of the file."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A line cut short by a stop must not swallow this one: every entry starts on a line of its own.
        line = json.dumps({"riffler": self._version, "key": key, "run": run_as_json(run)}, allow_nan=False)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}" if file.tell() else line)


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


def _run_from(entry: Mapping[str, Any]) -> ActiveRun:
    arrays = {name: np.array(entry[name]) for name in ("precision", "n_asked", "n_asked_below", "seconds")}
    held_out = entry["held_out_precision"]
    return ActiveRun(**arrays, held_out_precision=float("nan") if held_out is None else held_out)
