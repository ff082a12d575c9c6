"""Benchmark of the search for everything relevant; prints data, seeds, machine, versions and command with the numbers.

RIFFLER_DATA=<folder> python -m benchmarks.search PART ... [--runs 10] [--jobs 2] [--out out/search]

reviews     labels and processor time until recall .95 and 1, beside ASReview (run benchmarks/search_peers.py first)
topics      share reviewed at high recall beside greedy, on the protocol of the paper
noise       the same with wrong answers
starts      from the oddest relevant items, and from a sentence
stopping    stopping rules replayed over recorded reviews: reliability and cost
live        stopping rules in live reviews: those that cannot be replayed, and ours
speed       one step and featurising on large collections, one thread

Every run is a file in the folder of results: a part that was cut short goes on where it was. Tables (Markdown) and
charts (SVG, PNG) are written there. With ``--report`` nothing is run, and the tables are made from what is there.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is loaded; times are those of one thread
sys.path.insert(
    0, str(Path(__file__).parent)
)  # so that `-m benchmarks.search` finds the parts, and so do its processes

PARTS = ("reviews", "topics", "noise", "starts", "stopping", "live", "speed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=Path("out/search"), help="folder of the results")
    parser.add_argument(
        "--peers", type=Path, default=Path("out/asreview"), help="results of benchmarks/search_peers.py"
    )
    parser.add_argument("--runs", type=int, default=10, help="seeds of the main comparisons")
    parser.add_argument("--runs-more", type=int, default=3, help="seeds of all others")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--policies", default="", help="instead of those that a part compares, separated by commas")
    parser.add_argument("--only", default="", help="sets and topics whose title holds one of these, by commas")
    parser.add_argument("--arms", default="lda", help="how soft clusters are made: lda, nmf or kmeans")
    parser.add_argument("--report", action="store_true", help="only write tables and charts from what has been run")
    given = parser.parse_args()

    from search_runs import Settings  # after the number of threads is set

    settings = Settings(
        out=given.out,
        peers=given.peers,
        runs=given.runs,
        runs_more=given.runs_more,
        jobs=given.jobs,
        policies=tuple(word for word in given.policies.split(",") if word),
        only=tuple(word for word in given.only.split(",") if word),
        arms=given.arms,
    )
    for part in given.parts:
        module = import_module(f"search_{part}")  # a part loads nothing of the others
        if part == "speed":
            module.main()  # keeps nothing: times are of this machine and this moment
            continue
        if not given.report:
            module.make(settings)
        module.report(settings)


if __name__ == "__main__":
    main()
