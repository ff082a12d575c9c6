"""ASReview on the reviews of the search benchmark, one file of results for each set, seed and version.

    RIFFLER_DATA=<folder> python benchmarks/search_peers.py --cache out/asreview --seeds 10 [--sets NAME ...]

ASReview gets a virtual environment of its own in the cache, or is taken from ``--python``. A run that is in the cache
already is not made again. Seeds go round the sets: seed 0 of every set first, then seed 1.

What is compared. ``asreview simulate --ai elas_u4`` retrains after every label and stops when the last relevant record
is found. Its state file lists all labels in order, the two priors first, and they are counted here as in every other
number of this benchmark: both are paid for, and the relevant one is found. Its own report leaves priors out.

What is measured, on Linux. User and system time and the largest resident size of the process, in one thread.
``setup_cpu_seconds`` is a run of the same set that stops after one question: start of Python, reading, featurising, one
training. It is measured once for each set; ``step_cpu_seconds``, the rest, is what is spent on questions.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl
from search_sets import SETS, Review, ReviewSet, labels_at_recall, review_of, sets_called

from riffler.data import atomic_write
from riffler.errors import DataSetMissing, RifflerError

REQUIREMENT = "asreview==3.*"
MODEL = "elas_u4"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# The usage that the system reports of a child counts the memory of the process that started it, so it tells its own.
LAUNCHER = """
import pathlib, runpy, sys
peak = pathlib.Path(sys.argv.pop(1))
try:
    runpy.run_module("asreview", run_name="__main__", alter_sys=True)
