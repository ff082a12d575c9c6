"""How texts of a collection on disk become rows: fixed when it is begun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from riffler.errors import InputError
from riffler.features.text import TextFeatures
from riffler.records import FloatArray

N_BITS = 18
FEWEST_BITS, MOST_BITS = 8, 24
MOST_BYTES = 2_000_000
STOP_WORDS = ("english", "none")


@dataclass(frozen=True, slots=True)
class VectoriserSettings:
    """TF-IDF of hashed terms.

    Attributes
    ----------
    n_bits : terms are hashed into 2^n_bits columns
    with_pairs : pairs of neighbouring words count beside the words
    stop_words : "english" leaves them out, "none" leaves out nothing
    most_bytes : of the UTF-8 of a text that count for its row; the record keeps all of it
    """

    n_bits: int = N_BITS
    with_pairs: bool = False
    stop_words: str = "english"
    most_bytes: int = MOST_BYTES

    def __post_init__(self) -> None:
        if not FEWEST_BITS <= self.n_bits <= MOST_BITS:
            raise InputError(f"n_bits must be from {FEWEST_BITS} to {MOST_BITS}, got {self.n_bits!r}.")
        if self.stop_words not in STOP_WORDS:
            raise InputError(f"stop_words must be {' or '.join(STOP_WORDS)}, got {self.stop_words!r}.")
        if self.most_bytes < 1:
            raise InputError(f"most_bytes must be at least 1, got {self.most_bytes!r}.")

    @property
    def n_columns(self) -> int:
        """Columns of a row."""
        return 1 << self.n_bits

    @property
    def unfitted(self) -> TextFeatures:
        """The vectoriser, without an idf."""
        return TextFeatures(
            n_bits=self.n_bits,
            ngram_range=(1, 2) if self.with_pairs else (1, 1),
            stop_words=None if self.stop_words == "none" else self.stop_words,
        )

    def fitted(self, idf: FloatArray) -> TextFeatures:
        """The vectoriser with its idf."""
        return self.unfitted.use_idf(idf)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {
            "n_bits": self.n_bits,
            "with_pairs": self.with_pairs,
            "stop_words": self.stop_words,
            "most_bytes": self.most_bytes,
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> VectoriserSettings:
        """The settings of their JSON."""
        return cls(int(value["n_bits"]), bool(value["with_pairs"]), str(value["stop_words"]), int(value["most_bytes"]))
