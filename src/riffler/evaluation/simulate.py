"""The live search answered by recorded labels: the same loop, and only the oracle differs.

Every run is one file (`run_file`). A run that is finished is not run again, one that was killed goes on where it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from riffler.errors import InputError
from riffler.evaluation.run_file import RunFile, Step, check_settings, open_run, read_run
from riffler.evaluation.search_measures import Discovery, discovery
from riffler.evaluation.search_problem import Problem, drawn_by_key
from riffler.oracles import ArrayOracle
from riffler.records import FloatArray, IntArray
from riffler.search import WITH_CLUSTERS
from riffler.search.loop import ActiveSearch
from riffler.search.rescoring import Rescoring
from riffler.search.schedule import autotar_batch

AUTOTAR = "autotar"

Tell = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How every run goes.

    batch : items between two updates, or "autotar": 1 at first, then a tenth more each time, rounded up
    prior_relevant, prior_irrelevant : items known from the start, drawn by the seed; the same for every policy
    description : what is sought, in a sentence
    budget : share of the collection after which a run ends if it has not found everything
    rescoring : when all items are scored
    """

    batch: int | str = 1
    prior_relevant: int = 1
    prior_irrelevant: int = 1
    description: str | None = None
    budget: float = 1.0
    rescoring: Rescoring = Rescoring()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        if not (self.batch == AUTOTAR or (isinstance(self.batch, int) and self.batch >= 1)):
            raise InputError(f"batch must be a number of at least 1, or {AUTOTAR!r}, got {self.batch!r}.")
        if self.prior_relevant < 0 or self.prior_irrelevant < 0:
            raise InputError(
                f"prior_relevant and prior_irrelevant must be at least 0, got {self.prior_relevant!r} and "
                f"{self.prior_irrelevant!r}."
            )
        if not 0 < self.budget <= 1:
            raise InputError(f"budget must be a share of the collection above 0 and at most 1, got {self.budget!r}.")

    def batch_after(self, n_answered: int) -> int:
        """Size of the batch that follows so many answers, priors apart.

        >>> [Plan(batch="autotar").batch_after(n) for n in (0, 1, 3, 6)], Plan(batch=25).batch_after(6)
        ([1, 2, 3, 4], 25)
        """
        return self.batch if isinstance(self.batch, int) else autotar_batch(n_answered)


@dataclass(frozen=True, slots=True, eq=False)
class SearchRun:
    """A run as its file tells it.

    items, answers : in asking order, the first ``n_prior`` known from the start
    seconds, cpu : of each batch; the first is the start of the search
    """

    topic: str
    policy: str
    seed: int
    path: Path
    n_items: int
    n_relevant: int
    n_prior: int
    items: tuple[str, ...]
    answers: IntArray
    seconds: FloatArray
    cpu: FloatArray

    @property
    def discovery(self) -> Discovery:
        """The answers for the measures."""
        return discovery(self.answers, self.n_items, self.n_relevant)


@dataclass(frozen=True, slots=True)
class Task:
    """One run to be made."""

    policy: str
    seed: int
    plan: Plan
    path: Path
    data: str  # fingerprint of the problem
    topic: str
    clusters: str | None = None  # how they were made

    @property
    def settings(self) -> dict[str, object]:
        """What a file must have been recorded with to be gone on with; a budget may be raised later."""
        from riffler import __version__

        plan = self.plan
        return {
            "topic": self.topic, "policy": self.policy, "seed": self.seed, "batch": plan.batch,
            "prior_relevant": plan.prior_relevant, "prior_irrelevant": plan.prior_irrelevant,
            "description": plan.description, "clusters": self.clusters, "data": self.data, "riffler": __version__,
            **({"rescoring": asdict(plan.rescoring)} if plan.rescoring.every > 1 else {}),
        }  # fmt: skip


