"""What ``riffler tag`` reads: CoNLL files or known data sets, and a template."""

from __future__ import annotations

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
    return None if text is None else tuple(name.strip() for name in text.split(","))


def read_template(path: Path) -> str:
    """Read a template from a file."""
    from riffler.data.encodings import read_text
    from riffler.data.opening import check_file

    check_file(path)
    return read_text(path)
