"""What runs in a Dask worker: it holds some neighbouring blocks and works on them when asked.

A worker may be new, or have been restarted: then it answers that it does not hold what it is asked about, and is sent
that. So nothing is lost with a worker but time.
"""

from __future__ import annotations

import asyncio
import pickle
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.disk.open_files import few_enough
from riffler.engine.base import Part, Work
from riffler.engine.candidates import Candidates
from riffler.engine.fixed_sum import Node, joined
from riffler.engine.listening import open_at
from riffler.engine.local import LocalEngine, Turns
from riffler.engine.mapped import MappedArray
from riffler.engine.scratch import TidiedUp, told_if_tidied_up
from riffler.engine.seats import Place, place_here
from riffler.engine.wire import NO_COLUMNS, KeptColumns, PackedWeights, unpacked_rows, unpacked_weights
from riffler.errors import EngineError
from riffler.features.blocked_rows import Block, BlockedRows
from riffler.records import FloatArray, IntArray, Matrix

MOST_SHARES = 1_000  # that a worker holds, of all engines; one that is let go is sent again when it is needed
MOST_WRITTEN_OVER = 8  # files that stay mapped: a few of each engine of this machine
IDLE_SECONDS = 3600.0  # after which a share or a file is let go: whoever asked for it may have been killed


@dataclass(frozen=True, slots=True)
class Share:
    """Neighbouring blocks that a worker holds: ``name`` tells them from those of other engines."""

    name: str
    first_block: int
    end_block: int
    first_row: int
    end_row: int

    @property
    def n_rows(self) -> int:
        """Rows of the blocks."""
        return self.end_row - self.first_row


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """What a worker shall hold from now on: the blocks of a share, the tie ranks of its rows, columns of them."""

    blocks: tuple[Block, ...] | None = None
    order: int = 0
    ties: IntArray | MappedArray | None = None
    columns: KeptColumns | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question about a share: arguments for it alone, what its worker lacks, and the name of columns that it has."""

    share: Share
    arguments: tuple[Any, ...]
    sent: Sent | None
    columns: str = ""


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The answer of a worker that lacks what it was asked about."""


@dataclass(frozen=True, slots=True, eq=False)
class Raised:
    """The answer of a worker whose work raised an error."""

    error: Exception


@dataclass(slots=True)
class _Held:
    rows: BlockedRows
    used: float
    order: int = 0
    ties: IntArray | None = None
    columns: KeptColumns = NO_COLUMNS


_HELD: OrderedDict[str, _Held] = OrderedDict()
_WRITTEN_OVER: dict[str, tuple[int, NDArray[np.uint8], float]] = {}
"""By path: which file it was, its bytes, and when they were used."""
_LOCK = Lock()
_WATCHED = Lock()  # held by the thread that looks for what is idle


async def answer(
    call: Callable[..., Any],
    order: int | None,
    common: tuple[Any, ...],
    asked: dict[str, list[Asked]],
    threads: dict[str, int],
    dask_worker: Any = None,  # noqa: ANN401 - Dask's own, which it passes by this name
) -> list[Any]:
    """Answer what this worker is asked, in other threads: its loop goes on telling the scheduler that it is there."""
    me = name_of(dask_worker.address)
    mine, n_threads = asked[me], threads[me]
    return await asyncio.to_thread(_answers, call, order, common, mine, n_threads)


def name_of(address: str) -> str:
    """Return a worker's address as its scheduler writes it: by number, also where it was told a name.

    >>> name_of("tcp://127.0.0.1:40000")
    'tcp://127.0.0.1:40000'
    """
    from distributed.comm.addressing import resolve_address

    return str(resolve_address(address))


