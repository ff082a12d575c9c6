"""A simulated search as the search benchmark makes it, and the cells that keep its results: one small file a run.

A run is the live loop answered by recorded labels. Its cell keeps how many labels had been given when each relevant
item was found, from which all measures follow. A cell that is there is not made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import riffler
from riffler.data import Collection, atomic_write
from riffler.disk import DiskCollection
from riffler.evaluation.search_measures import n_needed
from riffler.features.clusters import SoftClusters
from riffler.records import IntArray, Matrix
from riffler.search import WITH_CLUSTERS
from riffler.search.learner import ClassifierSettings
from riffler.search.loop import ActiveSearch

SEARCH = ("search", "engine", "features", "_fast")  # code that a run is made of
RATHER_FEW = 300  # below so many relevant items, recall .99 asks for all but one


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command was told: where results go, how many runs, which policies and which sets."""

    out: Path
    peers: Path
    runs: int
    runs_more: int
    jobs: int
    policies: tuple[str, ...]  # empty: those that a part compares
    only: tuple[str, ...]  # words of titles; empty: everything
    arms: str  # how soft clusters are made

    def policies_or(self, *usual: str) -> tuple[str, ...]:
        """The policies asked for, or the usual ones of a part."""
        return self.policies or usual

    def wants(self, title: str) -> bool:
        """Whether a set or topic of this title is asked for."""
        return not self.only or any(word in title for word in self.only)


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """One run to be made.

    relevant, irrelevant : rows that are known from the start
    goal : relevant items after which the run ends; most : labels after which it ends in any case, None for all
    noise : share of the answers that are wrong, whatever the policy; the same ones in every run of a seed
    """

    collection: Collection | DiskCollection
    labels: IntArray
    features: Matrix
    policy: str
    seed: int
    goal: int
    relevant: Sequence[int] = ()
    irrelevant: Sequence[int] = ()
    batch: int = 1
    most: int | None = None
    classifier: ClassifierSettings | None = None
    clusters: SoftClusters | None = None
    description: str | None = None
    noise: float = 0.0


def run(course: Course) -> dict[str, Any]:
    """Search until the goal, and tell after how many labels each relevant item was found, and what it took.

    The truth decides what counts as found, and not the answer, which may be wrong. Labels known from the start count as
    given.
    """
    _warm_up(course)
    row_of = {name: row for row, name in enumerate(course.collection.ids)}
    answers = _answers(course)
    rows = [*course.relevant, *course.irrelevant]
    most = course.collection.n_items if course.most is None else course.most
    n_found, n_steps = int(course.labels[rows].sum()), 0
    wall, cpu = perf_counter(), process_time()
    search = _begun(course)
    while n_found < course.goal and len(rows) < most:
        ids = search.suggest(min(course.batch, most - len(rows)))
        asked = [row_of[name] for name in ids]
        search.answer(ids, answers[asked].tolist())
        rows += asked
        n_found += int(course.labels[asked].sum())
        n_steps += 1
    return {
        "n_items": course.collection.n_items,
        "n_relevant": int(course.labels.sum()),
        "n_prior": len(course.relevant) + len(course.irrelevant),
        "n_labels": len(rows),
        "places": (np.flatnonzero(course.labels[rows]) + 1).tolist(),
        "n_steps": n_steps,
        "cpu_seconds": round(process_time() - cpu, 4),
        "wall_seconds": round(perf_counter() - wall, 4),
    }


def _begun(course: Course) -> ActiveSearch:
    ids = course.collection.ids
    more: dict[str, Any] = {} if course.classifier is None else {"classifier": course.classifier}
    return ActiveSearch(
        course.collection,
        policy=course.policy,
        features=course.features,
        description=course.description,
        relevant=[ids[row] for row in course.relevant],
        irrelevant=[ids[row] for row in course.irrelevant],
        clusters=course.clusters if course.policy in WITH_CLUSTERS else None,
        seed=course.seed,
        **more,
    )