def simulate(
    problems: Sequence[Problem],
    policies: Sequence[str],
    plan: Plan,
    folder: Path,
    *,
    n_runs: int = 10,
    seed: int = 0,
    n_jobs: int = 1,
    tell: Tell = lambda share, doing: None,
) -> list[SearchRun]:
    """Run every policy on every problem from the seeds ``seed`` to ``seed + n_runs - 1``; files go to ``folder``.

    Returns the runs by problem, policy and seed. ``tell`` hears the share done and what is going on.
    """
    if n_runs < 1 or not policies:
        raise InputError("A simulation needs at least one run and one policy.")
    if plan.description is not None:
        for problem in problems:
            if not any(problem.collection.texts):
                raise InputError(f"{problem.collection.source}: there are no texts to find by a description.")
    jobs = [
        (problem, task)
        for problem in problems
        for task in tasks_of(problem, policies, plan, folder, n_runs, seed, several=len(problems) > 1)
    ]
    waiting = [(problem, task) for problem, task in jobs if not _is_finished(problem, task)]
    done = len(jobs) - len(waiting)
    tell(done / len(jobs), f"{done} of {len(jobs)} runs")
    for n, _ in enumerate(_work(waiting, n_jobs, tell, done, len(jobs)), start=done + 1):
        tell(n / len(jobs), f"{n} of {len(jobs)} runs")
    made = [recorded_run(problem, task) for problem, task in jobs]
    order = {name: at for at, name in enumerate(policies)}
    places = {problem.name: at for at, problem in enumerate(problems)}
    return sorted(made, key=lambda run: (places[run.topic], order[run.policy], run.seed))


def tasks_of(
    problem: Problem, policies: Sequence[str], plan: Plan, folder: Path, n_runs: int, seed: int, *, several: bool
) -> list[Task]:
    """The runs of a problem, seed by seed, so that what is done first compares all policies."""
    home = folder / file_name(problem.name) if several else folder
    data, made = problem.fingerprint(), None if problem.clusters is None else problem.clusters.method
    return [
        Task(
            policy,
            one,
            plan,
            home / f"{file_name(policy)}-seed{one}.jsonl",
            data,
            problem.name,
            made if policy in WITH_CLUSTERS else None,
        )
        for one in range(seed, seed + n_runs)
        for policy in policies
    ]


def file_name(name: str) -> str:
    """A name as part of a path: what paths do not take is replaced, and then names stay different by a few letters.

    >>> file_name("greedy"), file_name("use::editing")
    ('greedy', 'use_editing-ac62')
    """
    plain = re.sub(r"[^\w.+-]+", "_", name).strip("._")[:60]
    return plain if plain == name else f"{plain}-{sha256(name.encode()).hexdigest()[:4]}"


def _work(waiting: list[tuple[Problem, Task]], n_jobs: int, tell: Tell, done: int, n_all: int) -> Iterable[None]:
    if n_jobs == 1 or len(waiting) < 2:
        for at, (problem, task) in enumerate(waiting):

            def watch(share: float, at: int = at, task: Task = task) -> None:
                tell((done + at + share) / n_all, f"{' '.join([task.topic, task.policy]).strip()}, seed {task.seed}")

            run_task(problem, task, watch)
            yield
        return
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    slim = {id(problem): problem.slim(texts=task.plan.description is not None) for problem, task in waiting}
    yield from parallel(delayed(_in_a_process)(slim[id(problem)], task, os.getpid()) for problem, task in waiting)


def _in_a_process(problem: Problem, task: Task, parent: int) -> None:
    from threadpoolctl import threadpool_limits

    def end_with_the_parent(_: float) -> None:
        if hasattr(os, "getppid") and os.getppid() != parent:
            os._exit(1)  # nobody waits for this run any more, and somebody may go on with it; its batch is written

    with threadpool_limits(limits=1):
        run_task(problem, task, end_with_the_parent)


def run_task(problem: Problem, task: Task, watch: Callable[[float], None] = lambda share: None) -> None:
    """Run until everything relevant is found or the budget is spent, from where an earlier process left it.

    ``watch`` hears after every batch which share of the relevant items is found.
    """
    _warm_up(problem)
    with open_run(task.path, task.settings) as file:
        oracle = ArrayOracle(problem.labels)
        search = _begun(problem, task, oracle, file)
        rows_of = problem.row_finder()
        n_prior = sum(entry.origin == "prior" for entry in search.ledger)
        while (n_left := _labels_left(search, problem, task.plan)) > 0:
            wall, cpu = perf_counter(), process_time()
            ids = search.suggest(min(task.plan.batch_after(len(search.ledger) - n_prior), n_left))
            if not ids:
                raise InputError(
                    f"The policy {task.policy!r} suggests nothing, and {n_left:,} labels may be asked for."
                )
            search.answer(ids, oracle.ask(rows_of(ids).tolist()).tolist())
            file.write(search.ledger, Step(perf_counter() - wall, process_time() - cpu))
            watch(search.progress().n_relevant / problem.n_relevant)


