"""Svmlight/LIBSVM text: ``label [qid:q] index:value ...`` a line, indices counted from 1, ``#`` begins a comment.

scikit-learn parses; it neither names rows nor checks values, so after a failure or a doubtful result a slow second
pass (``svmlight_diagnosis``) finds the first faulty line and says what is wrong with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from riffler.data.labels import whole_if_possible
from riffler.data.opening import open_bytes
from riffler.data.svmlight_diagnosis import Limits, diagnose
from riffler.data.table import RawTable
from riffler.errors import DataFileError
from riffler.records import IntArray, Matrix

MAX_FEATURES = 2**27
"""Largest index taken without being told: beyond it a weight vector alone is a gigabyte, so it is likely a slip."""


class _LinesWithoutQid:
    """Hands lines on without ``qid:q``, collecting the q.

    scikit-learn's own way copies all queries at each row, and it must be told before whether there are any.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.queries = array("q")

    def read(self) -> bytes:
        raise NotImplementedError("scikit-learn only asks that a stream has it; lines are what it reads")

    def __iter__(self) -> Iterator[bytes]:
        for line in self.stream:
            yield self._without(line) if b"qid:" in line else line

    def _without(self, line: bytes) -> bytes:
        parts = line.split(maxsplit=2)
        if len(parts) < 2 or parts[0].startswith(b"#") or not parts[1].startswith(b"qid:"):
            return line  # in a comment
        self.queries.append(int(parts[1][4:]))
        return b" ".join((parts[0], *parts[2:]))


def read_svmlight(path: Path, n_features: int | None, dtype: DTypeLike) -> RawTable:
    """Read labels (floats), query ids where given, and the features as CSR."""
    limits = Limits(n_features=n_features, max_features=MAX_FEATURES, dtype=np.dtype(dtype))
    X, labels, queries = _parse(path, limits, multilabel=False)
    return RawTable(X=X, labels=whole_if_possible(labels), qid=_as_array(queries))


def read_svmlight_topics(path: Path, n_features: int | None, dtype: DTypeLike, topics: frozenset[float]) -> RawTable:
    """Read multi-label lines (``1,5,9 index:value ...``): 1 for items with a label among ``topics``, else 0."""
    limits = Limits(n_features=n_features, max_features=MAX_FEATURES, dtype=np.dtype(dtype), multilabel=True)
    X, labels, queries = _parse(path, limits, multilabel=True)
    found = np.array([not topics.isdisjoint(row) for row in labels], dtype=np.int64)
    return RawTable(X=X, labels=found, qid=_as_array(queries))


def has_many_labels(path: Path) -> bool:
    """Whether one of the first lines carries several labels (``1,5,9``)."""
    return any(b"," in parts[0] for parts in _first_lines(path))


def _parse(path: Path, limits: Limits, *, multilabel: bool) -> tuple[Matrix, Any, array[int]]:
    from sklearn.datasets import load_svmlight_file

    with open_bytes(path) as stream:
        lines = _LinesWithoutQid(stream)
        try:
            X, labels = load_svmlight_file(
                lines, n_features=limits.n_features, dtype=limits.dtype, multilabel=multilabel, zero_based=False
            )
        except (ValueError, OverflowError) as error:
            diagnose(path, limits)
            raise DataFileError(f"{path}: not readable as svmlight text ({error}).") from error
    if X.shape[0] == 0:
        raise DataFileError(f"{path}: no data lines; `label index:value ...` lines were expected.")
    if _is_doubtful(X, labels, lines.queries, limits):
        diagnose(path, limits)
    return _slim(X, limits), labels, lines.queries


def _as_array(queries: array[int]) -> IntArray | None:
    return np.frombuffer(queries, dtype=np.int64) if len(queries) else None


def _first_lines(path: Path, n_lines: int = 100) -> list[list[bytes]]:
    """Label and next field of the first lines that are not comments."""
    with open_bytes(path) as stream:
        lines = (line.split(b"#", 1)[0].split(maxsplit=2) for line in stream)
        return list(islice((parts for parts in lines if parts), n_lines))


def _is_doubtful(X: Matrix, labels: Any, queries: array[int], limits: Limits) -> bool:  # noqa: ANN401 - list or array
    too_wide = limits.n_features is None and X.shape[1] > limits.max_features
    some_without_query = len(queries) not in (0, X.shape[0])
    strange_label = not limits.multilabel and not np.isfinite(labels).all()
    return too_wide or some_without_query or strange_label or not np.isfinite(X.data).all()


def _slim(X: Matrix, limits: Limits) -> Matrix:
    """CSR with 32-bit indices where they fit (scikit-learn gives 64-bit ones), without stored zeros."""
    from scipy.sparse import csr_matrix

    width = limits.n_features if limits.n_features is not None else (X.shape[1] if X.nnz else 0)
    kind: type[np.signedinteger[Any]] = np.int32 if max(width, X.nnz) < 2**31 else np.int64
    indices: NDArray[Any] = X.indices.astype(kind)
    slim = csr_matrix((X.data, indices, X.indptr.astype(kind)), shape=(X.shape[0], width))
    slim.eliminate_zeros()
    return slim
