"""What ``riffler tag`` reads: CoNLL files or known data sets, and a template."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.errors import InputError

if TYPE_CHECKING:
    from riffler.data.conll import TaggedText

Names = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What is learned from and what is measured on, and where that comes from in words."""

    train: TaggedText
    test: TaggedText
    split: str


def train_and_test(train: str, test: Path | None, columns: Names, comment: str | None, seed: int) -> Parts:
    """Read the train and the test part.

    Without a test file a public data set brings its own test part; else a tenth of the sentences is held out.
    """
    from riffler.data.conll import read_conll
    from riffler.evaluation.tagging_report import hold_out

    train_file, published = files_of(train)
    whole = read_conll(train_file, columns, comment=comment)
    if whole.tags is None:
        raise InputError(f"{train_file}: no tags. The last column of TRAIN must be the tag, behind --columns.")
    if test is None and published is None:
        return Parts(*hold_out(whole, seed), f"a tenth of the sentences held out, seed {seed}")
    split = "the published test part" if test is None else "the test file"
    return Parts(whole, read_conll(test or published or train_file, whole.columns, comment=comment), split)


def files_of(name: str) -> tuple[Path, Path | None]:
    """Give the file, or the train and test file of a known data set; a file that is there goes before."""
    from riffler.data.known import dataset, find_parts
    from riffler.data.public import names

    if Path(name).exists() or name not in names():
        return Path(name), None
    if dataset(name).task != "sequence":
        raise InputError(f"{name!r} holds no sentences with tags. `riffler datasets` says which sets are sequences.")
    found = find_parts(dataset(name), ("train", "test"), None)
    return found["train"], found["test"]


def parse_columns(text: str | None) -> Names:
    """Read names apart by commas.

    >>> parse_columns("word, pos")
    ('word', 'pos')
    """
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    wrong = next((name for name in names if re.fullmatch(r"\w+", name) is None), None)
    if wrong is not None:
        raise InputError(f"--columns {text}: {wrong!r} is no name. Names are of letters, digits and _, as in word,pos.")
    return names


def columns_in_words(text: TaggedText) -> str:
    """Say which columns were read.

    >>> from riffler.data.conll import parse_conll
    >>> columns_in_words(parse_conll("the DT B-NP", "toy"))
    'columns word, pos, tag'
    """
    return ", ".join([f"columns {text.columns[0]}", *text.columns[1:], *(["tag"] if text.tags is not None else [])])


def warn_of_tags_as_columns(text: TaggedText, labels: Collection[Hashable]) -> None:
    """Warn where a text without tags has tags for its last column: then it lacks a column before them."""
    if text.tags is not None or len(text.columns) == 1:
        return
    if all(token[-1] in labels for sentence in text.sentences for token in sentence):
        warnings.warn(
            f"{text.source}: all values of its last column, read as {text.columns[-1]}, are tags of TRAIN. If they are "
            f"its tags, a column before them is missing: TRAIN has {', '.join(text.columns)} and the tag.",
            UserWarning,
            stacklevel=2,
        )


def read_template(path: Path) -> str:
    """Read a template from a file."""
    from riffler.data.encodings import read_text
    from riffler.data.opening import check_file

    check_file(path)
    return read_text(path)
