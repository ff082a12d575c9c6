"""Benchmark of the review server, over loopback; prints data, seed, machine, load and command with the numbers.

    python -m benchmarks.server PART ... [--out out/server]

start       from the command to the first document, for 20,000 and 100,000 records: a new review, and one begun before
next        how long the next document and an answer take while the learner learns from each answer
memory      of the server and of the learner over 20,000 answers
team        fifty reviewers on a review of 100,000 records on PostgreSQL, 20,000 answers: how long the next document
            takes while the learner learns, whether anything is lost or given to two, and the memory

The records are made of docstrings (benchmarks/server_texts.py); relevant is what is about statistics. Results are
written as JSON to the folder of results, the memory as a chart too. Times want an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psutil

sys.path.insert(0, str(Path(__file__).parent))

from at_k import machine
from server_process import DESCRIPTION, Server, first_document_seconds, made_review, records
from server_team import Plan, check_nothing_lost, run_load, serving, team_review, wait_until_learned

from riffler.data.atomic import atomic_write
from riffler.evaluation.charts import save_chart, styled

PARTS = ("start", "next", "memory", "team")
WANTED_SECONDS = {20_000: 10.0, 100_000: 60.0}
WANTED_MS, WANTED_TEAM_MS = 50.0, 100.0
N_NEXT, N_MEMORY, EVERY = 500, 20_000, 250
READING_SECONDS = 0.1  # far less than anybody needs; without any the learner has no time to learn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=Path("out/server"), help="folder of the results")
    parser.add_argument("--records", type=int, nargs="*", default=list(WANTED_SECONDS), help="of the part start")
    parser.add_argument("--answers", type=int, default=N_MEMORY, help="of the parts memory and team")
    parser.add_argument("--reviewers", type=int, default=50, help="of the part team")
    parser.add_argument("--reading", type=float, default=3.0, help="mean seconds that one reads, of the part team")
    parser.add_argument("--team-records", type=int, default=100_000, help="of the part team")
    parser.add_argument("--servers", type=int, default=1, help="of the part team, as behind a proxy")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    print(f"machine: {machine()}; load {os.getloadavg()[0]:.1f}; seed {given.seed}")
    print(f"command: python -m benchmarks.server {' '.join(sys.argv[1:])}", flush=True)
    for part in given.parts:
        if part == "start":
            found: Any = [_start(given.out, n, given.seed) for n in given.records]
        elif part == "next":
            found = _next(given.out, given.seed)
        elif part == "team":
            found = _team(
                given.out,
                Plan(given.reviewers, given.reading, given.answers, given.seed),
                given.team_records,
                given.servers,
            )
        else:
            found = _memory(given.out, given.answers, given.seed)
        facts = {"machine": machine(), "load": os.getloadavg()[0], "seed": given.seed, "results": found}
        with atomic_write(given.out / f"{part}.json") as draft:
            draft.write_text(json.dumps(facts, indent=1), encoding="utf-8")


def _start(out: Path, n: int, seed: int) -> dict[str, float]:
    """Start on a new file of records, and once more on the review that it made."""
    source = records(out, n, seed)
    review = source.with_suffix(".riffler")
    review.unlink(missing_ok=True)
    seconds = [first_document_seconds(path) for path in (source, review)]
    print(
        f"start: {n:,} records ({source.stat().st_size / 1e6:.0f} MB): first document after {seconds[0]:.1f} s "
        f"(wanted: {WANTED_SECONDS.get(n, float('nan')):g} s); begun before: {seconds[1]:.1f} s",
        flush=True,
    )
    return {"records": n, "new": seconds[0], "begun": seconds[1]}


def _next(out: Path, seed: int, n: int = 20_000) -> dict[str, dict[str, float]]:
    """Read one document after the other, several a second: each answer makes the learner learn."""
    review = made_review(out / "next.riffler", records(out, n, seed))
    took: dict[str, list[float]] = {"next": [], "answer": [], "next 5": []}
    with Server(review) as server:
        server.wait_until_learned()
        for number in range(N_NEXT):
            shown = server.timed(took["next"], partial(server.next, 1))
            server.timed(took["answer"], partial(server.answer, shown, f"next/{number}"))
            server.timed(took["next 5"], partial(server.next, 5))
            time.sleep(READING_SECONDS)
        behind = server.get("/review")["learner"]["behind"]
    found = {name: _percentiles(values) for name, values in took.items()}
    for name, values in found.items():
        print(f"next: {n:,} records, {name}: " + ", ".join(f"{key} {ms:.1f} ms" for key, ms in values.items()))
    print(f"next: wanted is a p95 of {WANTED_MS:g} ms; in the end {behind} of {N_NEXT} answers were not learned yet")
    return found


def _percentiles(seconds: list[float]) -> dict[str, float]:
    ms = 1000 * np.array(seconds)
    return {"p50": float(np.median(ms)), "p95": float(np.quantile(ms, 0.95)), "max": float(ms.max())}


def _memory(out: Path, n_answers: int, seed: int) -> list[dict[str, float]]:
    """Answer about most of a collection, ten at a time, and look at both processes now and then."""
    review = made_review(out / "memory.riffler", records(out, n_answers + 5_000, seed))
    seen: list[dict[str, float]] = []
    start = time.monotonic()
    with Server(review) as server:
        server.wait_until_learned()
        n = 0
        while n < n_answers:
            batch = server.next(10)
            server.answer(batch, f"memory/{n}")
            before, n = n, n + len(batch)
            if before // EVERY != n // EVERY or not seen:
                seen.append({"answers": n, "seconds": time.monotonic() - start, **_megabytes(server)})
        server.wait_until_learned()
        seen.append({"answers": n, "seconds": time.monotonic() - start, **_megabytes(server)})
    for name in ("server", "learner"):
        early, late = seen[len(seen) // 4][name], seen[-1][name]
        print(f"memory: {name}: {early:.0f} MB after a quarter, {late:.0f} MB after {n:,} answers")
    print(f"memory: {seen[-1]['seconds']:.0f} s in all, {1000 * seen[-1]['seconds'] / n:.1f} ms an answer")
    _memory_chart(out / "memory.svg", seen)
    return seen


def _team(out: Path, plan: Plan, n: int, n_servers: int) -> dict[str, Any]:
    """Let a team read, and check what it got."""
    with (
        team_review(out, n, plan) as (address, review, keys, relevant),
        serving(address, n_servers) as (bases, processes),
    ):
        wait_until_learned(bases[0], review, keys[0])
        start = time.monotonic()
        load = run_load(bases, processes, review, keys, relevant, plan)
        seconds = time.monotonic() - start
        n_lost = check_nothing_lost(review, load)
        n_learned = len({entry.item for entry in review.ledger()})  # a control document may be there twice
    found = {name: _percentiles(values) for name, values in load.took.items()}
    for name, values in found.items():
        print(
            f"team: {plan.n_reviewers} reviewers, {name}: "
            + ", ".join(f"{key} {ms:.1f} ms" for key, ms in values.items())
        )
    n_said = len(load.acknowledged)
    print(
        f"team: {n_said:,} answers in {seconds:.0f} s ({n_said / seconds:.1f}/s), {n_learned:,} learned; wanted is "
        f"a p95 of {WANTED_TEAM_MS:g} ms for next\nteam: lost or doubled answers {n_lost}, documents on two screens "
        f"{len(load.doubles)}, given to somebody else before they were shown {load.replaced}, looks at an empty queue "
        f"{load.waits}, faults {load.faults[:3]}"
    )
    for name in ("server", "learner"):
        early, late = load.memory[len(load.memory) // 4][name], load.memory[-1][name]
        print(f"team: memory of the {name}: {early:.0f} MB after a quarter, {late:.0f} MB in the end")
    _memory_chart(out / "team-memory.svg", load.memory)
    return {
        "ms": found, "answers": n_said, "seconds": seconds, "learned": n_learned, "lost": n_lost,
        "doubles": len(load.doubles), "replaced": load.replaced, "waits": load.waits, "memory": load.memory,
    }  # fmt: skip


def _megabytes(server: Server) -> dict[str, float]:
    return {name: psutil.Process(pid).memory_info().rss / 1e6 for name, pid in server.pids().items()}


def _memory_chart(path: Path, seen: list[dict[str, float]]) -> None:
    import altair as alt

    rows = [
        {"answers": one["answers"], "MB": one[name], "process": name} for one in seen for name in ("server", "learner")
    ]
    chart = alt.Chart(pl.DataFrame(rows)).mark_line().encode(x="answers:Q", y="MB:Q", color="process:N")
    save_chart(styled(chart, f"Memory over a review ({DESCRIPTION!r})"), path)


if __name__ == "__main__":
    main()
