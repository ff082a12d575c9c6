"""NumPy archives: arrays ``X`` and ``y`` (also ``qid``, ``ids``), or one matrix saved by ``scipy.sparse.save_npz``."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from riffler.data.finite import cast_matrix, check_finite_matrix
from riffler.data.table import RawTable
from riffler.errors import DataFileError
from riffler.records import Matrix

SPARSE_KEYS = {"format", "shape", "data"}


def read_npz(
    path: Path, dtype: DTypeLike, *, features: str = "X", label: str | None = None, usual_label: str = "y"
) -> RawTable:
    """Read the arrays named ``features`` and ``label`` (by default ``usual_label`` if it is there); no pickles."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise DataFileError(f"{path}: a single array, not an archive. Save with np.savez(path, X=..., y=...).")
            names = archive.files
            if set(names) >= SPARSE_KEYS and features not in names:
                return RawTable(X=_sparse(path, dtype), labels=None)
            X = _dense(path, _array(path, archive, features), features, dtype)
            label = label if label is not None else (usual_label if usual_label in names else None)
            columns = {"labels": label, "qid": "qid", "ids": "ids"}
            wanted = {key: name for key, name in columns.items() if _wanted(key, name, names)}
            sides = {key: _side(path, archive, name, len(X)) for key, name in wanted.items()}
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise DataFileError(f"{path}: not a whole NumPy archive ({error}). Copy or make it again.") from error
    except ValueError as error:
        if isinstance(error, DataFileError):
            raise
        raise DataFileError(f"{path}: cannot be used, plain arrays of numbers were expected ({error}).") from error
    return RawTable(X=X, labels=sides.get("labels"), qid=sides.get("qid"), ids=sides.get("ids"), label=label)


def _wanted(key: str, name: str | None, names: list[str]) -> bool:
    """Labels are read when named (a wrong name is an error), the others when there."""
    return name is not None and (key == "labels" or name in names)


def _array(path: Path, archive: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - NpzFile is untyped
    if name not in archive.files:
        raise DataFileError(f"{path}: no array {name!r}. Arrays in the archive: {', '.join(archive.files) or 'none'}.")
    values: NDArray[Any] = archive[name]
    return values


def _side(path: Path, archive: Any, name: str | None, n_rows: int) -> NDArray[Any]:  # noqa: ANN401
    values = _array(path, archive, str(name))
    if values.shape[:1] != (n_rows,) or values.ndim > 2 or (values.ndim == 2 and name in ("qid", "ids")):
        raise DataFileError(f"{path}: array {name!r} has shape {values.shape}, expected ({n_rows},) to match X.")
    return values


def _dense(path: Path, values: NDArray[Any], name: str, dtype: DTypeLike) -> NDArray[Any]:
    if values.ndim != 2 or values.dtype.kind not in "iufb":
        raise DataFileError(
            f"{path}: array {name!r} must be a 2-D array of numbers, it is {values.ndim}-D of {values.dtype}."
        )
    if values.shape[0] == 0:
        raise DataFileError(f"{path}: array {name!r} has no rows.")
    check_finite_matrix(values, str(path))
    X: NDArray[Any] = cast_matrix(values, dtype, str(path))
    return X


def _sparse(path: Path, dtype: DTypeLike) -> Matrix:
    from scipy.sparse import csr_matrix, load_npz

    X = csr_matrix(load_npz(path))
    if X.dtype.kind not in "iufb":
        raise DataFileError(f"{path}: the matrix must hold numbers, it holds {X.dtype}.")
    X.check_format(full_check=True)
    if X.shape[0] == 0:
        raise DataFileError(f"{path}: the matrix has no rows.")
    X.sum_duplicates()
    check_finite_matrix(X, str(path))
    return cast_matrix(X, dtype, str(path))
