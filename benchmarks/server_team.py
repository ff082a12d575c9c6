"""A team at one review on PostgreSQL, over loopback: many read at once, and everything they get is checked."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from server_process import DESCRIPTION, RUN, records
from server_texts import SOUGHT
from sqlalchemy import func, select

from riffler.data.collection_reading import read_collection
from riffler.review.database import reading
from riffler.review.schema import LedgerRow
from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.team.office import Office, open_office
from tests.postgres import DURABLE, PostgresServer, free_port, server_programs

PASSWORD = "benchmark of the team"
EVERY = 250
PATIENCE_SECONDS = 900.0


@dataclass
class Load:
    """What a run did and saw; times in seconds."""

    took: dict[str, list[float]] = field(default_factory=lambda: {"next": [], "shown": [], "answer": [], "health": []})
    acknowledged: dict[str, int] = field(default_factory=dict)  # number of the answer by its key
    on_screens: dict[str, str] = field(default_factory=dict)  # who reads a document
    answered: set[str] = field(default_factory=set)
    doubles: list[str] = field(default_factory=list)
    replaced: int = 0  # documents that were fetched and then given to somebody else, or answered in time
    waits: int = 0  # looks at an empty queue
    faults: list[str] = field(default_factory=list)
    memory: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """How the reviewers of a run work: how many, how long they read a document (mean), and when they stop."""

    n_reviewers: int
    reading_seconds: float
    n_answers: int
    seed: int


@contextmanager
def team_review(out: Path, n: int, plan: Plan) -> Iterator[tuple[str, Review, list[str], set[str]]]:
    """Make a review of n records on a PostgreSQL server of its own; give database, review, keys and the truth."""
    programs = server_programs()
    if programs is None:
        raise SystemExit(
            "No PostgreSQL: install Debian's package postgresql, or name its bin folder in RIFFLER_POSTGRES."
        )
    collection = read_collection(records(out, n, plan.seed))
    relevant = {
        name for name, topic in zip(collection.ids, collection.columns["topic"], strict=True) if topic == SOUGHT
    }
    with PostgresServer(programs, (*DURABLE, "shared_buffers=256MB")) as postgres:
        address = postgres.new_database()
        with open_office(address) as office:
            owner = office.people.make_account("owner", PASSWORD, is_admin=True)
            review = office.create("team", ReviewSettings(description=DESCRIPTION), by=owner.id)
            start = time.monotonic()
            review.add_documents(collection)
            print(f"team: {n:,} records imported in {time.monotonic() - start:.1f} s", flush=True)
            yield address, review, _keys(office, review, plan.n_reviewers), relevant


@contextmanager
def serving(address: str, n: int) -> Iterator[tuple[list[str], list[int]]]:
    """Run `riffler serve` n times on one database, as behind a proxy, and give the addresses and processes."""
    environment = {**os.environ, "RIFFLER_DATABASE": address, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ports = [free_port() for _ in range(n)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RUN, "serve", "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
        )
        for port in ports
    ]
    try:
        yield [f"http://127.0.0.1:{port}/api/v1" for port in ports], [process.pid for process in processes]
    finally:
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait()


def run_load(
    bases: list[str], servers: list[int], review: Review, keys: list[str], relevant: set[str], plan: Plan
) -> Load:
    """Let all reviewers read until enough was answered; each of them comes to one of the servers."""
    return asyncio.run(_run([f"{base}/reviews/{review.identity}" for base in bases], servers, keys, relevant, plan))


def check_nothing_lost(review: Review, load: Load) -> int:
    """Return how many acknowledged answers the database does not have, or has otherwise; 0 is wanted."""
    with reading(review._engine) as session:
        rows = dict(
            session.execute(select(LedgerRow.request_key, LedgerRow.id).where(LedgerRow.review_id == review.id)).all()
        )
        n_documents = session.scalar(
            select(func.count(func.distinct(LedgerRow.document_id))).where(LedgerRow.review_id == review.id)
        )
    lost = [key for key, number in load.acknowledged.items() if rows.get(key) != number]
    return len(lost) + (len(rows) - (n_documents or 0))  # a document that was answered twice is one too many


def wait_until_learned(base: str, review: Review, key: str) -> None:
    """Wait until the learner has read the texts."""
    end = time.monotonic() + PATIENCE_SECONDS
    with httpx.Client(headers=_headers(key), trust_env=False, timeout=60) as client:
        while time.monotonic() < end:
            try:
                reply = client.get(f"{base}/reviews/{review.identity}/progress")
                if reply.status_code == 200 and reply.json()["made_at"] is not None:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.2)
    raise SystemExit("The learner did not get there in time.")


def _keys(office: Office, review: Review, n: int) -> list[str]:
    keys = []
    for number in range(n):
        account = office.people.make_account(f"reviewer {number}", PASSWORD)
        office.people.add_member(review.id, account.id, "reviewer", by=None)
        keys.append(office.people.make_token(review.id, account.id, "benchmark")[1])
    return keys


def _headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def _run(bases: list[str], servers: list[int], keys: list[str], relevant: set[str], plan: Plan) -> Load:
    load = Load()
    watching = asyncio.create_task(_watch(load, servers, plan))
    limits = httpx.Limits(max_connections=len(keys) + 1, max_keepalive_connections=len(keys) + 1)
    async with httpx.AsyncClient(limits=limits, trust_env=False, timeout=60) as client:
        readers = [
            _read(
                client,
                bases[number % len(bases)],
                load,
                f"reviewer {number}",
                key,
                relevant,
                plan,
                np.random.default_rng([plan.seed, number]),
            )
            for number, key in enumerate(keys)
        ]
        asking = asyncio.create_task(_ask_for_nothing(client, bases[0], load))
        await asyncio.gather(*readers)
        asking.cancel()
    watching.cancel()
    load.memory.append(_megabytes(servers) | {"answers": len(load.acknowledged)})
    return load


async def _read(
    client: httpx.AsyncClient, base: str, load: Load, name: str, key: str, relevant: set[str], plan: Plan,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Read as the page does: fetch some ahead, show the first, read it, answer."""
    headers = _headers(key)
    await asyncio.sleep(float(rng.uniform(0, plan.reading_seconds)))
    number = 0
    while len(load.acknowledged) < plan.n_answers and not load.faults:
        reply = await _timed(load, "next", client.get(f"{base}/next?n=3", headers=headers))
        if reply.status_code != 200:
            load.faults.append(f"{reply.status_code}: {reply.text[:200]}")
            return
        if not reply.json():
            load.waits += 1
            await asyncio.sleep(0.15)
            continue
        one = reply.json()[0]
        document = one["document"]["id"]
        shown = await _timed(
            load, "shown", client.post(f"{base}/suggestions/{one['suggestion']}/shown", headers=headers)
        )
        if shown.status_code != 204:
            load.replaced += 1
            continue
        if load.on_screens.get(document, name) != name or document in load.answered:
            load.doubles.append(document)
        load.on_screens[document] = name
        await asyncio.sleep(float(rng.exponential(plan.reading_seconds)))
        number += 1
        body = {
            "document": document, "verdict": "relevant" if document in relevant else "irrelevant",
            "key": f"{name}/{number}", "suggestion": one["suggestion"], "seconds": 1.0, "expect": None,
        }  # fmt: skip
        said = await _timed(load, "answer", client.post(f"{base}/answers", json={"answers": [body]}, headers=headers))
        if said.status_code != 200:
            load.faults.append(f"{said.status_code}: {said.text[:200]}")
            return
        load.acknowledged[body["key"]] = said.json()["receipts"][0]["id"]
        load.answered.add(document)
        del load.on_screens[document]