def _begun(problem: Problem, task: Task, oracle: ArrayOracle, file: RunFile) -> ActiveSearch:
    """The search at its start, or rebuilt from what was recorded."""
    plan = task.plan
    settings: dict[str, Any] = {
        "policy": task.policy, "features": problem.features, "description": plan.description, "seed": task.seed,
        "clusters": problem.clusters if task.policy in WITH_CLUSTERS else None, "rescoring": plan.rescoring,
        "engine": problem.engine or "local",
    }  # fmt: skip
    if file.recorded is not None:
        return ActiveSearch.replay(problem.collection, file.recorded.ledger, **settings)
    wall, cpu = perf_counter(), process_time()
    rows = draw_priors(problem, plan.prior_relevant, plan.prior_irrelevant, task.seed)
    known: dict[int, list[str]] = {1: [], 0: []}
    for row, answer in zip(rows.tolist(), oracle.ask(rows.tolist(), origin="prior").tolist(), strict=True):
        known[answer].append(problem.collection.ids[row])
    search = ActiveSearch(problem.collection, relevant=known[1], irrelevant=known[0], **settings)
    file.write(search.ledger, Step(perf_counter() - wall, process_time() - cpu))
    return search


def _labels_left(search: ActiveSearch, problem: Problem, plan: Plan) -> int:
    """Labels that may still be asked for; none when everything relevant is found."""
    progress = search.progress()
    if progress.n_relevant == problem.n_relevant:
        return 0
    return most_labels(problem.n_items, plan.budget) - progress.n_reviewed


def draw_priors(problem: Problem, n_relevant: int, n_irrelevant: int, seed: int) -> IntArray:
    """Rows of relevant and of irrelevant items drawn by the seed, never one without any features."""
    filled = problem.with_features()
    parts = []
    for value, n, words in ((1, n_relevant, "relevant"), (0, n_irrelevant, "irrelevant")):
        wanted = filled & (problem.labels == value)
        if wanted.sum() < n:
            raise InputError(f"{n} {words} items were to be known from the start, and there are {wanted.sum()}.")
        parts.append(drawn_by_key(problem.collection.ids, f"{seed}/prior", wanted, n))
    return np.concatenate(parts)


def most_labels(n_items: int, budget: float) -> int:
    """Labels that a share of the collection allows, at least 1.

    >>> most_labels(1000, 0.4), most_labels(3, 0.1)
    (400, 1)
    """
    return max(1, int(budget * n_items + 1e-9))


def _is_finished(problem: Problem, task: Task) -> bool:
    """Whether a file has the whole run; one with other settings is refused before anything is run."""
    recorded = read_run(task.path) if task.path.exists() else None
    if recorded is None:
        return False
    check_settings(task.path, recorded.settings, task.settings)
    n_found = int(np.sum(recorded.ledger.answers() == 1))
    return n_found == problem.n_relevant or len(recorded.ledger) >= most_labels(problem.n_items, task.plan.budget)


def recorded_run(problem: Problem, task: Task) -> SearchRun:
    """Read a finished run back; what goes beyond a budget that was lowered since does not count."""
    recorded = read_run(task.path)
    if recorded is None:
        raise InputError(f"{task.path} holds no run. Simulate first.")
    entries = list(recorded.ledger)[: most_labels(problem.n_items, task.plan.budget)]
    steps = recorded.steps[: 1 + sum(end < len(entries) for end in recorded.ends)]
    return SearchRun(
        topic=problem.name, policy=task.policy, seed=task.seed, path=task.path,
        n_items=problem.n_items, n_relevant=problem.n_relevant,
        n_prior=sum(entry.origin == "prior" for entry in entries),
        items=tuple(str(entry.item) for entry in entries),
        answers=np.array([entry.answer for entry in entries], dtype=np.int8),
        seconds=np.array([step.seconds for step in steps]),
        cpu=np.array([step.cpu for step in steps]),
    )  # fmt: skip


def _warm_up(problem: Problem) -> None:
    """Load the compiled loops for rows of this kind, so that no run pays for it: one step with made-up answers."""
    if problem.engine is not None:
        return  # its runs are long
    first, second = problem.collection.ids[:2]
    ActiveSearch(
        problem.collection, policy="greedy", features=problem.features, relevant=[first], irrelevant=[second]
    ).suggest(1)
