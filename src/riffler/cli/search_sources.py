"""What a user may name as a collection to search: texts (a file, a folder, a public set) or rows of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.cli.sources import DEMO
from riffler.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from riffler.data.collection import Collection
    from riffler.data.table import Table
    from riffler.evaluation.search_problem import Problem

NUMBERS = (".npz", ".svm", ".svmlight", ".libsvm", ".t", ".tr", ".val", ".dat")
"""Endings of files that hold no texts."""

COLUMN_PARTS = ("title", "abstract", "text", "id", "label")

DOCSTRINGS = "docstrings"
"""Texts that every machine has: docstrings of what is installed, with their subpackage as topic."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold what, and in which encoding, as far as the user said it."""

    title: str | None = None
    abstract: str | None = None
    text: str | None = None
    id: str | None = None
    label: str | None = None
    encoding: str | None = None

    @property
    def names_a_text(self) -> bool:
        """Whether a column of texts was named."""
        return (self.title or self.abstract or self.text) is not None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the items is relevant, and which of them take part.

    classes : values of the label that are relevant, None for the usual two
    topic_column, topics, min_relevant : one search a topic, None for all topics with enough items
    where : columns and the values that the rows must have
    """

    classes: tuple[str, ...] | None = None
    topic_column: str | None = None
    topics: tuple[str, ...] | None = None
    min_relevant: int = 50
    where: tuple[tuple[str, str], ...] = ()


def check_folder_options(name: str, columns: Columns, wanted: Wanted) -> None:
    """Refuse what is said of the columns of a collection on disk: that was said when it was indexed."""
    given = [f"--{part}" for part in (*COLUMN_PARTS, "encoding") if getattr(columns, part) is not None]
    given += ["--relevant-classes"] * (wanted.classes is not None)
    if wanted.where:
        raise InputError(
            f"{name} is a collection on disk, which is searched whole: --where is for files. Leave it out, or index "
            "only those documents."
        )
    if given:
        raise InputError(
            f"{name} is a collection on disk: {', '.join(given)} can only be said to `riffler index`. Leave it out, or "
            "index the documents anew."
        )


def problems_of(name: str, columns: Columns, wanted: Wanted) -> list[Problem]:
    """Read what DOCS names, and make the searches that are asked for."""
    from riffler.evaluation.search_problem import table_problem, text_problem, topic_problems

    found = documents_of(name, columns)
    if found is None:
        if wanted.topic_column is not None or wanted.where or columns.names_a_text:
            raise InputError(
                f"{name!r} holds numbers and no texts: --label-column, --where, --title, --abstract and --text are for "
                "texts. Say with --relevant-classes what is relevant."
            )
        return [table_problem(_table(name, columns, wanted.classes))]
    if wanted.topic_column is None:
        return [text_problem(_collection(found, name, columns, wanted))]
    if columns.label is not None or wanted.classes is not None:
        raise InputError("--label-column takes its topics from --labels; leave out --label and --relevant-classes.")
    collection = _collection(found, name, columns, wanted, labelled=False)
    return topic_problems(collection, wanted.topic_column, wanted.topics, wanted.min_relevant)


def documents_of(name: str, columns: Columns) -> pl.DataFrame | None:
    """The columns of a collection of texts; None where DOCS holds numbers."""
    from riffler.data.collection_reading import read_frame
    from riffler.data.public import info, load_documents, names
    from riffler.data.text_columns import find_column

    path = Path(name)
    if path.exists():
        if path.is_file() and _plain_ending(path) in NUMBERS:
            return None
        frame = read_frame(path, columns.encoding)
        speaks = columns.names_a_text or any(find_column(frame, part) for part in ("title", "abstract", "text"))
        return frame if speaks or not _is_table(path) or _has_words(frame) else None
    if name == DOCSTRINGS:
        from riffler.data.docstrings import docstrings

        return docstrings().columns
    if name == DEMO:
        return None
    if name not in names():
        raise InputError(
            f"{name!r} is neither a file or folder, nor {DEMO!r} or {DOCSTRINGS!r}, nor a known data set. "
            "`riffler datasets` lists them."
        )
    return load_documents(name) if info(name).task == "text" else None


def _plain_ending(path: Path) -> str:
    from riffler.data.opening import COMPRESSIONS

    name = path.name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return Path(name).suffix


def _is_table(path: Path) -> bool:
    return path.is_file() and _plain_ending(path) in (".csv", ".tsv", ".tab", ".parquet", ".pq")


def _has_words(frame: pl.DataFrame) -> bool:
    """Whether any column looks like sentences: then a table without a known name of one is an error, not numbers."""
    from riffler.data.text_columns import as_text, can_be_text

    names = [name for name, dtype in frame.schema.items() if can_be_text(dtype) and not dtype.is_numeric()]
    heads = [as_text(frame[name].head(200)).str.count_matches(r"\s+") for name in names]
    return any((head.mean() or 0) >= 4 for head in heads)  # type: ignore[operator]


def _collection(
    frame: pl.DataFrame, name: str, columns: Columns, wanted: Wanted, *, labelled: bool = True
) -> Collection:
    from riffler.data.collection_reading import collection_from_frame
    from riffler.data.text_columns import rows_with

    for column, value in wanted.where:
        frame = rows_with(frame, column, value, name)
    if not labelled:  # a column called label may hold anything here
        from riffler.data.text_columns import find_column

        aside = find_column(frame, "label")
        frame = frame if aside is None or aside == wanted.topic_column else frame.drop(aside)
    return collection_from_frame(
        frame, title=columns.title, abstract=columns.abstract, text=columns.text, id=columns.id, label=columns.label,
        positive=wanted.classes, source=name,
    )  # fmt: skip


def _table(name: str, columns: Columns, classes: tuple[str, ...] | None) -> Table:
    from riffler.data import read_table
    from riffler.data.public import info, load

    if Path(name).is_file():
        return read_table(name, label=columns.label, id=columns.id, positive=classes)
    if columns.label is not None or columns.id is not None:
        raise InputError(f"{name!r} knows where its labels are; --label and --id are for files.")
    if name == DEMO:
        return _digits(classes or ("8",))
    return load(name, "train" if "train" in info(name).splits else "all", positive=classes)


def _digits(classes: tuple[str, ...]) -> Table:
    """The handwritten digits that ship with scikit-learn, some of them against the rest."""
    import numpy as np
    from sklearn.datasets import load_digits

    from riffler.data.table import Schema, Table

    strange = [one for one in classes if one not in list("0123456789")]
    if strange:
        raise InputError(f"--relevant-classes of the digits are 0 to 9, got {strange[0]!r}.")
    images, digit = load_digits(return_X_y=True)
    y = np.isin(digit, [int(one) for one in classes]).astype(np.int64)
    ids = np.arange(1, len(digit) + 1)
    source = f"digits, {' '.join(classes)} against the rest"
    return Table(images.astype(np.float32), y, None, ids, source, Schema(images.shape[1]))