async def _timed(load: Load, name: str, asked: Any) -> httpx.Response:  # noqa: ANN401 - whatever httpx gives to wait for
    start = time.perf_counter()
    reply: httpx.Response = await asked
    load.took[name].append(time.perf_counter() - start)
    return reply


async def _ask_for_nothing(client: httpx.AsyncClient, base: str, load: Load) -> None:
    """Ask now and then for what is hardly any work: how long machine, server, database and client take at the least."""
    while True:
        await _timed(load, "health", client.get(base.partition("/reviews/")[0] + "/health"))
        await asyncio.sleep(0.2)


async def _watch(load: Load, servers: list[int], plan: Plan) -> None:
    """Note the memory of all processes now and then."""
    seen = -EVERY
    while len(load.acknowledged) < plan.n_answers:
        if len(load.acknowledged) - seen >= EVERY:
            seen = len(load.acknowledged)
            load.memory.append(_megabytes(servers) | {"answers": seen})
        await asyncio.sleep(0.5)


def _megabytes(servers: list[int]) -> dict[str, float]:
    """Return the memory of the servers, the mean of one, and of the only learner."""
    processes = [psutil.Process(server) for server in servers]
    learners = [child.memory_info().rss for process in processes for child in process.children()]
    mean = sum(process.memory_info().rss for process in processes) / len(processes)
    return {"server": mean / 1e6, "learner": sum(learners) / 1e6}
