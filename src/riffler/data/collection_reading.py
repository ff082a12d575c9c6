"""The one door to collections of texts: ``read_collection``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.data.collection import Collection
from riffler.data.delimited import read_delimited
from riffler.data.encodings import read_text
from riffler.data.folder import read_folder, told_of_its_folder
from riffler.data.frames import read_parquet
from riffler.data.item_ids import content_ids, given_ids
from riffler.data.jsonl import read_jsonl
from riffler.data.judgements import read_judgements
from riffler.data.labels import Positive
from riffler.data.opening import check_file, format_of
from riffler.data.public import Folder, load_documents
from riffler.data.ris import TAGS_COLUMN, looks_tagged, read_records
from riffler.data.ris_marks import noted_ids, noted_labels
from riffler.data.spreadsheet import read_spreadsheet
from riffler.data.text_columns import (
    chosen_column,
    find_column,
    find_dois,
    first_text,
    names_in_words,
    no_text,
    rows_with,
    text_or_null,
)
from riffler.data.texts import Texts
from riffler.errors import DataFileError, InputError

if TYPE_CHECKING:
    import polars as pl

FORMATS = {
    "delimited": (".csv", ".tsv", ".tab"),
    "tagged": (".ris", ".nbib"),
    "text": (".txt",),
    "jsonl": (".jsonl", ".ndjson"),
    "spreadsheet": (".xlsx", ".xlsm", ".xls", ".ods"),
    "parquet": (".parquet", ".pq"),
}
"""Endings of each format; all but spreadsheets and Parquet may carry one of ``COMPRESSIONS`` behind."""

TITLE_TAGS = ("TI", "T1", "CT", "BT", "ST")
ABSTRACT_TAGS = ("AB", "N2")
CONTENT = "content"
EXPORTED_ID = "riffler_id"


def read_collection(
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    abstract: str | None = None,
    text: str | None = None,
    id: str | None = None,
    label: str | None = None,
    positive: Positive = None,
    encoding: str | None = None,
) -> Collection:
    r"""Read texts to review from CSV, TSV, XLSX, RIS, PubMed, Parquet or JSON lines, or from a folder of text files.

    Columns that are not named are found by the names that common programs give them; of a folder the path of each file
    is its id and the first line its title.

    Parameters
    ----------
    path : the file or folder; text formats may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``)
    title, abstract : columns with the texts; one of them is enough
    text : column with the text where it is not called abstract
    id : column with the ids; without one, or with ``id="content"``, ids are made of title, abstract and DOI
    label : column with what is known: 1 or 0, yes or no, include or exclude, and nothing (or -1) where it is not
    positive : value or values of the label column that are relevant; all others are irrelevant then; of a
        field of several topics, joined by ``|``, one is enough
    encoding : of the text, where it is neither UTF-8, UTF-16 nor Windows-1252

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "review.csv"
    >>> _ = file.write_text("Title,Abstract,included\nOn gulls,They fly.,yes\nOn stones,They do not.,\n")
    >>> collection = read_collection(file)
    >>> collection.texts[0], collection.labels
    ('On gulls\nThey fly.', array([ 1, -1], dtype=int8))
    """
    path = Path(path)
    frame = read_frame(path, encoding)
    return collection_from_frame(
        frame, title=title, abstract=abstract, text=text, id=id, label=label, positive=positive, source=str(path)
    )


def load_collection(
    name: str,
    *,
    where: Mapping[str, str] | None = None,
    id: str | None = None,
    label: str | None = None,
    folder: Folder = None,
) -> Collection:
    """Load a public text collection by name (``riffler.datasets``), with its labels where it has one label of interest.

    ``where`` keeps the rows with these values: sets that join several reviews repeat ids, and
    ``load_collection("cohen2006", where={"review": "Triptans"})`` is one of them. Sets of many topics get their labels
    by ``with_topic``.
    """
    frame = load_documents(name, folder=folder)
    for column, value in (where or {}).items():
        frame = rows_with(frame, column, value, name)
    return collection_from_frame(frame, id=id, label=label, source=name)


def collection_from_frame(
    frame: pl.DataFrame,
    *,
    title: str | None = None,
    abstract: str | None = None,
    text: str | None = None,
    id: str | None = None,
    label: str | None = None,
    positive: Positive = None,
    source: str = "frame",
) -> Collection:
    """Make a collection of a polars frame; the parameters are those of ``read_collection``."""
    if frame.height == 0:
        raise DataFileError(f"{source}: no rows.")
    found_titles = _text_part(frame, "title", title, TITLE_TAGS, source)
    found_abstracts = _abstracts(frame, abstract, text, source)
    if found_titles is None and found_abstracts is None:
        raise no_text(frame.columns, source)
    titles = Texts(_blanks(frame.height) if found_titles is None else found_titles)
    abstracts = Texts(_blanks(frame.height) if found_abstracts is None else found_abstracts)
    if not any(text.strip() for text in titles.above(abstracts)):
        raise DataFileError(f"{source}: every text is empty in all {frame.height:,} rows; there is nothing to review.")
    return Collection(
        ids=_ids(frame, id, titles, abstracts, source),
        titles=titles,
        abstracts=abstracts,
        labels=_labels(frame, label, positive, source),
        columns=frame,
        source=source,
    )


def read_frame(path: Path, encoding: str | None = None) -> pl.DataFrame:
    """All columns of a file, or the texts of a folder."""
    if path.is_dir():
        return read_folder(path, encoding)
    check_file(path)
    kind = text_format_of(path)
    if kind == "spreadsheet":
        return read_spreadsheet(path)
    if kind == "parquet":
        return read_parquet(path)
    if kind == "jsonl":
        return read_jsonl(path, encoding)
    if kind == "delimited":
        return read_delimited(path, encoding)
    content = read_text(path, encoding)
    if not content.strip():
        raise DataFileError(f"{path}: the file holds no text.")
    if kind == "tagged" or looks_tagged(content):  # databases also give their records the ending .txt
        return read_records(content, str(path))
    with told_of_its_folder(path):
        return read_delimited(path, encoding)


def text_format_of(path: Path) -> str:
    """Name the format of a collection by the ending of its file name.

    >>> text_format_of(Path("export.ris.gz")), text_format_of(Path("review.XLSX"))
    ('tagged', 'spreadsheet')
    """
    return format_of(path, FORMATS, ("spreadsheet", "parquet"), "; or a folder of text files")


def _text_part(
    frame: pl.DataFrame, part: str, chosen: str | None, tags: tuple[str, ...], source: str
) -> pl.Series | None:
    if chosen is not None:
        return text_or_null(frame[chosen_column(frame, part, chosen, source)], source)
    if TAGS_COLUMN in frame.columns and (found := first_text(frame, tags, source)) is not None:
        # where a line of a title ends says nothing; in an abstract it may end a paragraph
        return found.str.replace_all(r"\s*\n\s*", " ") if part == "title" else found
    name = find_column(frame, part)
    return None if name is None else text_or_null(frame[name], source)


def _abstracts(frame: pl.DataFrame, abstract: str | None, text: str | None, source: str) -> pl.Series | None:
    if abstract is not None and text is not None:
        raise InputError("Pass abstract= or text=, not both: either names the column with the text below the title.")
    if text is not None:
        return text_or_null(frame[chosen_column(frame, "text", text, source)], source)
    found = _text_part(frame, "abstract", abstract, ABSTRACT_TAGS, source)
    if found is None and (name := find_column(frame, "text")) is not None:
        return text_or_null(frame[name], source)
    return found


def _blanks(n_rows: int) -> pl.Series:
    import polars as pl

    return pl.Series([""], dtype=pl.String).new_from_index(0, n_rows)


def _ids(frame: pl.DataFrame, chosen: str | None, titles: Texts, abstracts: Texts, source: str) -> tuple[str, ...]:
    if chosen is not None and (chosen != CONTENT or CONTENT in frame.columns):
        return given_ids(frame[chosen_column(frame, "id", chosen, source)], source)
    if chosen is None:
        if TAGS_COLUMN in frame.columns and "N1" in frame.columns and _are_ids(noted := noted_ids(frame["N1"])):
            return given_ids(noted, source)
        if (found := id_column(frame)) is not None:
            return given_ids(frame[found], source)
    return content_ids(zip(titles, abstracts, find_dois(frame), strict=True))


def id_column(frame: pl.DataFrame) -> str | None:
    """The column that holds the ids: those of an export of ours, else one with a usual name; None if there is none."""
    if EXPORTED_ID in frame.columns and _are_ids(frame[EXPORTED_ID]):
        return EXPORTED_ID
    # the tag ID of RIS files is given by whoever exported them, and repeats in files that were joined
    return None if "TY" in frame.columns else find_column(frame, "id")


def _are_ids(ids: pl.Series) -> bool:
    return not ids.null_count() and ids.n_unique() == len(ids)


def _labels(frame: pl.DataFrame, chosen: str | None, positive: Positive, source: str) -> NDArray[np.int8] | None:
    if chosen is not None:
        name: str | None = chosen_column(frame, "label", chosen, source)
    else:
        name = find_column(frame, "label")
    if name is not None:
        return read_judgements(frame[name], positive, source)
    if positive is not None:
        raise DataFileError(
            f"{source}: positive= was given but no column is called label. Columns: {names_in_words(frame.columns)}. "
            "Say which one holds the labels with label=."
        )
    if TAGS_COLUMN in frame.columns and "N1" in frame.columns:
        return noted_labels(frame["N1"])
    return None