def _answers(
    call: Callable[..., Any], order: int | None, common: tuple[Any, ...], asked: list[Asked], n_threads: int
) -> list[Any]:
    """Share the threads out: to as many shares at a time as there are, and what is left over within each.

    What is packed is unpacked once, not for every share.
    """
    try:
        common = tuple(_unpacked(one) for one in common)
    except TidiedUp:
        return [NotHeld()] * len(asked)
    n_at_once = min(n_threads, len(asked))
    if n_at_once == 1:
        answers = [_answer(call, order, common, one, n_threads) for one in asked]
    else:
        with ThreadPoolExecutor(n_at_once, thread_name_prefix="riffler-share") as pool:
            answers = list(pool.map(lambda one: _answer(call, order, common, one, n_threads // n_at_once), asked))
    return _added_up(answers) if call is nodes_of else answers


def _unpacked(one: Any) -> Any:  # noqa: ANN401 - what a question is made of
    if isinstance(one, PackedWeights):
        return unpacked_weights(one)
    return _still_mapped(one) if isinstance(one, MappedArray) else one


def _still_mapped(one: MappedArray) -> NDArray[Any]:
    """Return an array of a file that is written over from step to step: it stays mapped, as to map it takes longer."""
    n_bytes = int(np.prod(one.shape)) * np.dtype(one.dtype).itemsize
    path = Path(str(one.path))
    with told_if_tidied_up():
        inode = path.stat().st_ino  # another file may have that name since
    known, whole, _ = _WRITTEN_OVER.get(str(path), (inode, None, 0.0))
    if whole is None or known != inode or whole.size < n_bytes:
        if len(_WRITTEN_OVER) >= MOST_WRITTEN_OVER:
            _WRITTEN_OVER.clear()
        with few_enough(path), told_if_tidied_up():
            # mapped to be written to, though nobody does: loops are compiled for such arrays
            whole = np.asarray(np.memmap(path, dtype=np.uint8, mode="r+"))
    _WRITTEN_OVER[str(path)] = inode, whole, monotonic()
    return whole[:n_bytes].view(one.dtype).reshape(one.shape)


def _answer(call: Callable[..., Any], order: int | None, common: tuple[Any, ...], asked: Asked, n_threads: int) -> Any:  # noqa: ANN401 - what the call gives
    """Take what was sent, and call a function with an engine of a share, its ties and arguments."""
    share = asked.share
    try:
        with _LOCK:
            if asked.sent is not None:
                _take(share, asked.sent)
            _watch()
            held, columns = _HELD.get(share.name), asked.columns
            if held is None or (order is not None and held.order != order) or columns not in ("", held.columns.name):
                return NotHeld()
            held.used = monotonic()
            _HELD.move_to_end(share.name)
            engine, ties = LocalEngine(held.rows, n_threads), None if order is None else held.ties
            kept = held.columns.columns if columns else ()
        # copies: work that changes its columns must not change them for whoever comes next
        return call(engine, ties, share, *common, *asked.arguments, *(column.copy() for column in kept))
    except TidiedUp:
        return NotHeld()
    except BaseException as error:  # SystemExit would end this worker, and then the next
        return Raised(able_to_travel(error))  # so that it is told from a worker that went away


def able_to_travel(error: BaseException) -> Exception:
    """Return an error that can be sent: one that cannot be made again elsewhere, or leaves a program, is told in words.

    >>> able_to_travel(ValueError("it is odd"))
    ValueError('it is odd')
    >>> able_to_travel(SystemExit(3))
    EngineError('The work left by SystemExit(3), which would end its worker. Let it raise an Exception.')
    """
    if not isinstance(error, Exception):
        return EngineError(f"The work left by {error!r}, which would end its worker. Let it raise an Exception.")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return EngineError(f"{type(error).__name__}: {error}")
    return error


def _added_up(answers: list[Any]) -> list[Any]:
    """Join the nodes of neighbouring shares, so that few travel; they stand with the last share that gave any."""
    given = [at for at, answer in enumerate(answers) if isinstance(answer, list)]
    together = joined(chain.from_iterable(answers[at] for at in given))
    return [(together if at == given[-1] else []) if at in given else one for at, one in enumerate(answers)]


def _watch() -> None:
    """Let one thread look for what is idle as long as anything is held; the caller has the lock."""
    if _WATCHED.acquire(blocking=False):
        Thread(target=_let_go_of_idle, args=(_WATCHED,), name="riffler-idle", daemon=True).start()


def _let_go_of_idle(watched: Lock) -> None:
    while True:
        sleep(IDLE_SECONDS / 4)
        with _LOCK:
            before = monotonic() - IDLE_SECONDS
            for name in [name for name, held in _HELD.items() if held.used < before]:
                del _HELD[name]
            for path in [path for path, (*_, used) in list(_WRITTEN_OVER.items()) if used < before]:
                _WRITTEN_OVER.pop(path, None)
            if not _HELD and not _WRITTEN_OVER:  # who asks from now on finds the watch free
                watched.release()
                return


def drop(names: tuple[str, ...]) -> None:
    """Let go of shares."""
    with _LOCK:
        for name in names:
            _HELD.pop(name, None)


@dataclass(frozen=True, slots=True)
class Introduction:
    """The version of this package that a worker has, where it runs, and where others than its machine reach it."""

    version: str
    place: Place
    open_at: tuple[str, ...]


def introduction(dask_worker: Any = None) -> Introduction:  # noqa: ANN401 - Dask's own, which it passes by this name
    """Tell what is asked of every worker before it is told anything."""
    return Introduction(version("riffler"), place_here(), () if dask_worker is None else open_at(dask_worker))


def candidates_of(
    engine: LocalEngine,
    ties: IntArray | None,
    share: Share,
    weights: FloatArray,
    n: int,
    intercept: float,
    skipped: NDArray[Any],
    turns: Turns = range,
) -> Candidates:
    """Return the rows of a share among which its best are; who asks has checked the arguments."""
    excluded, ranks = unpacked_rows(skipped, share.n_rows), np.empty(0, np.int64) if ties is None else ties
    return engine.candidates(weights, n, excluded, intercept, ranks, turns).moved(share.first_row)


def rows_of(engine: LocalEngine, ties: None, share: Share, numbers: IntArray) -> Matrix:
    """Gather rows of a share, by their numbers in it."""
    return engine.rows(numbers)


def scores_of(engine: LocalEngine, ties: None, share: Share, weights: FloatArray, intercept: float) -> FloatArray:
    """Score the rows of a share."""
    return engine.scores(weights, intercept)


def parts_of(engine: LocalEngine, ties: None, share: Share, work: Work[Part], *columns: Any) -> list[Part]:  # noqa: ANN401
    """Apply a function to the blocks of a share."""
    return engine.map(work, *columns)


def nodes_of(engine: LocalEngine, ties: None, share: Share, work: Work[FloatArray], *columns: Any) -> list[Node]:  # noqa: ANN401
    """Add up what a function makes of the blocks of a share."""
    return engine.nodes(work, *columns, first=share.first_block)


def _take(share: Share, sent: Sent) -> None:
    if sent.blocks is not None:
        _HELD[share.name] = _Held(BlockedRows(sent.blocks), monotonic())
        _HELD.move_to_end(share.name)
        while len(_HELD) > MOST_SHARES:
            _HELD.popitem(last=False)
    held = _HELD.get(share.name)
    if held is None:
        return
    if sent.ties is not None:
        held.order, held.ties = sent.order, _ties_of(sent.ties)
    if sent.columns is not None:
        held.columns = sent.columns


def _ties_of(sent: IntArray | MappedArray) -> IntArray:
    if not isinstance(sent, MappedArray):
        return sent
    with told_if_tidied_up():
        return sent.mapped()
