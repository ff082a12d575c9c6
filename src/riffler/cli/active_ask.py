"""``riffler active --ask``: a person answers in a CSV file, and every run goes on where the last one stopped.

A run replays the whole session from the file: the same data, settings and answers lead to the same questions. Beside
the questions lies ``<questions>.run.json`` with the settings and a fingerprint of the data, so that a resumed session
cannot be another one by mistake.
"""

from __future__ import annotations

import hashlib
import json as json_format
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.cli import output
from riffler.cli.active_schemes import Scheme, scheme_for_a_person
from riffler.cli.active_simulation import claim_of
from riffler.errors import AnswersPending, DataFileError, InputError
from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import is_sparse

if TYPE_CHECKING:
    from riffler.data.table import Column, Table
    from riffler.learners.asking import Step
    from riffler.ledger import Item
    from riffler.oracles import FileOracle
    from riffler.records import FloatArray

N_DESCRIBED = 6
"""Columns of the data that stand beside each question."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """What the options say; None where they say nothing."""

    k: int | None = None
    method: str | None = None
    sampler: str | None = None
    kernel: str | None = None
    floor: float | None = None
    seed: int | None = None
    batches: int | None = None
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """What decides the questions, together with the answers."""

    k: int
    method: str
    sampler: str | None
    kernel: str | None  # None: the method's own
    floor: float
    seed: int
    batches: int
    budget: int | None
    n_items: int
    data: str  # fingerprint

    @classmethod
    def begun(cls, table: Table, request: AskRequest) -> Session:
        """Fill in the defaults of a new session."""
        k = 50 if request.k is None else request.k
        batches = request.batches
        if batches is None:  # as many as ln n, of 4 k rows at least
            batches = max(1, min(round(math.log(max(table.n_items, 2))), table.n_items // (4 * k)))
        scheme = scheme_for_a_person(request.method, request.sampler)
        return cls(
            k, scheme.method, scheme.sampler, request.kernel, request.floor or 0.0, request.seed or 0, batches,
            request.budget, table.n_items, fingerprint(table),
        )  # fmt: skip

    def resumed(self, table: Table, request: AskRequest, path: Path) -> Session:
        """Go on with this session; an option that contradicts it is an error, but for a larger budget."""
        if fingerprint(table) != self.data:
            raise InputError(
                f"{path} was begun with other data than {table.source} as it is now ({self.n_items:,} items then, "
                f"{table.n_items:,} now). Use the same file and --label, or name other questions to begin anew."
            )
        for name in ("k", "method", "sampler", "kernel", "floor", "seed", "batches"):
            given, before = getattr(request, name), getattr(self, name)
            if given is not None and given != before:
                raise InputError(
                    f"{path} was begun with {name} {before}, and now {given} came. Leave the option out to go on, or "
                    "name other questions to begin anew."
                )
        if request.budget is None:
            return self
        if self.budget is None or request.budget < self.budget:
            raise InputError(
                f"{path} was begun with {'no budget' if self.budget is None else f'a budget of {self.budget:,}'}, and "
                f"now {request.budget:,} came: a budget can be raised, not lowered. Leave --budget out to go on."
            )
        return replace(self, budget=request.budget)


def ask_a_person(table: Table, path: Path, request: AskRequest, ranked: Path | None, json: Path | None) -> None:
    """Replay what was answered, go on until an answer is missing or the pool ends, and say what to do next."""
    from riffler.evaluation.active_stream import dealt
    from riffler.oracles import FileOracle

    check_ids(table)
    session = opened(table, path, request)
    learner = Scheme(session.method, session.sampler).learner(session.k, session.kernel, session.floor, session.seed)
    oracle = FileOracle(path, describe=describer(table), budget=session.budget)
    names = table.ids.tolist()
    batches, _ = dealt(table.n_items, session.seed, session.batches)
    remember(path, session)
    steps: list[Step] = []
    pending: AnswersPending | None = None
    for rows in batches:
        try:
            step = learner.step(table.X[rows], oracle, items=[names[row] for row in rows.tolist()])
        except AnswersPending as error:
            pending = error
            break
        steps.append(step)
    print_steps(steps, session)
    if pending is not None:
        print_pending(pending, oracle, len(steps), session)
    else:
        print_end(oracle, session)
        if ranked is not None:
            write_ranked(ranked, table, learner.decision_function(table.X), oracle)
            output.console().print(
                f"{table.n_items:,} items as they rank in the end written to {ranked}", soft_wrap=True
            )
    if json is not None:
        output.write_json(json, as_json(session, steps, oracle, finished=pending is None))


def check_ids(table: Table) -> None:
    """Refuse items of the same name: an answer is about one of them."""
    seen: set[str] = set()
    for name in map(str, table.ids.tolist()):
        if name in seen:
            raise InputError(f"{table.source}: two items are called {name!r}; to be asked about, ids must differ.")
        seen.add(name)


def sidecar(path: Path) -> Path:
    """Name the file beside the questions that keeps the session.

    >>> sidecar(Path("reviews/questions.csv")).name
    'questions.csv.run.json'
    """
    return path.with_name(path.name + ".run.json")


def opened(table: Table, path: Path, request: AskRequest) -> Session:
    """Begin a session, or go on with the one whose questions are there."""
    if not path.exists():
        return Session.begun(table, request)
    kept = sidecar(path)
    if not kept.exists():
        raise InputError(
            f"{path} is there and {kept.name}, which says how it came about, is not. Put it back, or name other "
            "questions to begin anew."
        )
    try:
        found = json_format.loads(kept.read_text(encoding="utf-8"))["session"]
        session = Session(**found)
    except (ValueError, KeyError, TypeError) as error:
        raise DataFileError(
            f"{kept}: expected the settings of a session as Riffler wrote them. Put the file back as it was, or name "
            "other questions to begin anew."
        ) from error
    return session.resumed(table, request, path)


def remember(path: Path, session: Session) -> None:
    """Keep the session beside the questions, before the first of them is written."""
    from riffler import __version__

    output.write_json(sidecar(path), {"riffler": __version__, "session": asdict(session)})


def fingerprint(table: Table) -> str:
    """Sum up features and names of all items; labels are no part of it, as they are never looked at."""
    X = table.X
    arrays = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
    digest = hashlib.sha256(repr((X.shape, str(X.dtype), table.feature_names)).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    digest.update("\n".join(map(str, table.ids.tolist())).encode())
    return digest.hexdigest()


def describer(table: Table) -> Callable[[Item], dict[str, object]]:
    """Give a function that shows an item to a person: the first few columns as the file has them."""
    row_of = {name: row for row, name in enumerate(table.ids.tolist())}

    def describe(item: Item) -> dict[str, object]:
        row = table.X[[row_of[item]]]
        values: FloatArray = (row.toarray() if is_sparse(row) else np.asarray(row))[0]
        return described(values, table.schema.columns)

    return describe


def described(values: FloatArray, columns: tuple[Column, ...] | None) -> dict[str, object]:
    """Turn features back into the first few columns; where columns have no names, the first features that are not 0.

    >>> from riffler.data import Column
    >>> described(np.array([30.0, 0.0, 1.0]), (Column("age"), Column("job", ("clerk", "nurse"))))
    {'data: age': '30', 'data: job': 'nurse'}
    >>> described(np.array([30.0, 0.0, 1.0]), None)
    {'data': '1:30 3:1'}
    """
    if columns is None:
        places = np.flatnonzero(values)[:N_DESCRIBED]
        return {"data": " ".join(f"{place + 1}:{values[place]:g}" for place in places)}
    shown: dict[str, object] = {}
    start = 0
    for column in columns[:N_DESCRIBED]:
        own = values[start : start + len(column.feature_names)]
        start += len(own)
        if column.categories is None:
            shown[f"data: {column.name}"] = f"{own[0]:g}"
        else:
            shown[f"data: {column.name}"] = column.categories[int(own.argmax())] if own.any() else ""
    return shown


def print_steps(steps: list[Step], session: Session) -> None:
    """Print what is done so far, a row a batch."""
    if not steps:
        return
    table = output.table(
        f"Batches done: {len(steps)} of {session.batches}", "batch", "relevant of those asked\namong the predicted",
        "labels\nso far",
    )  # fmt: skip
    n_labels = 0
    for step in steps:
        n_labels += step.n_asked
        answers = step.answers[np.isin(step.asked, step.predicted)]
        told = f"{np.count_nonzero(answers == RELEVANT)} of {np.count_nonzero(answers != UNKNOWN)}"
        table.add_row(str(step.round + 1), told, f"{n_labels:,}")
    output.console().print(table)


def print_pending(pending: AnswersPending, oracle: FileOracle, n_done: int, session: Session) -> None:
    """Say how many questions are open and what to do."""
    console = output.console()
    console.print(f"batch {n_done + 1} of {session.batches}: {pending}", soft_wrap=True)
    n_answered = oracle.n_asked - oracle.n_open
    left = "" if session.budget is None else f"; the budget allows {session.budget:,} labels"
    console.print(f"answered so far: {n_answered:,}, open: {oracle.n_open:,}{left}", soft_wrap=True)


def print_end(oracle: FileOracle, session: Session) -> None:
    """Say that the pool has ended and what may be claimed."""
    console = output.console()
    ledger = oracle.ledger
    n_relevant = int(np.count_nonzero(ledger.answers() == RELEVANT))
    console.print(f"the pool has ended: {ledger.n_asked:,} labels, {n_relevant:,} of them relevant", soft_wrap=True)
    cut = [one.number + 1 for one in ledger.rounds if one.cut]
    if cut:
        console.print(
            f"the budget of {session.budget:,} was spent in batch {cut[0]}: run again with a larger --budget to go on",
            soft_wrap=True,
        )
    if ledger.n_asked == 0:
        console.print("no label was bought, so nothing was learned: the order means nothing", soft_wrap=True)
    if session.floor > 0:
        claim = claim_of(ledger)
        console.print(claim if isinstance(claim, str) else claim.in_words(), soft_wrap=True)


def write_ranked(path: Path, table: Table, scores: FloatArray, oracle: FileOracle) -> None:
    """Write rank, id, score and, where one was given, the answer; items of equal score in the order of their ids."""
    import polars as pl

    order = np.lexsort((table.ids, -scores))
    words = {1: "1", 0: "0", -1: "?", None: ""}
    answers = [words[oracle.ledger.answer_of(name)] for name in table.ids[order].tolist()]
    columns: dict[str, Any] = {
        "rank": np.arange(1, len(order) + 1), "id": table.ids[order], "score": scores[order], "answer": answers,
    }  # fmt: skip
    with output.written(path) as draft:
        pl.DataFrame(columns).write_csv(draft)


def as_json(session: Session, steps: list[Step], oracle: FileOracle, *, finished: bool) -> dict[str, object]:
    """Give the state of the session as plain values."""
    return {
        "session": asdict(session),
        "finished": finished,
        "n_answered": oracle.n_asked - oracle.n_open,
        "n_open": oracle.n_open,
        "batches": [
            {
                "batch": step.round + 1,
                "precision": None if math.isnan(step.precision) else step.precision,
                "n_asked": step.n_asked,
            }
            for step in steps
        ],
    }
