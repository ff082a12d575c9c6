"""Which columns of a source are title, text, id and label, and the documents that a chunk of it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riffler.data.collection_reading import ABSTRACT_TAGS, CONTENT, TITLE_TAGS, id_column
from riffler.data.item_ids import HOW_TO_SAY
from riffler.data.judgements import RELEVANT, check_judgements, judged
from riffler.data.labels import Positive, as_values
from riffler.data.ris import TAGS_COLUMN
from riffler.data.ris_marks import noted_ids, noted_labels
from riffler.data.text_columns import as_text, chosen_column, find_column, find_dois, first_text, text_or_null
from riffler.data.texts import Texts
from riffler.errors import DataFileError, InputError

if TYPE_CHECKING:
    import polars as pl

NOTES = "N1"
BY_NOTES, BY_TAGS = "(notes)", "(tags)"
"""Where ids and labels of tagged records are among their notes, and texts under one tag or another."""

MANY_WORDS = 50


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """Which columns hold what, as far as the caller said it; ``positive`` are the label values that are relevant."""

    title: str | None = None
    abstract: str | None = None
    text: str | None = None
    id: str | None = None
    label: str | None = None
    positive: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The columns as JSON."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Parts:
    """The columns of a source that were taken, None where there is none; an id of None is made of the content."""

    title: str | None
    abstract: str | None
    id: str | None
    label: str | None

    def to_json(self) -> dict[str, str | None]:
        """The parts as JSON."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Parts:
        """The parts of their JSON."""
        return cls(value["title"], value["abstract"], value["id"], value["label"])


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Documents one after the other of one source.

    Attributes
    ----------
    titles, abstracts : texts, null where there is none
    ids : as a column gave them, None where they are made of the content
    dois : in small letters, "" where there is none; part of the content
    labels : 1, 0 and -1
    others : the other columns of each document as JSON, null where there are none
    source, first_row : the number of the source, and of the first document in it
    """

    titles: pl.Series
    abstracts: pl.Series
    ids: pl.Series | None
    dois: pl.Series
    labels: NDArray[np.int8]
    others: pl.Series
    source: int
    first_row: int

    @property
    def n_items(self) -> int:
        """Documents of the piece."""
        return len(self.titles)

    def slice(self, start: int, n: int) -> Piece:
        """Some of the documents."""
        return replace(
            self,
            titles=self.titles.slice(start, n),
            abstracts=self.abstracts.slice(start, n),
            ids=None if self.ids is None else self.ids.slice(start, n),
            dois=self.dois.slice(start, n),
            labels=self.labels[start : start + n],
            others=self.others.slice(start, n),
            first_row=self.first_row + start,
        )

    def texts(self) -> pl.Series:
        """Title and text of each document, one below the other."""
        return Texts(self.titles, self.abstracts).block(0, self.n_items)

    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each document."""
        columns = (self.titles, self.abstracts, self.others)
        sizes: NDArray[np.int64] = sum(one.str.len_bytes().fill_null(0).cast(int).to_numpy() for one in columns)  # type: ignore[assignment]
        return sizes


def choose_parts(frame: pl.DataFrame, wanted: WantedColumns, source: str) -> Parts:
    """Choose the columns of a source by its first chunk, by the rules of ``read_collection``."""
    if wanted.abstract is not None and wanted.text is not None:
        raise InputError("Pass abstract= or text=, not both: either names the column with the text below the title.")
    is_tagged = TAGS_COLUMN in frame.columns
    title = _chosen(frame, "title", wanted.title, source) or (BY_TAGS if is_tagged else find_column(frame, "title"))
    abstract = _chosen(frame, "abstract", wanted.abstract, source) or _chosen(frame, "text", wanted.text, source)
    if abstract is None:
        abstract = BY_TAGS if is_tagged else find_column(frame, "abstract") or find_column(frame, "text")
    if title is None and abstract is None:
        raise DataFileError(
            f"{source}: no column is called title, abstract or text. Columns: {', '.join(frame.columns)}. "
            "Say which one holds the text with title=, abstract= or text=."
        )
    return Parts(title, abstract, _id_part(frame, wanted.id, source), _label_part(frame, wanted, source))


