"""What a user may name as data: a file, a known public data set, or the digits that ship with scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from riffler.data.table import Schema, Table
from riffler.errors import InputError

DEMO = "demo"


def train_and_test(
    train: str, test: Path | None, label: str | None, positive: str | None, seed: int
) -> tuple[Table, Table, str]:
    """Read the train and the test part, and say in words where the test part comes from.

    Without a test file a public data set brings its own test part, if it has one; else 30 % are held out.
    """
    from riffler.data import read_table
    from riffler.data.form import in_form
    from riffler.data.public import check_same_width, info, load
    from riffler.evaluation.comparison import held_out

    whole = train_table(train, label, positive)
    if test is not None:
        return whole, read_table(test, like=whole), "the test file"
    if not Path(train).is_file() and train != DEMO and {"train", "test"} <= info(train).splits.keys():
        other = load(train, "test", positive=positive)
        check_same_width([whole, other])
        return whole, replace(other, X=in_form(other.X, whole.schema.dense)), "the published test part"
    parts = "30 % held out, stratified" if whole.qid is None else "30 % of the queries held out"
    return *held_out(whole, seed), f"{parts}, seed {seed}"


def train_table(name: str, label: str | None, positive: str | None) -> Table:
    """Read what TRAIN names; a file that is there goes before a data set of the same name."""
    from riffler.data import read_table
    from riffler.data.folder import MANIFEST
    from riffler.data.public import info, load, names

    if Path(name).is_file():
        return read_table(name, label=label, positive=positive)
    if name != DEMO and name not in names():
        if (Path(name) / MANIFEST).exists():
            raise InputError(
                f"{name} is a collection on disk, which `riffler rank`, `riffler simulate` and `riffler review` take. "
                "Name a file."
            )
        if Path(name).is_dir():
            raise InputError(
                f"{name} is a folder and no collection on disk (it has no {MANIFEST}). Name a file, or a collection "
                "that `riffler index DOCS... --out FOLDER` has made."
            )
        raise InputError(
            f"{name!r} is neither a file, nor {DEMO!r}, nor a known data set. `riffler datasets` lists the known ones."
        )
    if label is not None or (name == DEMO and positive is not None):
        raise InputError(f"{name!r} knows where its labels are; --label and --positive are for files.")
    if name == DEMO:
        return digits()
    return load(name, "train" if "train" in info(name).splits else "all", positive=positive)


def digits() -> Table:
    """Load the handwritten digits that ship with scikit-learn: 8 against the rest."""
    import numpy as np
    from sklearn.datasets import load_digits

    images, digit = load_digits(return_X_y=True)
    ids = np.arange(1, len(digit) + 1)
    X, y = images.astype(np.float32), (digit == 8).astype(np.int64)
    return Table(X=X, y=y, qid=None, ids=ids, source="digits, 8 against the rest", schema=Schema(X.shape[1]))