finally:
    status = pathlib.Path("/proc/self/status").read_text()
    peak.write_text(status.split("VmHWM:")[1].split()[0])
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process took."""

    cpu_seconds: float
    wall_seconds: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Peer:
    """An installed ASReview: the Python it lives in, and its version."""

    python: str
    version: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("out/asreview"), help="folder of the results")
    parser.add_argument("--seeds", type=int, default=10, help="how many runs of each set")
    parser.add_argument(
        "--sets", nargs="*", default=[], metavar="NAME", help="some of: " + ", ".join(s.title for s in SETS)
    )
    parser.add_argument("--python", help="a Python that has ASReview, instead of an environment in the cache")
    arguments = parser.parse_args()
    sets = sets_called(arguments.sets)
    arguments.cache.mkdir(parents=True, exist_ok=True)
    peer = installed_peer(arguments.python or own_environment(arguments.cache / "venv"))
    print(f"ASReview {peer.version}, {MODEL}; {platform.machine()}, {os.cpu_count()} cores; one thread", flush=True)
    for seed in range(arguments.seeds):
        started = perf_counter()
        for one in sets:
            run_cell(peer, one, seed, arguments.cache)
        print(f"seed {seed}: all sets after {perf_counter() - started:,.0f} s", flush=True)


def run_cell(peer: Peer, one: ReviewSet, seed: int, cache: Path) -> None:
    """Make one run unless it is in the cache, and say what came out."""
    try:
        review = review_of(one, seed)
    except DataSetMissing as missing:
        print(f"{one.title}: left out. {missing}", flush=True)
        return
    if cached_run(cache, peer.version, review) is None:
        result = simulated(peer, review, setup_seconds(peer, review, cache))
        write_json(cell_path(cache, peer.version, review), result)
        at, spent = result["labels_at_recall"], result["cpu_seconds"]
        print(f"{one.title} {seed}: {at['0.95']:,} / {at['1.0']:,} labels, {spent:,.1f} CPU s", flush=True)


def cached_run(cache: Path, version: str, review: Review) -> dict[str, Any] | None:
    """The stored result of a run, or None where there is none or the set or its priors have changed since."""
    path = cell_path(cache, version, review)
    if not path.exists():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    same = all(result[name] == value for name, value in facts_of(review).items())
    return result if same else None


def cell_path(cache: Path, version: str, review: Review) -> Path:
    """Where the result of a run lies."""
    return cache / version / f"{review.title}-{review.seed}.json"


def facts_of(review: Review) -> dict[str, Any]:
    """What a stored result must have been made of."""
    return {
        "set": review.title,
        "seed": review.seed,
        "n_items": review.collection.n_items,
        "n_relevant": review.n_relevant,
        "priors": [review.collection.ids[row] for row in review.priors],
    }


def simulated(peer: Peer, review: Review, setup: float) -> dict[str, Any]:
    """Run ASReview until the last relevant record is found; ``order`` has the ids as they were labelled."""
    with tempfile.TemporaryDirectory() as folder:
        usage = simulate(peer, review, Path(folder))
        rows = labelled_rows(Path(folder) / "run.asreview", review)
    return facts_of(review) | {
        "peer": "asreview",
        "version": peer.version,
        "model": MODEL,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "labels_at_recall": labels_at_recall(review.labels[rows].tolist(), review.n_relevant),
        "cpu_seconds": usage.cpu_seconds,
        "setup_cpu_seconds": setup,
        "step_cpu_seconds": max(0.0, usage.cpu_seconds - setup),
        "wall_seconds": usage.wall_seconds,
        "peak_mb": usage.peak_mb,
        "order": [review.collection.ids[row] for row in rows],
    }


def setup_seconds(peer: Peer, review: Review, cache: Path) -> float:
    """CPU seconds of a run that asks one question, measured once for each set."""
    path = cache / peer.version / f"{review.title}-setup.json"
    if not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            usage = simulate(peer, review, Path(folder), "--n-stop", str(len(review.priors) + 1))
        write_json(path, {"set": review.title, "version": peer.version, "cpu_seconds": usage.cpu_seconds})
    return float(json.loads(path.read_text(encoding="utf-8"))["cpu_seconds"])


def simulate(peer: Peer, review: Review, folder: Path, *more: str) -> Usage:
    """Write the records as CSV into ``folder`` and let ASReview simulate; its state file is ``run.asreview``."""
    records, state = folder / "records.csv", folder / "run.asreview"
    collection = review.collection
    columns = {"title": list(collection.titles), "abstract": list(collection.abstracts), "included": review.labels}
    pl.DataFrame(columns).write_csv(records)
    priors = [str(row) for row in review.priors]
    options = ["--ai", MODEL, "--seed", str(review.seed), "--prior-idx", *priors, "-o", str(state), *more]
    return measured(peer.python, ["simulate", str(records), *options], folder)


def labelled_rows(state: Path, review: Review) -> list[int]:
    """Rows in the order they were labelled, the priors first, read from the database in a state file."""
    with zipfile.ZipFile(state) as archive:
        archive.extract("results.db", state.parent)
    database = sqlite3.connect(state.parent / "results.db")
    try:
        found = database.execute("SELECT record_id, label FROM results ORDER BY rowid").fetchall()
    finally:
        database.close()
    rows = [int(row) for row, _ in found]
    in_order = rows[:2] == list(review.priors) and len(set(rows)) == len(rows)
    if not in_order or any(label != review.labels[row] for row, label in found):
        raise RifflerError(
            f"{review.title}, seed {review.seed}: the state file of ASReview was expected to begin with rows "
            f"{review.priors} and to hold each row once with its own label. Look at how this version numbers its rows."
        )
    return rows


def measured(python: str, arguments: list[str], folder: Path) -> Usage:
    """Run ASReview in one thread to its end, its output in ``folder``, and tell what it took."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    log, peak = folder / "log.txt", folder / "peak.txt"
    started = perf_counter()
    with log.open("w", encoding="utf-8") as sink:
        child = subprocess.Popen(
            [python, "-c", LAUNCHER, str(peak), *arguments],
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=environment | dict.fromkeys(ONE_THREAD, "1"),
        )
        _, status, used = os.wait4(child.pid, 0)  # the only call that tells the time of this one child
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise RifflerError(f"`asreview {' '.join(arguments)}` ended with {child.returncode}. Its last words:\n{tail}")
    return Usage(
        cpu_seconds=round(used.ru_utime + used.ru_stime, 3),
        wall_seconds=round(perf_counter() - started, 3),
        peak_mb=round(int(peak.read_text(encoding="utf-8")) / 1024, 1),
    )


def own_environment(folder: Path) -> str:
    """The Python of a virtual environment with ASReview, made where there is none."""
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
        (folder / "ready").touch()  # last, so that an install that was cut short is made again
    return str(python.absolute())


def installed_peer(python: str) -> Peer:
    """Ask a Python which ASReview it has."""
    question = "from importlib.metadata import version; print(version('asreview'))"
    asked = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False)
    if asked.returncode:
        raise RifflerError(f"{python} has no ASReview. Install {REQUIREMENT} there, or leave --python out.")
    return Peer(python=python, version=asked.stdout.strip())


def write_json(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        draft.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
