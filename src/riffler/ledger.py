"""The append-only record of what was asked: every label that any code has seen stands here, with its price.

There is one record type in the project. A learner can be rebuilt from it, estimates are made from it alone, and what
makes a review durable stores exactly this.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import DataFileError
from riffler.records import FloatArray, IntArray

RELEVANT, IRRELEVANT, UNKNOWN = 1, 0, -1
"""What an answer may be; UNKNOWN is a refusal or a "don't know"."""

Item = int | str
"""The name of an item: its number in the stream, or whatever the caller calls it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One question and its answer."""

    item: Item
    round: int
    origin: str  # why it was asked: "top", "sample", "known", ...; in a search "prior", "policy", "control", "search"
    in_top: bool  # whether it was among the rows that the round predicted
    probability: float  # with which it was to be asked in this round, given everything before
    answer: int
    cost: float
    asked_at: str  # UTC, ISO 8601


@dataclass(frozen=True, slots=True)
class Round:
    """A batch that was worked through: what was on offer, beside what was asked.

    ``floor`` is the least probability with which any row of the batch was asked: 0 where a row could not have been
    asked at all. ``top_floor`` is that of the predicted rows alone; None where it is no better. ``cut`` says that the
    budget ended before everything drawn could be asked. ``n_asked`` counts the rows asked, known ones included; None
    where nobody counted. Further entries of this round are of a batch that failed midway and was given up.
    """

    number: int
    n_rows: int
    n_top: int
    floor: float
    cut: bool = False
    top_floor: float | None = None
    n_asked: int | None = None

    @property
    def least_in_top(self) -> float:
        """Least probability of a predicted row."""
        return self.floor if self.top_floor is None else self.top_floor


@dataclass(frozen=True, slots=True)
class Event:
    """Something beside an answer that changed what was asked from a round on, such as clusters that were ready."""

    round: int
    name: str


@dataclass(eq=False)
class Ledger:
    """Entries in asking order, the rounds they belong to, and events.

    >>> ledger = Ledger()
    >>> ledger.record([7, 8], round=0, origin="top", in_top=True, probability=1.0, answers=[1, UNKNOWN], cost=1.0)
    >>> len(ledger), ledger.answer_of(7), ledger.answer_of(9), ledger.cost
    (2, 1, None, 2.0)
    """

    _entries: list[Entry] = field(default_factory=list)
    _rounds: list[Round] = field(default_factory=list)
    _events: list[Event] = field(default_factory=list)
    _latest: dict[Item, int] = field(default_factory=dict)  # item -> its last answer
    _seen: set[tuple[Item, int]] = field(default_factory=set)  # (item, round)
    _cost: float = 0.0
    _n_asked: int = 0

    def record(
        self,
        items: Sequence[Item],
        *,
        round: int,
        origin: str,
        in_top: ArrayLike,
        probability: ArrayLike,
        answers: ArrayLike,
        cost: ArrayLike,
    ) -> None:
        """Append what was asked in one go; scalars hold for all items."""
        if not items:
            return
        n, now = len(items), datetime.now(UTC).isoformat(timespec="milliseconds")
        tops = np.broadcast_to(np.asarray(in_top, dtype=bool), n).tolist()
        shares = np.broadcast_to(np.asarray(probability, dtype=float), n).tolist()
        told = np.broadcast_to(np.asarray(answers, dtype=int), n).tolist()
        prices = np.broadcast_to(np.asarray(cost, dtype=float), n).tolist()
        for item, top, share, answer, price in zip(items, tops, shares, told, prices, strict=True):
            self.append(Entry(item, round, origin, top, share, answer, price, now))

    def append(self, entry: Entry) -> None:
        """Append one entry as it is."""
        self._entries.append(entry)
        self._latest[entry.item] = entry.answer
        self._seen.add((entry.item, entry.round))
        self._cost += entry.cost
        self._n_asked += entry.origin != "known"

    def close_round(self, done: Round) -> None:
        """Write down that a batch has been worked through."""
        self._rounds.append(done)

    def note(self, event: Event) -> None:
        """Write down an event."""
        self._events.append(event)

    def answer_of(self, item: Item) -> int | None:
        """Return the last answer about an item, or None if it was never asked."""
        return self._latest.get(item)

    def holds(self, item: Item, round: int) -> bool:
        """Tell whether a round has an entry for the item."""
        return (item, round) in self._seen

    @property
    def n_asked(self) -> int:
        """Questions that were put; what was known before and only used again is not among them."""
        return self._n_asked

    @property
    def cost(self) -> float:
        """Price of everything asked so far."""
        return self._cost

    @property
    def rounds(self) -> tuple[Round, ...]:
        """Batches that were worked through."""
        return tuple(self._rounds)

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened beside answers, in order."""
        return tuple(self._events)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def answers(self) -> IntArray:
        """Answers in asking order."""
        return np.array([entry.answer for entry in self._entries], dtype=np.int8)

    def probabilities(self) -> FloatArray:
        """Inclusion probabilities in asking order."""
        return np.array([entry.probability for entry in self._entries])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger as JSON lines, whole or not at all."""
        from riffler.data.atomic import atomic_write

        lines = [{"kind": "entry", **asdict(entry)} for entry in self._entries]
        lines += [{"kind": "round", **asdict(one)} for one in self._rounds]
        lines += [{"kind": "event", **asdict(one)} for one in self._events]
        with atomic_write(path) as draft:
            draft.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ledger:
        """Read a ledger that :meth:`save` wrote."""
        ledger = cls()
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise DataFileError(f"{path}: not a text in UTF-8 ({error}). Use a file that Ledger.save wrote.") from error
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                values = json.loads(line)
                match values.pop("kind"):
                    case "entry":
                        ledger.append(Entry(**values))
                    case "event":
                        ledger.note(Event(**values))
                    case _:
                        ledger.close_round(Round(**values))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataFileError(
                    f"{path}, line {number}: expected an entry, a round or an event of a ledger as JSON, "
                    f"got {line[:80]!r}. Use a file that Ledger.save wrote."
                ) from error
        return ledger
