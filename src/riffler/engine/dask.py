"""The heavy steps of a search on the workers of Dask: blocks stay where they are, weights and candidates travel.

Each worker holds some shares of neighbouring blocks: it opens those of files by their names, others are sent to it
once. Shares of a worker that goes away move to others within the step, and to one that comes; a scheduler that goes
away is one error. Workers of its own are all on this machine: where blocks are files each of them opens any, and the
best rows are found by all of them drawing from one list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from threading import RLock
from time import monotonic, sleep
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from riffler.engine import at_worker
from riffler.engine.at_worker import Asked, NotHeld, Raised, Sent, Share
from riffler.engine.base import (
    Best,
    BlockHolder,
    Part,
    Work,
    blank_of,
    checked_columns,
    checked_ties,
    checked_weights,
    excluded_numbers,
    part_of_columns,
)
from riffler.engine.candidates import Candidates
from riffler.engine.cluster import LOST, Cluster
from riffler.engine.drawing import DrawingList
from riffler.engine.fixed_sum import total_of
from riffler.engine.local import stretch_ends
from riffler.engine.mapped import mapped_block
from riffler.engine.tls import TlsFiles
from riffler.engine.wire import NO_COLUMNS, KeptColumns, kept_columns, packed_rows, packed_weights
from riffler.errors import EngineError
from riffler.features.blocked_rows import Block, BlockedRows, checked_numbers
from riffler.records import BoolArray, FloatArray, IntArray, Matrix, is_sparse

MOST_TRIES = 10  # of one step; each loses a worker, or sends one what it lacks
BETWEEN_LOOKS = 5.0  # seconds after which it is asked who is there, should nobody have gone
LIGHT = 100_000  # bytes that it does no harm to send to all workers
GRACE = 3.0  # seconds for a scheduler to notice that a worker is gone
AT_LEAST = 32  # shares, if there are so many blocks: more workers may come later


class Own(NamedTuple):
    """What is told of one share alone: arguments that travel each time, and columns that its worker keeps."""

    arguments: tuple[Any, ...] = ()
    columns: KeptColumns = NO_COLUMNS


@dataclass(slots=True)
class _Has:
    """What a worker has of a share beside its blocks: the number of the tie order, 0 for none; the name of columns."""

    order: int = 0
    columns: str = ""


class DaskEngine(BlockHolder):
    """Blocks of feature rows, numbered through from 0, shared out among the workers of a Dask cluster.

    blocks : as for :class:`LocalEngine`; memory-mapped ones must lie in a folder that all workers see
    cluster : address of a scheduler (tcp:// on this machine, else tls://), a Client or a cluster object of Dask such as
        a LocalCluster, or None for workers of its own on this machine, one a core
    tls : certificates, for a scheduler with TLS
    n_workers : of a cluster of its own
    timeout : seconds to wait for a scheduler, or for the first worker
    """

    def __init__(
        self,
        blocks: Sequence[Block] | BlockedRows,
        cluster: Any = None,  # noqa: ANN401 - an address or one of Dask's cluster objects
        *,
        tls: TlsFiles | None = None,
        n_workers: int | None = None,
        timeout: float = 20.0,
    ) -> None:
        super().__init__(blocks)
        self._cluster = Cluster(cluster, tls=tls, n_workers=n_workers, timeout=timeout)
        try:
            self._share_out()
        except BaseException:
            self._cluster.close()
            raise
        self._turn = RLock()  # one step at a time, whoever asks
        self._has: dict[tuple[Share, str], _Has] = {}  # what was sent where
        self._ties: IntArray | None = None
        self._order = 0
        self._looked = monotonic()
        self._lost: dict[str, float] = {}  # workers that did not answer, and when

    def _share_out(self) -> None:
        threads = self._cluster.threads_by_worker()
        name = uuid4().hex
        self._shares = shares_of(self.starts, sum(threads.values()), name)
        self._whole = Share(f"{name}-all", 0, self._blocked.n_blocks, 0, self.n_rows)
        self._stretch_ends = stretch_ends(self.starts)
        is_drawn = self._cluster.is_own and all(hasattr(one, "open") for one in self._travelling(self._whole))
        self._drawing = DrawingList(int(self._stretch_ends[-1])) if is_drawn else None
        self._first_rows = np.array([share.first_row for share in self._shares])
        self._home: dict[Share, str] = {}  # the worker of each share
        self._place(threads)

    def map(self, work: Work[Part], *columns: Any) -> list[Part]:  # noqa: ANN401 - arrays of any kind
        """Apply a function to every block and its part of each column; all of it travels, and the results."""
        own = [Own(columns) for columns in self._parted(columns)]
        return [part for parts in self._ask(at_worker.parts_of, (work,), own) for part in parts]

    def sum(self, work: Work[FloatArray], *columns: Any) -> FloatArray:  # noqa: ANN401 - arrays of any kind
        """Add up what a function makes of every block and its part of each column; few partial sums travel.

        The last columns stay with the workers: labels travel once, not at every step of a training.
        """
        with self._turn:  # so that columns are asked about as soon as they are looked at
            own = [own_of(columns) for columns in self._parted(columns)]
            nodes = chain.from_iterable(self._ask(at_worker.nodes_of, (work,), own))
        return total_of(sorted(nodes, key=lambda node: node.first))

    @cached_property
    def blank_rows(self) -> BoolArray:
        """Which rows have no feature at all; a byte a row travels, once."""
        return np.concatenate(self.map(blank_of))

    def scores(self, weights: FloatArray, intercept: float = 0.0) -> FloatArray:
        """Score every row; eight bytes a row travel."""
        given = packed_weights(checked_weights(weights, intercept, self.n_columns))
        return np.concatenate(self._ask(at_worker.scores_of, (given, float(intercept))))

    def best(
        self,
        weights: FloatArray,
        n: int,
        excluded: BoolArray | IntArray | None = None,
        intercept: float = 0.0,
        ties: IntArray | None = None,
    ) -> Best:
        """Return the n rows of the highest scores that are not excluded; ties travel once to whoever needs them."""
        given = checked_weights(weights, intercept, self.n_columns)
        skipped = excluded_numbers(excluded, self.n_rows)
        with self._turn:
            if ties is not None and ties is not self._ties:  # known again by identity
                self._ties, self._order = checked_ties(ties, self.n_rows), self._order + 1
                if self._drawing is not None:
                    self._drawing.forget(f"ties {self._order - 1}")
            order = None if ties is None else self._order
            if self._drawing is None:
                packed = packed_weights(given), n, float(intercept)
                found = self._ask(at_worker.candidates_of, packed, self._cut(skipped), order)
            else:
                common = given, n, float(intercept), packed_rows(skipped, self.n_rows)
                found = self._drawn(self._drawing, common, order)
        return Candidates.together(found).best(n)

    def rows(self, numbers: IntArray) -> Matrix:
        """Gather some rows, in the order given, from who holds them: they travel, blocks need not be open here."""
        numbers = checked_numbers(numbers, self.n_rows)
        of = np.searchsorted(self._first_rows, numbers, side="right") - 1
        order = np.argsort(of, kind="stable")
        # of no rows at all the first share knows what kind they are
        asked = [self._shares[at] for at in (np.unique(of) if of.size else [0])]
        own = [Own((numbers[(numbers >= one.first_row) & (numbers < one.end_row)] - one.first_row,)) for one in asked]
        parts = self._ask(at_worker.rows_of, (), own, shares=asked)
        if is_sparse(parts[0]):
            from scipy import sparse

            return sparse.vstack(parts, format="csr")[np.argsort(order)]
        return np.concatenate(parts)[np.argsort(order)]

    def close(self) -> None:
        """Let the workers go; a cluster of its own ends."""
        if self._drawing is not None:  # first, as it stays behind if this process is ended meanwhile
            self._drawing.close()
        self._cluster.close(tuple(share.name for share in (*self._shares, self._whole)))

    def _parted(self, columns: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Cut columns into those of each share."""
        checked_columns(columns, self.n_rows)
        return [part_of_columns(columns, share.first_row, share.end_row) for share in self._shares]

    def _ask(
        self,
        call: Callable[..., Any],
        common: tuple[Any, ...],
        own: Sequence[Own] | None = None,
        order: int | None = None,
        shares: Sequence[Share] | None = None,
    ) -> list[Any]:
        """Call a function where each share is held, with what all are told and what each is; in the order of shares."""
        shares = self._shares if shares is None else shares
        answers: dict[Share, Any] = {}
        told = dict(zip(shares, own or [Own()] * len(shares), strict=True))
        with self._turn:
            for _ in range(MOST_TRIES):
                self._settle()
                answers |= self._answered(call, common, [one for one in shares if one not in answers], told, order)
                if len(answers) == len(shares):
                    return [answers[share] for share in shares]
        raise self._too_often()

    def _drawn(self, drawing: DrawingList, common: tuple[Any, ...], order: int | None) -> list[Candidates]:
        """Let all workers draw stretches and keep the best rows; with one that is lost the step begins anew."""
        for _ in range(MOST_TRIES):
            self._settle()
            told = drawing.told(*common)
            hands = zip(self._threads, drawing.hands([self._stretches_at(one) for one in self._threads]), strict=True)
            asked = {
                worker: [Asked(self._whole, (hand,), self._lacking(self._whole, worker, order))]
                for worker, hand in hands
            }
            found = list(self._told(at_worker.candidates_of, order, told, asked))
            if len(found) == len(asked):
                return [answer for _, answer in found]
        raise self._too_often()

    def _stretches_at(self, worker: str) -> list[range]:
        """The stretches of the shares of a worker, which has opened their blocks already if it was asked before."""
        ends = [0, *self._stretch_ends.tolist()]
        return [range(ends[one.first_block], ends[one.end_block]) for one in self._shares if self._home[one] == worker]

    def _answered(
        self,
        call: Callable[..., Any],
        common: tuple[Any, ...],
        shares: Sequence[Share],
        told: Mapping[Share, Own],
        order: int | None,
    ) -> dict[Share, Any]:
        """Ask once; return the answers that came."""
        asked: dict[str, list[Asked]] = {}
        for share in shares:
            home, (arguments, columns) = self._home[share], told[share]
            sent = self._lacking(share, home, order, columns)
            asked.setdefault(home, []).append(Asked(share, arguments, sent, columns.name))
        return dict(self._told(call, order, common, asked))

    def _told(
        self, call: Callable[..., Any], order: int | None, common: tuple[Any, ...], asked: dict[str, list[Asked]]
    ) -> Iterator[tuple[Share, Any]]:
        """Ask workers, and yield the answers that came."""
        for worker, found in self._call(call, order, common, asked).items():
            for at, one in enumerate(asked[worker]):
                answer = found if found is LOST else found[at]
                if self._is_answer(one, worker, order, answer):
                    yield one.share, answer

    def _call(
        self, call: Callable[..., Any], order: int | None, common: tuple[Any, ...], asked: dict[str, list[Asked]]
    ) -> dict[str, Any]:
        """Ask all workers at once the same; where each is told much that is not for the others, each by itself."""
        n_bytes = sum(weight_of(one) for each in asked.values() for ask in each for one in ask.arguments)
        is_light = n_bytes < LIGHT and all(one.sent is None for each in asked.values() for one in each)
        letters = [asked] if is_light else [{worker: each} for worker, each in asked.items()]

        def post(letter: dict[str, list[Asked]]) -> dict[str, Any]:
            return self._cluster.call(list(letter), at_worker.answer, call, order, common, letter, self._threads)

        if len(letters) == 1:
            return post(letters[0])
        with ThreadPoolExecutor(len(letters), thread_name_prefix="riffler-dask") as pool:
            return {worker: found for replies in pool.map(post, letters) for worker, found in replies.items()}

    def _settle(self) -> None:
        """Look who is there, where somebody may have come or gone, and find a worker for every share."""
        self._cluster.need_open()
        if monotonic() - self._looked <= BETWEEN_LOOKS:
            return
        self._lost = {worker: when for worker, when in self._lost.items() if monotonic() - when < BETWEEN_LOOKS}
        threads = self._cluster.threads_by_worker()
        # a scheduler may not know yet who is gone; if that seems to be all, it is given some time
        while not (there := threads.keys() - self._lost.keys()) and monotonic() - max(self._lost.values()) < GRACE:
            sleep(0.1)
            threads = self._cluster.threads_by_worker()
        self._place({worker: threads[worker] for worker in sorted(there or threads)})
        self._looked = monotonic()

    def _place(self, threads: dict[str, int]) -> None:
        """Give every share a home among some workers."""
        self._threads = self._cluster.seats(threads, set(self._home.values()))
        self._home = settled(self._shares, self._home, self._threads)

    def _lacking(self, share: Share, worker: str, order: int | None, columns: KeptColumns = NO_COLUMNS) -> Sent | None:
        """Return what a worker that is asked about a share has not got yet."""
        has = self._has.get((share, worker))
        blocks = self._travelling(share) if has is None else None
        lacks_ties = order is not None and (has is None or has.order != order)
        lacks_columns = bool(columns.name) and (has is None or has.columns != columns.name)
        if has is not None and not lacks_ties and not lacks_columns:
            return None
        kept = columns if lacks_columns else None
        if not lacks_ties or self._ties is None:
            return Sent(blocks, columns=kept)
        ties = self._ties[share.first_row : share.end_row]
        # where all need all of them, they are a file
        shared = ties if self._drawing is None else self._drawing.shared(f"ties {order}", ties)
        return Sent(blocks, order or 0, shared, kept)

    def _is_answer(self, asked: Asked, worker: str, order: int | None, answer: Any) -> bool:  # noqa: ANN401
        """Raise an error of the work, or remember what a worker holds; tell whether it need not be asked again."""
        where = asked.share, worker
        if answer is LOST or isinstance(answer, NotHeld):
            self._has.pop(where, None)
            self._looked = -np.inf
            if answer is LOST:
                self._lost[worker] = monotonic()
            return False
        has = self._has.setdefault(where, _Has())
        has.columns = asked.columns or has.columns
        if order is not None:
            has.order = order
        if isinstance(answer, Raised):
            raise answer.error
        return True

    def _cut(self, skipped: IntArray) -> list[Own]:
        """Excluded rows, share by share, counted from its first row."""
        cuts = np.searchsorted(skipped, [*self._first_rows, self.n_rows])
        return [
            Own((packed_rows(skipped[start:stop] - share.first_row, share.n_rows),))
            for share, (start, stop) in zip(self._shares, pairwise(cuts), strict=True)
        ]

    def _too_often(self) -> EngineError:
        return EngineError(
            f"The workers of {self._cluster.name} went away {MOST_TRIES} times within one step. "
            "Look for what ends them in their logs (memory, mostly), then go on."
        )

    def _travelling(self, share: Share) -> tuple[Block, ...]:
        """Blocks as they are sent: files by their names, objects that open them as they are, arrays by value."""
        sources = self._blocked.sources[share.first_block : share.end_block]
        return tuple(one if hasattr(one, "open") else mapped_block(one) or one for one in sources)


def own_of(columns: tuple[Any, ...]) -> Own:
    """Let columns be kept, or travel each time where they cannot be told apart."""
    kept = kept_columns(columns)
    return Own(columns) if kept is None else Own(columns=kept)


def weight_of(argument: Any) -> int:  # noqa: ANN401 - what a question is made of
    """About how many bytes travel with it.

    >>> weight_of(np.zeros(4)), weight_of(["word", "other"]), weight_of(7)
    (32, 200, 0)
    """
    n_bytes: int = getattr(argument, "nbytes", 100 * len(argument) if isinstance(argument, Sized) else 0)
    return n_bytes


def shares_of(starts: IntArray, n_threads: int, name: str) -> list[Share]:
    """Cut the blocks into shares of neighbours of about as many rows each: more than workers may be expected.

    >>> [(one.first_block, one.end_block) for one in shares_of(np.array([0, 10, 20, 30]), 1, "a")]
    [(0, 1), (1, 2), (2, 3)]
    """
    n_shares = min(len(starts) - 1, max(AT_LEAST, 2 * n_threads))
    wanted = starts[-1] * np.arange(1, n_shares + 1) / n_shares
    # the cut nearest to what is wanted
    ends = [int(np.abs(starts - end).argmin()) for end in wanted]
    ends[-1] = len(starts) - 1
    firsts = [0, *ends[:-1]]
    return [
        Share(f"{name}-{first}", first, end, int(starts[first]), int(starts[end]))
        for first, end in zip(firsts, ends, strict=True)
        if end > first
    ]


def settled(shares: Sequence[Share], home: dict[Share, str], threads: dict[str, int]) -> dict[Share, str]:
    """Give every share a worker, by rows for each of its threads; none moves that need not.

    At first each worker gets neighbours, of which it can add up what they give. Shares whose worker is gone go to who
    has least, the largest first. Then who has most gives to who has least, as long as that is less than it had itself:
    so one that came gets some.
    """
    new = {share: home[share] for share in shares if home.get(share) in threads} or _runs(shares, threads)
    rows = dict.fromkeys(threads, 0)
    for share, worker in new.items():
        rows[worker] += share.n_rows
    for share in sorted((one for one in shares if one not in new), key=lambda one: -one.n_rows):
        least = min(rows, key=lambda one: (rows[one] + share.n_rows) / threads[one])
        new[share] = least
        rows[least] += share.n_rows
    while True:
        most, least = (end(rows, key=lambda one: rows[one] / threads[one]) for end in (max, min))
        theirs = [share for share, worker in new.items() if worker == most]
        moved = min(theirs, key=lambda one: one.n_rows, default=None)
        if moved is None or (rows[least] + moved.n_rows) / threads[least] >= rows[most] / threads[most]:
            return new
        new[moved] = least
        rows[most], rows[least] = rows[most] - moved.n_rows, rows[least] + moved.n_rows


def _runs(shares: Sequence[Share], threads: Mapping[str, int]) -> dict[Share, str]:
    """Give every worker shares that follow one another, by rows for each of its threads."""
    workers, n_rows = list(threads), max(shares[-1].end_row, 1)
    ends = np.cumsum([threads[worker] for worker in workers])
    middles = np.array([share.first_row + share.end_row for share in shares]) / (2 * n_rows)
    return {share: workers[at] for share, at in zip(shares, np.searchsorted(ends, middles * ends[-1]), strict=True)}
