"""Benchmark of large collections; prints data, seed, machine, load and command with the numbers.

    python -m benchmarks.scale PART ... [--out out/scale] [--documents 10000000]

index       n generated documents (benchmarks/scale_texts.py): seconds, peak memory, bytes a document
steps       score all and pick 100, beside one pass `X @ w` over the same mapped rows, from 10^4 documents to all;
            memory of a search in all of them
dask        2 and 4 worker processes beside threads; a worker killed in each of 50 steps
training    TopKRanker, SGDAtK and RankSVM out of core and in memory
two-stage   labels to recall where all documents are scored now and then only, on public sets
review      `riffler review`: the first document, and the next ones
sizes       what collections of 10^4 to 10^9 documents take, computed from the results of index, steps
            and dask

Everything is made of --documents and --seed and kept in the folder of results: a collection that is there is used
again, but indexed anew by the part index. Results are written as JSON, those of steps as a chart too. Times want an
otherwise idle machine, and rows in the page cache enough memory for them: 0.6 GB a million documents.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

try:
    import psutil  # noqa: F401 - what follows needs it, and the rest of the extra
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is not installed: benchmarks need the extra bench (pip install -e '.[bench]').")

from at_k import machine
from scale_dask import N_KILLS, measure_dask
from scale_index import measure_index
from scale_search import measure_review, measure_two_stage
from scale_sizes import computed_sizes
from scale_steps import measure_steps
from scale_training import RANKERS, measure_training

from riffler.data.atomic import atomic_write

PARTS = ("index", "steps", "dask", "training", "two-stage", "review", "sizes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=Path("out/scale"), help="folder of the results")
    parser.add_argument("--documents", type=int, default=10_000_000, help="of the collection that is generated")
    parser.add_argument("--sizes", type=int, nargs="*", help="of the part steps (default: powers of ten)")
    parser.add_argument("--rows", type=int, default=5_000_000, help="of the part training")
    parser.add_argument("--methods", nargs="*", choices=RANKERS, default=list(RANKERS), help="of the part training")
    parser.add_argument("--workers", type=int, nargs="*", default=[2, 4], help="of the part dask")
    parser.add_argument("--kills", type=int, default=N_KILLS, help="of the part dask")
    parser.add_argument("--repeats", type=int, default=7, help="of steps that are timed")
    parser.add_argument("--runs", type=int, default=2, help="of the part two-stage")
    parser.add_argument("--batch", default="25", help="of the part two-stage: answers between two turns, or autotar")
    parser.add_argument("--answers", type=int, default=200, help="of the part review")
    parser.add_argument(
        "--measured", type=int, nargs="*", default=[10**6, 10**7], help="--documents, of the part sizes"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    command = f"python -m benchmarks.scale {' '.join(sys.argv[1:])}"
    for part in given.parts:
        load = os.getloadavg()[0]
        print(f"machine: {machine()}; load {load:.1f}; seed {given.seed}\ncommand: {command}", flush=True)
        found = _measured(part, given)
        facts = {"machine": machine(), "load": load, "seed": given.seed, "command": command, "results": found}
        with atomic_write(given.out / f"{part}-{given.documents}.json") as draft:
            draft.write_text(json.dumps(facts, indent=1), encoding="utf-8")


def _measured(part: str, given: argparse.Namespace) -> Any:  # noqa: ANN401 - what JSON can hold
    out, n, seed = given.out, given.documents, given.seed
    if part == "index":
        return measure_index(out, n, seed)
    if part == "steps":
        powers = [10**power for power in range(4, 10) if 10**power < n]
        return measure_steps(out, given.sizes or [*powers, n], seed, given.repeats)
    if part == "dask":
        return measure_dask(out, n, seed, given.workers, given.kills, given.repeats)
    if part == "training":
        return measure_training(out, min(given.rows, n), n, seed, given.methods)
    if part == "two-stage":
        return measure_two_stage(out, seed, given.runs, given.batch)
    if part == "sizes":
        return computed_sizes(out, sorted(given.measured))
    return measure_review(out, n, seed, given.answers)


if __name__ == "__main__":
    main()
