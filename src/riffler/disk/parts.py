"""Which columns of a source are title, text, id and label, and the documents that a chunk of it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riffler.data.collection_reading import ABSTRACT_TAGS, CONTENT, EXPORTED_ID, TITLE_TAGS, id_column
from riffler.data.item_ids import HOW_TO_SAY
from riffler.data.json_members import without_texts
from riffler.data.judgements import code_of, judged
from riffler.data.labels import Positive
from riffler.data.ris import TAGS_COLUMN
from riffler.data.ris_marks import noted_ids, noted_labels
from riffler.data.text_columns import (
    NAMES,
    SHOWN_NAMES,
    as_text,
    chosen_column,
    find_column,
    find_dois,
    first_text,
    fold_name,
    has_bytes,
    names_in_words,
    no_text,
    text_or_null,
)
from riffler.data.texts import Texts
from riffler.errors import DataFileError, InputError

if TYPE_CHECKING:
    import polars as pl

NOTES = "N1"
BY_NOTES, BY_TAGS = "(notes)", "(tags)"
"""Where ids and labels of tagged records are among their notes, and texts under one tag or another."""

LINE_COLUMN = "\0line"
"""Where a frame has the lines of JSON that it was made of; no column that plays a part is called so."""

MANY_WORDS, SHOWN_WORDS, SHOWN_LINES = 50, 20, 20


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """Which columns hold what, as far as the caller said it; ``positive`` are the label values that are relevant."""

    title: str | None = None
    abstract: str | None = None
    text: str | None = None
    id: str | None = None
    label: str | None = None
    positive: tuple[str, ...] | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that the caller named."""
        return tuple(one for one in (self.title, self.abstract, self.text, self.id, self.label) if one is not None)

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
        import polars as pl

        columns = [pl.lit(one).str.len_bytes().cast(pl.Int64) for one in (self.titles, self.abstracts, self.others)]
        sizes: NDArray[np.int64] = pl.select(pl.sum_horizontal(columns)).to_series().to_numpy()
        return sizes


def part_names(wanted: WantedColumns) -> Callable[[str], bool]:
    """Tell whether a column can make a difference to ``choose_parts`` and ``piece_of``.

    >>> [part_names(WantedColumns(text="Speech"))(name) for name in ("Article Title", "speech", "year")]
    [True, True, False]
    """
    usual = {name for part in ("title", "abstract", "text", "id", "label", "doi") for name in NAMES[part]}
    folded = usual | {fold_name(one) for one in wanted.named}
    exact = {EXPORTED_ID, TAGS_COLUMN, NOTES, "TY", *TITLE_TAGS, *ABSTRACT_TAGS}
    return lambda name: name in exact or fold_name(name) in folded


def choose_parts(frame: pl.DataFrame, late: Sequence[str], wanted: WantedColumns, source: str, kind: str) -> Parts:
    """Choose the columns of a source of some kind by its first chunk and the columns that come ``late``.

    The rules are those of ``read_collection``.
    """
    try:
        return _chosen_parts(_with_columns(frame, late), wanted, source, kind)
    except DataFileError:  # tells the columns: of JSON lines also those that cannot play a part
        return _chosen_parts(_with_columns(frame, [*late, *_some_keys(frame)]), wanted, source, kind)


def _chosen_parts(frame: pl.DataFrame, wanted: WantedColumns, source: str, kind: str) -> Parts:
    if wanted.abstract is not None and wanted.text is not None:
        raise InputError("Pass abstract= or text=, not both: either names the column with the text below the title.")
    title = _chosen(frame, "title", wanted.title, source)
    if title is None:
        title = BY_TAGS if _has_tags(frame, kind, TITLE_TAGS) else find_column(frame, "title")
    abstract = _chosen(frame, "abstract", wanted.abstract, source) or _chosen(frame, "text", wanted.text, source)
    if abstract is None:
        usual = find_column(frame, "abstract") or find_column(frame, "text")
        abstract = BY_TAGS if _has_tags(frame, kind, ABSTRACT_TAGS) else usual
    if title is None and abstract is None:
        raise no_text(frame.columns, source)
    return Parts(title, abstract, _id_part(frame, wanted.id, source), _label_part(frame, wanted, source))


def _with_columns(frame: pl.DataFrame, others: Sequence[str]) -> pl.DataFrame:
    """A chunk, without the lines it was made of, and with columns that it lacks."""
    import polars as pl

    columns = {name: frame[name] for name in frame.columns if name != LINE_COLUMN}
    blank = pl.Series([None], dtype=pl.String).new_from_index(0, frame.height)
    return pl.DataFrame({**columns, **{name: blank for name in others if name not in columns}})


def _some_keys(frame: pl.DataFrame) -> list[str]:
    """Keys of the first JSON lines, more than are told; of other formats there are columns of all."""
    lines = frame[LINE_COLUMN].head(SHOWN_LINES) if LINE_COLUMN in frame.columns else ()
    names: dict[str, None] = {}
    for line in lines:
        names.update(dict.fromkeys(filter(_is_text, islice(json.loads(line), SHOWN_NAMES + 1))))
        if len(names) > SHOWN_NAMES:
            break
    return list(names)


