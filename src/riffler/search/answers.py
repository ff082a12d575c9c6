"""What a search has been told so far: each item's answer, and the order in which the answers came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riffler.disk.ids import DiskIds
from riffler.errors import InputError, LabelError
from riffler.ledger import RELEVANT, UNKNOWN, Entry
from riffler.records import BoolArray, IntArray
from riffler.search.row_store import appended


@dataclass(frozen=True, slots=True, eq=False)
class KeptAnswers:
    """Answers of a moment: which rows had one, first answered first, and what the policy knew."""

    turn: int
    first: IntArray
    hidden: BoolArray
    labels: IntArray
    rows: IntArray
    turns: IntArray


class Answers:
    """Answers by row of the collection.

    The policy has its own clock, in *turns*: rounds of control documents, which it must not notice, do not advance it.
    A *hidden* item is a control document that the policy has not come to: it is answered, and the policy does not know.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        n = len(ids)
        # of a collection on disk only the ids that somebody named are held
        self._row_of = {} if isinstance(ids, DiskIds) else {name: row for row, name in enumerate(ids)}
        self._ids = ids
        self.turn = 0  # rounds from which the policy learned
        self.answered: BoolArray = np.zeros(n, dtype=bool)
        self.hidden: BoolArray = np.zeros(n, dtype=bool)
        self.labels: IntArray = np.full(n, UNKNOWN, dtype=np.int8)
        self.first: list[int] = []  # rows in the order in which they were first answered
        # what the policy may know, in the order in which it came to it
        self._rows: IntArray = np.empty(0, dtype=np.int64)
        self._turns: IntArray = np.empty(0, dtype=np.int64)
        self._n = 0

    def kept(self) -> KeptAnswers:
        """Return this moment, for :meth:`go_back`; it takes the room of the answers, not of the collection."""
        first = np.array(self.first, dtype=np.int64)
        return KeptAnswers(
            self.turn, first, self.hidden[first], self.labels[first], self.rows.copy(), self.turns.copy()
        )

    def go_back(self, kept: KeptAnswers) -> None:
        """Forget what came after a moment."""
        self.answered[self.first], self.hidden[self.first], self.labels[self.first] = False, False, UNKNOWN
        self.turn, self.first = kept.turn, kept.first.tolist()
        self.answered[kept.first], self.hidden[kept.first] = True, kept.hidden
        self.labels[kept.first] = kept.labels
        self._rows, self._turns, self._n = kept.rows, kept.turns, kept.rows.size

    @property
    def rows(self) -> IntArray:
        """Items that the policy knows the answer of, the earliest first."""
        return self._rows[: self._n]

    @property
    def turns(self) -> IntArray:
        """Turn in which the policy learned of each."""
        return self._turns[: self._n]

    @property
    def seen(self) -> BoolArray:
        """What is answered and not hidden: to the policy everything else is unread."""
        return self.answered & ~self.hidden

    @property
    def n_relevant(self) -> int:
        """Relevant items found, hidden ones too."""
        return int(np.sum(self.labels[self.first] == RELEVANT))

    def row(self, name: str) -> int:
        """Return the row of an id."""
        return self.rows_of([name])[0]

    def rows_of(self, ids: Sequence[str]) -> list[int]:
        """Return the rows of ids; those on disk are looked up together, and once."""
        if isinstance(self._ids, DiskIds) and (
            new := [name for name in ids if isinstance(name, str) and name not in self._row_of]
        ):
            found = zip(new, self._ids.found(new).tolist(), strict=True)
            self._row_of.update({name: row for name, row in found if row >= 0})
        missing = next((name for name in ids if name not in self._row_of), None)
        if missing is not None:
            raise InputError(f"No item has the id {missing!r}. Answer with the ids that suggest() returned.")
        return [self._row_of[name] for name in ids]

    def new_rows(self, ids: Sequence[str]) -> list[int]:
        """Return the rows of ids that have no answer yet, each named once."""
        rows = self.rows_of(ids)
        taken: set[int] = set()
        for name, row in zip(ids, rows, strict=True):
            if self.answered[row] or row in taken:
                raise LabelError(f"Item {name!r} has an answer already. Answer each item once.")
            taken.add(row)
        return rows

    def passed(self, proposal: Sequence[int], answered: set[int]) -> list[int]:
        """Return the hidden rows of a proposal above the first one that was shown and is not answered now.

        Those further down are not met: who looks far ahead and answers little has not come to them, and of the items
        there that are not control documents nothing is known.
        """
        met: list[int] = []
        waiting: list[int] = []
        for row in proposal:
            if self.hidden[row]:
                waiting.append(row)
            elif row in answered:
                met += waiting
                waiting = []
            else:
                return met
        return met + waiting

    def take(self, entry: Entry, *, hide: bool) -> None:
        """Take in an entry of the ledger; a hidden item that comes again by the policy is hidden no more.

        Under a rule that hides nothing a ledger may still have such second entries, from another rule before: they say
        nothing new.
        """
        row = self.row(str(entry.item))
        if self.answered[row] and not self.hidden[row] and entry.origin == "policy" and not entry.cost:
            return
        if self.answered[row] and not self.hidden[row]:
            raise LabelError(f"Item {entry.item!r} has an answer already. Answer each item once.")
        if not self.answered[row]:
            self.first.append(row)
        self.answered[row], self.hidden[row], self.labels[row] = True, hide, entry.answer
        if not hide:
            self._rows = appended(self._rows, self._n, [row])
            self._turns = appended(self._turns, self._n, [self.turn])
            self._n += 1
