"""The one door to data files: ``read_table``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from riffler.data import frames, npz, svmlight
from riffler.data.form import in_form
from riffler.data.labels import (
    Positive,
    Sides,
    any_of_columns,
    as_grades,
    as_number,
    as_values,
    check_labels,
    choose_sides,
    to_binary,
)
from riffler.data.opening import check_file, format_of
from riffler.data.svmlight_diagnosis import SeveralLabels
from riffler.data.table import RawTable, Schema, Table
from riffler.data.tabular import from_frame
from riffler.errors import FeatureMismatch, InputError, LabelError
from riffler.records import is_sparse


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    positive: Positive = None,
    drop: str | Iterable[str] = (),
    n_features: int | None = None,
    dtype: DTypeLike = np.float32,
    like: Table | Schema | None = None,
) -> Table:
    """Read items, features and labels from svmlight text, NPZ, CSV/TSV or Parquet; the ending says which.

    X is a dense array where that takes less memory than a CSR matrix, whatever the format; with ``like`` it is dense
    if that table is.

    Parameters
    ----------
    path : the file; text may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``)
    label : column (CSV, Parquet) or array (NPZ) with the labels; by default one called label, class, y, target or
        label_included
    id : column that names the items; by default one called id, else rows are numbered from 1
    positive : label value or values that become 1, all others 0; of a field of several topics, joined by ``|``, one is
        enough. Without it there may be two values only: of two numbers the larger is positive, of two texts the one
        that says yes, true, positive, relevant, included or 1. Labels of files with query ids are grades and stay as
        they are
    drop : columns to leave out
    n_features : width of X; svmlight files show only the largest index used
    dtype : float32 or float64
    like : a table (or its schema) whose columns and labels this file is to match, as a test file its training file;
        categories the training file lacks become zeros, other columns are left out, labels may be missing

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "clients.csv"
    >>> _ = file.write_text("age,job,y\\n30,nurse,no\\n41,clerk,yes\\n")
    >>> table = read_table(file)
    >>> table.feature_names, table.y
    (('age', 'job=clerk', 'job=nurse'), array([0, 1]))
    """
    path = Path(path)
    check_file(path)
    kind = format_of(path)
    return read_as(
        kind, path, label=label, id=id, positive=positive, drop=drop, n_features=n_features, dtype=dtype, like=like
    )


def read_as(
    kind: str,
    path: Path,
    *,
    label: str | None = None,
    id: str | None = None,
    positive: Positive = None,
    drop: str | Iterable[str] = (),
    n_features: int | None = None,
    dtype: DTypeLike = np.float32,
    like: Table | Schema | None = None,
    features: str = "X",
) -> Table:
    """Read a file of a known format (``features``: the array with the features in an NPZ)."""
    schema = like.schema if isinstance(like, Table) else like
    drop = [drop] if isinstance(drop, str) else list(drop)
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"dtype must be float32 or float64, {np.dtype(dtype)} came.")
    if kind in ("svmlight", "npz") and (id is not None or drop or (label is not None and kind == "svmlight")):
        raise InputError(f"{path}: {kind} files have no named columns; label=, id= and drop= are for CSV and Parquet.")
    width = schema.n_features if schema is not None and n_features is None else n_features
    if kind == "svmlight":
        topics = positive if positive is not None or schema is None else schema.positive
        if topics is not None and svmlight.has_many_labels(path):
            return _read_topics(path, width, dtype, topics, schema)
        try:
            raw = svmlight.read_svmlight(path, width, dtype)
        except SeveralLabels:  # they begin further down than was looked
            if topics is None:
                raise
            return _read_topics(path, width, dtype, topics, schema)
        if schema is not None and _all_unknown(raw, schema):
            raw = replace(raw, labels=None)
    elif kind == "npz":
        usual = "y" if schema is None or schema.label is None else schema.label
        raw = npz.read_npz(path, dtype, features=features, label=label, usual_label=usual)
    else:
        frame = frames.read_parquet(path) if kind == "parquet" else frames.read_csv(path, {"tsv": "\t"}.get(kind))
        raw = from_frame(frame, label=label, id=id, drop=drop, dtype=dtype, like=schema, source=str(path))
    if width is not None and raw.X.shape[1] != width:
        raise FeatureMismatch(f"{path}: {raw.X.shape[1]} features, {width} were expected.")
    return finish(raw, positive, schema, str(path))


def _all_unknown(raw: RawTable, like: Schema) -> bool:
    """Whether every label is 0 though the training labels were others: svmlight's way to say that none is known."""
    known = (*(like.positive or ()), *(like.negative or ()))
    return bool(known) and 0 not in known and not np.any(raw.labels)


def _read_topics(path: Path, width: int | None, dtype: DTypeLike, positive: Positive, like: Schema | None) -> Table:
    """Read multi-label text: an item is positive if any of its labels is one of ``positive``."""
    topics = as_values(positive)
    numbers = frozenset(number for topic in topics if (number := as_number(topic)) is not None)
    raw = svmlight.read_svmlight_topics(path, width, dtype, numbers)
    if not np.any(raw.labels):
        raise LabelError(f"{path}: no line has a label among {topics!r}; labels are numbers in such files.")
    X = in_form(raw.X, None if like is None else like.dense)
    schema = Schema(X.shape[1], positive=topics, dense=not is_sparse(X))
    return Table(X, raw.labels, raw.qid, np.arange(1, X.shape[0] + 1), str(path), schema)


def finish(raw: RawTable, positive: Positive, like: Schema | None, source: str) -> Table:
    """Settle the labels, the ids and the form (dense or sparse) of what a format reader gave."""
    y: NDArray[Any] | None = None
    sides: Sides | None = None
    if raw.labels is not None and raw.labels.ndim == 2:
        y, sides = any_of_columns(raw.labels, positive, source), (as_values(positive), None)
    elif raw.labels is not None:
        check_labels(raw.labels, source)
        known = like is not None and like.positive is not None
        if positive is None and raw.qid is not None and not known:
            y = as_grades(raw.labels, source)
        else:
            if like is not None and like.positive is not None and positive is None:
                sides = (like.positive, like.negative)
            else:
                sides = choose_sides(raw.labels, positive, source)
            y = to_binary(raw.labels, sides, source)
    ids = raw.ids if raw.ids is not None else np.arange(1, raw.X.shape[0] + 1)
    X = in_form(raw.X, None if like is None else like.dense)
    ones, zeros = sides or (None, None)
    schema = Schema(X.shape[1], raw.columns, raw.label, raw.id, ones, zeros, dense=not is_sparse(X))
    return Table(X=X, y=y, qid=raw.qid, ids=ids, source=source, schema=schema)