def _is_text(key: str) -> bool:
    """Whether a key can be written; half of a pair of surrogates cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in key)


def piece_of(
    frame: pl.DataFrame, parts: Parts, positive: Positive, source: str, number: int, first_row: int
) -> tuple[Piece, set[str]]:
    """The documents of a chunk, and the words of its label column; a column that this chunk lacks is blank."""
    titles = _texts(frame, parts.title, TITLE_TAGS, source)
    if parts.title == BY_TAGS:  # where a line of a title ends says nothing; in an abstract it may end a paragraph
        titles = titles.str.replace_all(r"\s*\n\s*", " ")
    abstracts = _texts(frame, parts.abstract, ABSTRACT_TAGS, source)
    ids = _ids(frame, parts.id, source, first_row)
    labels, words = _labels(frame, parts.label, positive, source, first_row)
    shown = {parts.title: titles, parts.abstract: abstracts, parts.id: ids}
    others = _others(frame, {name: kept for name, kept in shown.items() if name is not None and name in frame.columns})
    return Piece(titles, abstracts, ids, find_dois(frame), labels, others, number, first_row), words


def kept_words(before: set[str], words: set[str], positive: Positive) -> set[str]:
    """Words of label columns so far: all if they are few, else some of each meaning, which is what is asked in the end.

    >>> sorted(kept_words({f"w{n:03}" for n in range(200)}, {"yes"}, ["yes"]))[-2:]
    ['w019', 'yes']
    """
    both = before | words
    if len(both) <= MANY_WORDS:
        return both
    by_code: dict[int | None, list[str]] = {}
    for word in sorted(both):  # -1 and -1.0, which are asked for by themselves, come before other words
        by_code.setdefault(code_of(word, positive), []).append(word)
    return {word for alike in by_code.values() for word in alike[:SHOWN_WORDS]}


def label_column(parts: Parts) -> str | None:
    """The column with the labels, None where they are among notes or nowhere."""
    return None if parts.label == BY_NOTES else parts.label


def _chosen(frame: pl.DataFrame, part: str, name: str | None, source: str) -> str | None:
    return None if name is None else chosen_column(frame, part, name, source)


def _has_tags(frame: pl.DataFrame, kind: str, tags: tuple[str, ...]) -> bool:
    """Whether texts are under one tag or another: a table may say which tags its records had, and have none of them."""
    return kind == "tagged" or (TAGS_COLUMN in frame.columns and any(tag in frame.columns for tag in tags))


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
            f"{source}: positive= was given but no column is called label. Columns: {names_in_words(frame.columns)}. "
            "Say which one holds the labels with label=."
        )
    return BY_NOTES if TAGS_COLUMN in frame.columns else None


def _texts(frame: pl.DataFrame, name: str | None, tags: tuple[str, ...], source: str) -> pl.Series:
    import polars as pl

    found = first_text(frame, tags, source) if name == BY_TAGS else None
    if found is None and name is not None and name in frame.columns:
        found = text_or_null(frame[name], source)
    return pl.Series([None], dtype=pl.String).new_from_index(0, frame.height) if found is None else found


def _ids(frame: pl.DataFrame, name: str | None, source: str, first_row: int) -> pl.Series | None:
    import polars as pl

    if name is None:
        return None
    column = NOTES if name == BY_NOTES else name
    given = frame[column] if column in frame.columns else pl.Series(column, [""], dtype=pl.String)
    ids = as_text(noted_ids(given) if name == BY_NOTES else given, source).str.strip_chars()
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


def _others(frame: pl.DataFrame, shown: Mapping[str, pl.Series | None]) -> pl.Series:
    """What a document has besides the columns that are kept by themselves, as JSON."""
    if LINE_COLUMN in frame.columns:
        texts = {name: kept for name, kept in shown.items() if kept is not None and frame[name].dtype == kept.dtype}
        same = {name: frame[name].eq_missing(kept).to_numpy() for name, kept in texts.items()}
        return without_texts(frame[LINE_COLUMN], same)
    return _as_json(frame.drop(name for name, kept in shown.items() if _is_same(frame[name], kept)))


def _is_same(column: pl.Series, kept: pl.Series | None) -> bool:
    """Whether a column needs not be kept a second time."""
    import polars as pl

    if kept is None or column.dtype not in (pl.String, pl.Null):
        return False
    return bool(column.cast(pl.String).eq_missing(kept).all())


def _as_json(frame: pl.DataFrame) -> pl.Series:
    import polars as pl

    if frame.width == 0:
        return pl.Series([None], dtype=pl.String).new_from_index(0, frame.height)
    with_bytes = [(name, dtype) for name, dtype in frame.schema.items() if has_bytes(dtype)]
    if with_bytes:
        frame = frame.with_columns(_without_bytes(pl.col(name), dtype).alias(name) for name, dtype in with_bytes)
    return frame.select(others=pl.struct(pl.all()).struct.json_encode())["others"]


def _without_bytes(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Bytes as text in base64, however deep they lie: JSON has none."""
    import polars as pl

    if not has_bytes(dtype):
        return value
    if isinstance(dtype, pl.Struct):
        fields = [_without_bytes(value.struct.field(one.name), one.dtype).alias(one.name) for one in dtype.fields]  # type: ignore[arg-type]
        return pl.when(value.is_not_null()).then(pl.struct(fields))
    if isinstance(dtype, pl.List | pl.Array):
        listed = value.arr.to_list() if isinstance(dtype, pl.Array) else value
        return listed.list.eval(_without_bytes(pl.element(), dtype.inner))  # type: ignore[arg-type]
    return value.bin.encode("base64")
