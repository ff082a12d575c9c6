"""What collections of any size take, by lines through what the parts index, steps and dask measured; no more is run.

Assumptions beyond what was measured: documents as those that were generated; a step goes over rows at the speed of the
largest collection that was measured, in proportion to the cores; of a machine of a cluster 48 GB are for rows, which it
has in its page cache, and 16 cores for scoring, each with a worker; rows that are not there come from a disk at 2 GB a
second. What a worker holds for every document is held by one of them only. Indexing holds the same for all sizes, but
for the table of ids, which doubles as documents come; its bytes are not measured but counted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from riffler.disk.id_book import most_bytes

SIZES = tuple(10**power for power in range(4, 10))
CACHE_BYTES, CORES, DISK_BYTES = 48e9, 16, 2e9


def computed_sizes(out: Path, measured: list[int]) -> list[dict[str, Any]]:
    """Say what each power of ten takes, from the results of two measured sizes or more."""
    index = [_results(out / f"index-{n}.json") for n in measured]
    steps = [_results(out / f"steps-{n}.json") for n in measured]
    largest = index[-1]["bytes_a_document"]
    speed = index[-1]["documents"] / index[-1]["seconds"]
    start, slope = steps[-1]["fit"]["start_seconds"], steps[-1]["fit"]["seconds_a_million"] / 1e6
    threads = steps[-1]["steps"][-1]["threads"]
    search = _line(measured, [one["memory"]["peak_own_mb"] for one in steps])
    beside_ids = max(one["peak_own_mb"] - _ids_mb(n) for n, one in zip(measured, index, strict=True))
    worker = _line(measured, [_of_two_workers(out, n) for n in measured])
    print(f"sizes: from {', '.join(f'{n:,}' for n in measured)} documents")
    print(f"sizes: memory of indexing: {beside_ids:.0f} MB and the table of ids")
    for what, (base, each) in (("search", search), ("one of two workers", worker)):
        print(f"sizes: memory of {what}: {base:.0f} MB and {1e6 * each:.1f} bytes a document")
    rows = []
    for n in SIZES:
        n_machines = int(np.ceil(n * largest["rows"] / CACHE_BYTES))
        row = {
            "documents": n, "disk_gb": n * largest["all"] / 1e9, "rows_gb": n * largest["rows"] / 1e9,
            "index_hours": n / speed / 3600, "step_seconds": max(start, 0.0) + slope * n,
            "step_from_disk": max(slope * n, n * largest["rows"] / DISK_BYTES),
            "search_mb": search[0] + search[1] * n, "index_mb": beside_ids + _ids_mb(n),
            "worker_mb": worker[0] + worker[1] * n * 2 / (CORES * n_machines), "machines": n_machines,
            "step_on_cluster": max(start, 0.0) + slope * n * threads / (CORES * n_machines),
        }  # fmt: skip
        rows.append(row)
        print(
            f"sizes: | {n:,} | {row['disk_gb']:.3g} GB | {row['rows_gb']:.3g} GB | {row['index_hours']:.2g} h | "
            f"{row['index_mb']:,.0f} MB | {row['step_seconds']:.3g} s | {row['step_from_disk']:.3g} s | "
            f"{row['search_mb']:,.0f} MB | {n_machines} | {row['worker_mb']:,.0f} MB | {row['step_on_cluster']:.3g} s |"
        )
    return rows


def _ids_mb(n: int) -> float:
    """Megabytes of the table of ids at its peak."""
    return most_bytes(n) / 1e6


def _of_two_workers(out: Path, n: int) -> float:
    """Megabytes that one of two workers holds beyond mapped files."""
    found: float = next(one["worker_mb"] for one in _results(out / f"dask-{n}.json")["overhead"] if one["workers"] == 2)
    return found


def _line(sizes: list[int], values: list[float]) -> tuple[float, float]:
    """Intercept and slope; one size alone has no slope."""
    if len(sizes) == 1:
        return values[0], 0.0
    slope, intercept = np.polyfit(sizes, values, 1)
    return float(intercept), float(slope)


def _results(path: Path) -> Any:  # noqa: ANN401 - JSON
    if not path.exists():
        raise SystemExit(
            f"{path} is not there. Run the parts index, steps and dask with that number of --documents first."
        )
    return json.loads(path.read_text(encoding="utf-8"))["results"]
