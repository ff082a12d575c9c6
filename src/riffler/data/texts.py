"""Texts that stay where they are: a sequence of strings over polars columns, without a copy of them in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, overload

from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

BLOCK = 4096


class Texts(Sequence[str]):
    r"""One string an item: the parts of several columns, one below the other, blank ones left out.

    A hundred thousand abstracts are 150 MB; as Python strings they would be there a second time. ``block`` gives a
    stretch as a polars column, which is the quick way through all of them. Nulls are blank.

    >>> import polars as pl
    >>> texts = Texts(pl.Series(["On gulls", "On owls"]), pl.Series(["They fly.", ""]))
    >>> texts[0], list(texts)
    ('On gulls\nThey fly.', ['On gulls\nThey fly.', 'On owls'])
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: pl.Series) -> None:
        self._parts = parts

    def above(self, other: Texts) -> Texts:
        """These texts with those of ``other`` below them, item by item."""
        return Texts(*self._parts, *other._parts)

    @property
    def series(self) -> pl.Series:
        """All texts as one polars column."""
        return self.block(0, len(self))

    def block(self, start: int, stop: int) -> pl.Series:
        """The texts from row ``start`` up to ``stop`` as a polars column."""
        import polars as pl

        parts = [part.slice(start, max(0, stop - start)).fill_null("") for part in self._parts]
        if len(parts) == 1:
            return parts[0].alias("text")
        blank_as_null = [pl.when(pl.lit(part) != "").then(pl.lit(part)) for part in parts]
        return pl.select(text=pl.concat_str(blank_as_null, separator="\n", ignore_nulls=True))["text"]

    def take(self, rows: IntArray) -> Texts:
        """The texts of the given rows, in that order."""
        return Texts(*(part.gather(rows) for part in self._parts))

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(self[row] for row in range(*at.indices(len(self))))
        row = index(at)
        return "\n".join(part[row] for part in self._parts if part[row])

    def __len__(self) -> int:
        return len(self._parts[0])

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BLOCK):
            yield from self.block(start, start + BLOCK)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(own == its for own, its in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{len(self):,} texts>"
