"""Labels from a person who fills in a table: questions go out as CSV, answers come back in the same file."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from riffler.data.atomic import atomic_write
from riffler.errors import AnswersPending, DataFileError, InputError
from riffler.ledger import UNKNOWN, Entry, Item
from riffler.oracles.base import Cost, Oracle, checked_answer
from riffler.records import BoolArray, FloatArray

COLUMNS = ("item", "answer", "round", "origin", "in_top", "probability", "cost", "asked_at")


class FileOracle(Oracle):
    """Write questions into a CSV file, and read the answers that a person wrote into its ``answer`` column.

    A question without an answer raises :class:`~riffler.errors.AnswersPending`: fill in the file (yes or no, 1 or 0,
    ? for "don't know") and step the same batch again. The file keeps everything: a new process that steps through the
    same batches goes on where the last one stopped, and every question in the file counts against the budget, open or
    answered. It is only ever replaced as a whole.

    Parameters
    ----------
    path : file
    describe : function of the item, or None
        What a person needs to see to answer, as a dict of columns; they stand right of ``answer``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        describe: Callable[[Item], dict[str, object]] | None = None,
        cost: Cost = 1.0,
        budget: float | None = None,
    ) -> None:
        super().__init__(cost=cost, budget=budget)
        self.path = Path(path)
        self._describe = describe
        self._rows: dict[str, dict[str, str]] = {}  # by the name of the item as the file writes it
        if self.path.exists():
            self._read()

    @property
    def n_asked(self) -> int:
        """Questions in the file, answered or not."""
        return len(self._rows)

    @property
    def n_open(self) -> int:
        """Questions in the file that wait for an answer."""
        return sum(not row["answer"].strip() for row in self._rows.values())

    @property
    def spent(self) -> float:
        """Price of all questions in the file, answered or not: a person may be at them."""
        return sum(self._cost_in(row) for row in self._rows.values())

    def _cost_in(self, row: dict[str, str]) -> float:
        written = row.get("cost", "").strip()
        # spreadsheets of some countries write a comma
        return float(written.replace(",", ".")) if written else self._price(row["item"])

    def _is_paid(self, item: Item) -> bool:
        return str(item) in self._rows

    def _put(
        self, items: list[Item], new: list[int], round: int, origin: str, tops: BoolArray, shares: FloatArray
    ) -> None:
        if self.path.exists() and any(not self._answer(items[at]) for at in new):
            self._read()  # what was answered since; and nothing that a person wrote is overwritten
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        entries = [
            Entry(items[at], round, origin, bool(tops[at]), float(shares[at]), UNKNOWN, self._price(items[at]), now)
            for at in new
            if str(items[at]) not in self._rows
        ]
        if entries:
            self._rows |= {str(entry.item): self._as_row(entry) for entry in entries}
            self._write()
        waiting = sum(not self._answer(items[at]) for at in new)
        if waiting:
            raise AnswersPending(
                f"{waiting} of {len(items)} questions wait for an answer in {self.path}: write 1 or 0 (? for don't "
                "know) into the column 'answer', save as CSV, then run the same again."
            )
        super()._put(items, new, round, origin, tops, shares)

    def _answer(self, item: Item) -> str:
        return self._rows.get(str(item), {}).get("answer", "").strip()

    def _reveal(self, items: list[Item]) -> Iterator[object]:
        for item in items:
            yield self._rows[str(item)]["answer"]

    def _as_row(self, entry: Entry) -> dict[str, str]:
        extra = {} if self._describe is None else self._describe(entry.item)
        taken = [name for name in COLUMNS if name in extra]
        if taken:
            raise InputError(
                f"describe gave item {entry.item!r} a column {taken[0]!r}, and the questions have one of that name. "
                f"Call it something else than {', '.join(COLUMNS)}."
            )
        row = {"item": str(entry.item), "answer": "", **{name: str(value) for name, value in extra.items()}}
        row |= {name: str(getattr(entry, name)) for name in COLUMNS[2:]}
        return row

    def _read(self) -> None:
        try:
            with self.path.open(newline="", encoding="utf-8-sig") as file:
                sample = file.read(4096)
                file.seek(0)
                reader = csv.DictReader(file, delimiter=_delimiter(sample))
                names = list(reader.fieldnames or [])
                rows = list(reader)
        except (UnicodeDecodeError, csv.Error) as error:
            raise DataFileError(f"{self.path}: cannot be read as CSV in UTF-8 ({error}). Save it as such.") from error
        missing = [name for name in ("item", "answer") if name not in names]
        if missing:
            raise DataFileError(
                f"{self.path}: expected the columns item and answer, got {', '.join(names) or 'none'}. "
                "Keep the columns of the questions as they were written."
            )
        found: dict[str, dict[str, str]] = {}
        for number, row in enumerate(rows, start=2):
            if row["item"] in found:
                raise DataFileError(f"{self.path}, line {number}: item {row['item']} stands there twice. Keep one.")
            found[row["item"]] = self._checked({name: value or "" for name, value in row.items() if name}, number)
        self._rows = found

    def _checked(self, row: dict[str, str], number: int) -> dict[str, str]:
        if row["answer"].strip():
            checked_answer(row["answer"], row["item"])
        cost = row.get("cost", "").strip()
        if cost and not re.fullmatch(r"\d+([.,]\d+)?(e[+-]?\d+)?", cost, re.IGNORECASE):
            raise DataFileError(
                f"{self.path}, line {number}: expected a number as the cost, got {cost!r}. Leave that column as it was."
            )
        return row

    def _write(self) -> None:
        names = list(dict.fromkeys(name for row in self._rows.values() for name in row))
        with atomic_write(self.path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=names, restval="")
            writer.writeheader()
            writer.writerows(self._rows.values())


def _delimiter(sample: str) -> str:
    """Spreadsheets of some countries write semicolons or tabs."""
    header = sample.splitlines()[0] if sample else ""
    return max(",;\t", key=header.count)
