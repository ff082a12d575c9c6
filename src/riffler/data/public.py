"""Public data sets by name (``riffler.datasets``), read from the folder that RIFFLER_DATA or ``folder=`` names."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from riffler.data.form import in_form
from riffler.data.frames import read_csv_texts
from riffler.data.known import Dataset, Part, data_folder, dataset, find_parts, known_datasets
from riffler.data.labels import PASS_POSITIVE, Positive, as_values
from riffler.data.opening import check_file
from riffler.data.reading import finish, read_as
from riffler.data.svmlight import read_svmlight
from riffler.data.table import Table
from riffler.errors import DataFileError, FeatureMismatch, InputError, UnknownName
from riffler.records import IntArray, is_sparse

if TYPE_CHECKING:
    import polars as pl

Folder = str | os.PathLike[str] | None


def names() -> tuple[str, ...]:
    """Names of all known data sets, sorted.

    >>> "a9a" in names()
    True
    """
    return tuple(sorted(known_datasets()))


def info(name: str) -> Dataset:
    """What is known about a data set: title, source, task, parts with their files and counts.

    >>> info("cod-rna").parts["rest"].rows
    157413
    """
    return dataset(name)


def present(folder: Folder = None) -> tuple[str, ...]:
    """Names of the data sets of which every part that is not optional is here, sorted."""
    return tuple(name for name in names() if all(dataset(name).parts[part].optional for part in missing(name, folder)))


def missing(name: str, folder: Folder = None) -> tuple[str, ...]:
    """Names of the parts that are not here."""
    entry, root = dataset(name), data_folder(folder)
    return tuple(part.name for part in entry.parts.values() if root is None or part.find(root / entry.folder) is None)


def path(name: str, folder: Folder = None) -> Path:
    """The folder that holds the files of a data set; DataSetMissing if they are not there."""
    entry = dataset(name)
    found = find_parts(entry, tuple(entry.parts), folder)
    return next(iter(found.values())).parent


def load(
    name: str,
    split: str = "train",
    *,
    positive: Positive = None,
    folder: Folder = None,
    dtype: DTypeLike = np.float32,
    verify: bool = False,
) -> Table:
    """Load a split of a tabular or ranking data set; its counts are checked, with ``verify`` also its checksums.

    Another count than that of the known file is an error; where only publications told the count, it is a warning.

    ``split`` is a part (mostly "train", "test", "val"), "all", or a fold such as "fold2-test". Sets of several classes
    or labels need ``positive``: the value or values to find. The labels of ranking sets are grades.
    """
    entry = dataset(name)
    if entry.task in ("sequence", "text"):
        other = f"load_documents({name!r})" if entry.task == "text" else f"the files in path({name!r})"
        raise InputError(f"{name!r} is a {entry.task} data set, not a table of features. Use {other}.")
    if split not in entry.splits:
        raise UnknownName.among(f"split of {name!r}", split, entry.splits)
    found = find_parts(entry, entry.splits[split], folder)
    tables = [_load_part(entry, entry.parts[part], file, positive, dtype, verify) for part, file in found.items()]
    return replace(_stack(tables), source=f"{name}/{split}")


def load_documents(name: str, *, folder: Folder = None, verify: bool = False) -> pl.DataFrame:
    """Load a text collection: one row a document, every column as text, nothing missing ("" where empty)."""
    entry = dataset(name)
    if entry.task != "text":
        raise InputError(f"{name!r} is a {entry.task} data set, not a text collection. Use load({name!r}).")
    part = entry.parts["all"]
    file = find_parts(entry, ("all",), folder)["all"]
    if verify:
        _check_sum(part, file)
    frame = read_csv_texts(file)
    _check_count(part, file, "documents", part.rows, frame.height)
    if part.positives is not None and entry.label is not None:
        wanted = [str(value) for value in entry.positive or ("1",)]
        _check_count(part, file, "positives", part.positives, int(frame[entry.label].is_in(wanted).sum()))
    return frame


def _load_part(entry: Dataset, part: Part, file: Path, positive: Positive, dtype: DTypeLike, verify: bool) -> Table:
    if verify:
        _check_sum(part, file)
    chosen = entry.positive if positive is None else _as_labels(part, file, positive)
    if entry.task == "multilabel" and chosen is None:
        raise InputError(f"{entry.name!r} has several labels an item. {PASS_POSITIVE} with the one to find.")
    table = _read_part(part, file, chosen, dtype)
    _check_count(part, file, "rows", part.rows, table.n_items)
    _check_count(part, file, "features", part.features, table.n_features)
    if positive is None and table.qid is None and table.y is not None:
        _check_count(part, file, "positives", part.positives, int(table.y.sum()))
    if table.qid is not None:
        _check_count(part, file, "queries", part.queries, len(np.unique(table.qid)))
    return table


def _read_part(part: Part, file: Path, positive: Positive, dtype: DTypeLike) -> Table:
    width = part.features if part.kind == "svmlight" else None  # such files show only the largest index used
    try:
        return _read(part, file, positive, width, dtype)
    except FeatureMismatch as error:
        if part.counted:
            raise DataFileError(str(error)) from error
        return _read(part, file, positive, None, dtype)


def _read(part: Part, file: Path, positive: Positive, width: int | None, dtype: DTypeLike) -> Table:
    if part.groups is not None:
        raw = read_svmlight(file, width, dtype)
        queries = _queries(file.with_name(part.groups), raw.X.shape[0])
        return finish(replace(raw, qid=queries), positive, None, str(file))
    return read_as(
        part.kind,
        file,
        label=part.label,
        positive=positive,
        n_features=width,
        dtype=dtype,
        features=part.features_array,
    )


def _as_labels(part: Part, file: Path, positive: Positive) -> Positive:
    """Topic codes become the numbers the file uses: their lines, from 0, in the file of codes."""
    if part.topics is None:
        return positive
    codes = file.with_name(part.topics).read_text(encoding="utf-8").split()
    for topic in as_values(positive):
        if topic not in codes:
            raise UnknownName.among("topic", topic, codes)
    return [codes.index(str(topic)) for topic in as_values(positive)]


def _queries(file: Path, n_rows: int) -> IntArray:
    """Query of each row from a file of group sizes, one a line."""
    check_file(file)
    sizes = np.array(file.read_text(encoding="utf-8").split(), dtype=np.int64)
    if sizes.sum() != n_rows:
        raise DataFileError(f"{file}: {sizes.sum():,} rows in all groups, but the data file has {n_rows:,}.")
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)


def _stack(tables: list[Table]) -> Table:
    """Put tables of the same columns under each other; rows are numbered anew."""
    if len(tables) == 1:
        return tables[0]
    from scipy.sparse import vstack

    check_same_width(tables)
    all_sparse = all(is_sparse(table.X) for table in tables)
    blocks = [in_form(table.X, dense=not all_sparse) for table in tables]
    X = vstack(blocks, format="csr") if all_sparse else np.concatenate(blocks)
    labels: list[NDArray[Any]] = [table.y for table in tables if table.y is not None]
    return Table(
        X=X,
        y=np.concatenate(labels) if labels else None,
        qid=_joined_queries([table.qid for table in tables if table.qid is not None]),
        ids=np.arange(1, X.shape[0] + 1),
        source=tables[0].source,
        schema=replace(tables[0].schema, dense=not all_sparse),
    )


def check_same_width(tables: list[Table]) -> None:
    """Refuse tables that do not have the same columns, which parts without counts may turn out to be."""
    first = tables[0]
    for table in tables[1:]:
        if table.n_features != first.n_features:
            raise FeatureMismatch(
                f"{table.source} has {table.n_features:,} features, {first.source} has {first.n_features:,}. "
                "Use files made the same way, or read_table(path, n_features=...)."
            )


def _joined_queries(parts: list[IntArray]) -> IntArray | None:
    """Queries of stacked tables; where two tables use the same number for different queries, all are renumbered."""
    if not parts:
        return None
    known = [np.unique(part) for part in parts]
    if len(np.unique(np.concatenate(known))) == sum(map(len, known)):
        return np.concatenate(parts)
    renumbered, used = [], 0
    for own, part in zip(known, parts, strict=True):
        renumbered.append(used + 1 + np.searchsorted(own, part))
        used += len(own)
    return np.concatenate(renumbered)


def _check_count(part: Part, file: Path, what: str, expected: int | None, found: int) -> None:
    if expected is None or found == expected:
        return
    if part.counted:
        raise DataFileError(
            f"{file}: {found:,} {what}, {expected:,} were expected. This is not the known version of the data set; "
            "read it with read_table() if it is meant."
        )
    warnings.warn(
        f"{file}: {found:,} {what}; publications speak of {expected:,}. Check that it is the data set you mean.",
        stacklevel=2,
    )


def _check_sum(part: Part, file: Path) -> None:
    """Compare the SHA-256 of the file, where it is known and the file is the known one by name."""
    if part.sha256 is None or file.name != part.file:
        return
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != part.sha256:
        raise DataFileError(f"{file}: SHA-256 is {found}, {part.sha256} was expected. Copy or download it again.")
