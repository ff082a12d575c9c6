"""What a user may name as data: a file, a known public data set, or the digits that ship with scikit-learn."""

from __future__ import annotations

from pathlib import Path

from riffler.data.table import Schema, Table
from riffler.errors import InputError

DEMO = "demo"


def train_table(name: str, label: str | None, positive: str | None) -> Table:
    """Read what TRAIN names; a file that is there goes before a data set of the same name."""
    from riffler import datasets
    from riffler.data import read_table

    if Path(name).is_file():
        return read_table(name, label=label, positive=positive)
    if name != DEMO and name not in datasets.names():
        raise InputError(
            f"{name!r} is neither a file, nor {DEMO!r}, nor a known data set. `riffler datasets` lists the known ones."
        )
    if label is not None or positive is not None:
        raise InputError(f"{name!r} brings its own labels; --label and --positive are for files.")
    return digits() if name == DEMO else datasets.load(name)


def digits() -> Table:
    """Load the handwritten digits that ship with scikit-learn: 8 against the rest."""
    import numpy as np
    from sklearn.datasets import load_digits

    images, digit = load_digits(return_X_y=True)
    ids = np.arange(1, len(digit) + 1)
    X, y = images.astype(np.float32), (digit == 8).astype(np.int64)
    return Table(X=X, y=y, qid=None, ids=ids, source="digits, 8 against the rest", schema=Schema(X.shape[1]))
