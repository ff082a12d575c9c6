"""From a frame to features, labels, ids and queries: which column plays which part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from riffler.data.columns import learn_columns, to_matrix
from riffler.data.table import RawTable, Schema
from riffler.errors import DataFileError, LabelError
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

LABEL_NAMES = ("label", "class", "y", "target", "label_included")
"""Names under which labels are found without being told, whatever their case."""


def from_frame(
    frame: pl.DataFrame,
    *,
    label: str | None,
    id: str | None,
    drop: Sequence[str],
    dtype: DTypeLike,
    like: Schema | None,
    source: str,
) -> RawTable:
    """Take labels, ids and queries out of the frame and turn the rest into a matrix.

    Without ``label`` one of ``LABEL_NAMES`` is taken, without ``id`` a column called id; a column called qid holds
    the queries.
    """
    names = frame.columns
    for name in (label, id, *drop):
        if name is not None and name not in names:
            raise DataFileError(f"{source}: no column {name!r}. Columns: {', '.join(names)}.")
    frame = frame.drop(drop)
    label = label or _label_of(like, frame.columns, source)
    id = id or _named(frame.columns, ("id",), source)
    qid = _named(frame.columns, ("qid",), source)
    features = frame.drop([name for name in (label, id, qid) if name is not None])
    if features.width == 0:
        raise DataFileError(f"{source}: no feature columns beside the label. Columns: {', '.join(names)}.")
    columns = like.columns if like is not None and like.columns is not None else learn_columns(features, source)
    return RawTable(
        X=to_matrix(features, columns, dtype, source),
        labels=None if label is None else _labels(frame[label], source),
        qid=None if qid is None else _queries(frame[qid], source),
        ids=None if id is None else _ids(frame[id], source),
        columns=columns,
        label=label,
        id=id,
    )


def _label_of(like: Schema | None, names: list[str], source: str) -> str | None:
    """The label column of the training table if it is here, else one with a usual name."""
    if like is not None and like.label is not None:
        return like.label if like.label in names else None
    return _named(names, LABEL_NAMES, source)


def _named(names: list[str], wanted: tuple[str, ...], source: str) -> str | None:
    found = [name for name in names if name.lower() in wanted]
    if len(found) > 1:
        raise DataFileError(
            f"{source}: columns {', '.join(map(repr, found))} could all be the {wanted[0]}. "
            f"Say which with {wanted[0]}=, and leave the others out with drop= unless they are features."
        )
    return found[0] if found else None


def _labels(series: pl.Series, source: str) -> NDArray[Any]:
    import polars as pl

    if series.null_count():
        row = series.is_null().arg_max() or 0
        raise LabelError(f"{source}: row {row + 1} has no label in column {series.name!r}.")
    if series.dtype == pl.Boolean:
        return series.cast(pl.Int64).to_numpy()
    if series.dtype.is_nested() or series.dtype.is_temporal() or series.dtype == pl.Binary:
        raise LabelError(f"{source}: column {series.name!r} holds {series.dtype}; labels must be numbers or text.")
    if series.dtype == pl.String:
        numbers = series.cast(pl.Float64, strict=False)  # "nan" among numbers makes a column of texts
        series = series if numbers.null_count() else numbers
    if series.dtype.is_numeric():
        return series.to_numpy()
    return np.array(series.cast(pl.String).to_list(), dtype=np.str_)


def _queries(series: pl.Series, source: str) -> IntArray:
    import polars as pl

    numbers = series.cast(pl.Int64, strict=False)
    if numbers.null_count():
        row = numbers.is_null().arg_max() or 0
        raise DataFileError(f"{source}: row {row + 1}: qid must be a whole number, {series[row]!r} came.")
    return numbers.to_numpy()


def _ids(series: pl.Series, source: str) -> NDArray[Any]:
    import polars as pl

    if series.null_count():
        row = series.is_null().arg_max() or 0
        raise DataFileError(f"{source}: row {row + 1} has no id in column {series.name!r}.")
    if series.dtype.is_integer():
        return series.to_numpy()
    return np.array(series.cast(pl.String).to_list(), dtype=np.str_)
