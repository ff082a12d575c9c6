"""How documents are indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from riffler.disk.parts import WantedColumns
from riffler.disk.settings import VectoriserSettings
from riffler.errors import InputError

N_ITEMS = 100_000
N_BYTES = 1 << 28
"""A partition ends with the document that makes it so many documents, or so many bytes of text."""


MOST_ITEMS, MOST_BYTES = 10_000_000, 1 << 30
"""The entries of a partition's rows are counted in 31 bits, and a word of a text takes two bytes at least."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """How documents are indexed.

    Attributes
    ----------
    columns : which columns hold what
    vectoriser : how texts become rows; None for that of the collection, or the usual one of a new collection
    encoding : of the texts, where it is neither UTF-8, UTF-16 nor Windows-1252
    n_clusters : soft clusters to find, 0 for none; None for those of the collection
    seed : of the clusters
    n_items, n_bytes : where a partition ends
    """

    columns: WantedColumns = WantedColumns()  # noqa: RUF009 - it is frozen
    vectoriser: VectoriserSettings | None = None
    encoding: str | None = None
    n_clusters: int | None = None
    seed: int = 0
    n_items: int = N_ITEMS
    n_bytes: int = N_BYTES

    def __post_init__(self) -> None:
        if not (1 <= self.n_items <= MOST_ITEMS and 1 <= self.n_bytes <= MOST_BYTES):
            raise InputError(
                f"A partition ends after 1 to {MOST_ITEMS:,} documents or 1 to {MOST_BYTES:,} bytes of text, got "
                f"{self.n_items!r} and {self.n_bytes!r}."
            )
        if self.n_clusters is not None and self.n_clusters < 0:
            raise InputError(f"n_clusters must be 0 (none) or more, got {self.n_clusters!r}.")

    def to_json(self) -> dict[str, Any]:
        """The options as JSON."""
        return {
            "columns": self.columns.to_json(),
            "vectoriser": None if self.vectoriser is None else self.vectoriser.to_json(),
            "encoding": self.encoding,
            "n_clusters": self.n_clusters,
            "seed": self.seed,
            "n_items": self.n_items,
            "n_bytes": self.n_bytes,
        }