def piece_of(
    frame: pl.DataFrame, parts: Parts, positive: Positive, source: str, number: int, first_row: int
) -> tuple[Piece, set[str]]:
    """The documents of a chunk, and the words of its label column; a column that this chunk lacks is blank."""
    titles = _texts(frame, parts.title, TITLE_TAGS)
    if parts.title == BY_TAGS:  # where a line of a title ends says nothing; in an abstract it may end a paragraph
        titles = titles.str.replace_all(r"\s*\n\s*", " ")
    abstracts = _texts(frame, parts.abstract, ABSTRACT_TAGS)
    ids = _ids(frame, parts.id, source, first_row)
    labels, words = _labels(frame, parts.label, positive, source, first_row)
    shown = {parts.title: titles, parts.abstract: abstracts, parts.id: ids}
    repeated = [name for name, kept in shown.items() if name in frame.columns and _is_same(frame[name], kept)]
    piece = Piece(
        titles, abstracts, ids, find_dois(frame), labels, _as_json(frame.drop(repeated)), number, first_row
    )  # fmt: skip
    return piece, words


def kept_words(before: set[str], words: set[str], positive: Positive) -> set[str]:
    """Words of a label column so far: all that matter at its end, and of others only some."""
    relevant = {str(value) for value in as_values(positive)} if positive is not None else RELEVANT
    both = before | words
    return both if len(both) <= MANY_WORDS else {one for one in both if one in relevant} | set(sorted(both)[:20])


def check_words(words: set[str], parts: Parts, positive: Positive, source: str) -> None:
    """Raise where the words of the whole label column cannot mean what they were taken for."""
    if parts.label is not None and parts.label != BY_NOTES and words:
        check_judgements(words, parts.label, positive, source)


def _chosen(frame: pl.DataFrame, part: str, name: str | None, source: str) -> str | None:
    return None if name is None else chosen_column(frame, part, name, source)


def _id_part(frame: pl.DataFrame, chosen: str | None, source: str) -> str | None:
    if chosen is not None and (chosen != CONTENT or CONTENT in frame.columns):
        return chosen_column(frame, "id", chosen, source)
    if chosen == CONTENT:
        return None
    if TAGS_COLUMN in frame.columns and NOTES in frame.columns and not noted_ids(frame[NOTES]).null_count():
        return BY_NOTES
    return id_column(frame)


def _label_part(frame: pl.DataFrame, wanted: WantedColumns, source: str) -> str | None:
    name = _chosen(frame, "label", wanted.label, source) or find_column(frame, "label")
    if name is not None:
        return name
    if wanted.positive is not None:
        raise DataFileError(
            f"{source}: positive= was given but no column is called label. Columns: {', '.join(frame.columns)}. "
            "Say which one holds the labels with label=."
        )
    return BY_NOTES if TAGS_COLUMN in frame.columns else None


def _texts(frame: pl.DataFrame, name: str | None, tags: tuple[str, ...]) -> pl.Series:
    import polars as pl

    found = first_text(frame, tags) if name == BY_TAGS else None
    if found is None and name is not None and name in frame.columns:
        found = text_or_null(frame[name])
    return pl.Series([None], dtype=pl.String).new_from_index(0, frame.height) if found is None else found


def _ids(frame: pl.DataFrame, name: str | None, source: str, first_row: int) -> pl.Series | None:
    import polars as pl

    if name is None:
        return None
    column = NOTES if name == BY_NOTES else name
    given = frame[column] if column in frame.columns else pl.Series(column, [""], dtype=pl.String)
    ids = as_text(noted_ids(given) if name == BY_NOTES else given).str.strip_chars()
    blank = (ids == "").arg_max() if (ids == "").any() else None
    if blank is not None:
        raise DataFileError(f"{source}: row {first_row + blank + 1} has no id in column {column!r}. {HOW_TO_SAY}")
    return ids


def _labels(
    frame: pl.DataFrame, name: str | None, positive: Positive, source: str, first_row: int
) -> tuple[NDArray[np.int8], set[str]]:
    unknown = np.full(frame.height, -1, dtype=np.int8)
    if name == BY_NOTES:
        noted = noted_labels(frame[NOTES]) if NOTES in frame.columns else None
        return (unknown if noted is None else noted), set()
    if name is None or name not in frame.columns:
        return unknown, set()
    return judged(frame[name], positive, source, first_row)


def _is_same(column: pl.Series, kept: pl.Series | None) -> bool:
    """Whether a column needs not be kept a second time."""
    import polars as pl

    if kept is None or column.dtype not in (pl.String, pl.Null):
        return False
    return bool(column.cast(pl.String).eq_missing(kept).all())


def _as_json(frame: pl.DataFrame) -> pl.Series:
    import polars as pl
    from polars import selectors

    if frame.width == 0:
        return pl.Series([None], dtype=pl.String).new_from_index(0, frame.height)
    readable = frame.with_columns(selectors.binary().bin.encode("base64"))
    return readable.select(others=pl.struct(pl.all()).struct.json_encode())["others"]