def _warm_up(course: Course) -> None:
    """Load the compiled loops with made-up answers, so that no run pays for it."""
    search = _begun(course)
    ids = search.suggest(min(course.batch, 2))
    search.answer(ids, [at % 2 for at in range(len(ids))])
    search.suggest(1)


def _answers(course: Course) -> IntArray:
    """The label of every item, wrong where a number drawn by seed and id lies below the noise."""
    if course.noise == 0.0:
        return course.labels
    draws = np.array([_uniform(f"{course.seed}/noise/{name}") for name in course.collection.ids])
    wrong: IntArray = np.where(draws < course.noise, 1 - course.labels, course.labels)
    return wrong


def _uniform(key: str) -> float:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) / 2.0**64


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One result: its file, what it must have been made with, how to make it (in any process), and by which code."""

    path: Path
    facts: Mapping[str, Any]
    make: Callable[[], dict[str, Any]]
    rooms: tuple[str, ...] = SEARCH

    def read(self) -> dict[str, Any] | None:
        """The stored result, or None where there is none that was made with these facts."""
        if not self.path.exists():
            return None
        found: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        same = all(found.get(name) == value for name, value in self.facts.items())
        return found if same else None


def run_missing(cells: Sequence[Cell], jobs: int) -> list[dict[str, Any]]:
    """Make the cells that are not there, ``jobs`` at a time, and return all of them in the order given."""
    waiting = [cell for cell in cells if cell.read() is None]
    print(f"{len(cells) - len(waiting)} of {len(cells)} runs are there", flush=True)
    started = perf_counter()
    for at, words in enumerate(_work(waiting, jobs), start=1):
        print(f"{at} of {len(waiting)} after {perf_counter() - started:,.0f} s: {words}", flush=True)
    return known(cells)


def known(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The results that are there."""
    return [found for cell in cells if (found := cell.read()) is not None]


def _work(waiting: Sequence[Cell], jobs: int) -> Iterator[str]:
    if jobs == 1 or len(waiting) < 2:
        yield from map(_made, waiting)
        return
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    # few at a time in advance: neighbours share a data set, which a process then reads once
    parallel = Parallel(n_jobs=jobs, batch_size=1, pre_dispatch=jobs, return_as="generator_unordered")
    yield from parallel(delayed(_made)(cell) for cell in waiting)


def _made(cell: Cell) -> str:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        result = cell.make()
    made_by = {"code": code_stamp(cell.rooms), "riffler": riffler.__version__, "machine": machine()}
    write_json(cell.path, {**cell.facts, **result, **made_by})
    words = [str(value) for value in cell.facts.values() if not isinstance(value, list | dict)]
    return ", ".join(words) + f" ({result.get('n_labels', 0):,} labels, {result.get('cpu_seconds', 0.0):,.1f} CPU s)"


@lru_cache(maxsize=2)
def code_stamp(rooms: tuple[str, ...]) -> str:
    """A short text that changes with the code in some rooms of the package, so that a page can tell what was mixed."""
    digest, home = hashlib.sha256(), Path(riffler.__file__).parent
    for room in rooms:
        for path in sorted((home / room).glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def machine() -> str:
    """The kind of machine and how many cores it has."""
    return f"{platform.machine()}, {os.cpu_count()} cores"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file that is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        draft.write_text(json.dumps(content) + "\n", encoding="utf-8")


def n_wanted(recall: float, n_relevant: int) -> int:
    """Relevant items that count as a recall; .99 of few is all but one.

    >>> n_wanted(0.99, 76), n_wanted(0.99, 300), n_wanted(0.95, 40)
    (75, 297, 38)
    """
    if recall == 0.99 and n_relevant < RATHER_FEW:
        return n_relevant - 1
    return n_needed(recall, n_relevant)


def labels_at(result: Mapping[str, Any], recall: float) -> int:
    """Labels given until so much was found."""
    return int(result["places"][n_wanted(recall, result["n_relevant"]) - 1])
