"""CoNLL files: a token a line, its columns apart by blanks or tabs, the tag last, a blank line after each sentence."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from riffler.data.atomic import atomic_write
from riffler.data.encodings import decode
from riffler.data.opening import check_file, open_bytes, zstd
from riffler.errors import DataFileError, InputError

Token = tuple[str, ...]
USUAL_COLUMNS = ("word", "pos", "chunk")
DOCUMENT_START = "-DOCSTART-"
FIELD = re.compile(r"[^ \t]+")  # not str.split(): a no-break space is part of a word
TAG = re.compile(r"[^ \t\r\n]+")
WRITERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@dataclass(frozen=True, slots=True, eq=False)
class TaggedText:
    """Sentences of a file: the columns of every token, and its tag where the file has tags."""

    columns: tuple[str, ...]  # names of the columns before the tag
    sentences: list[list[Token]]  # of every sentence its tokens, of every token its columns before the tag
    tags: list[list[str]] | None
    source: str
    separator: str = " "  # between columns

    @property
    def n_tokens(self) -> int:
        """How many tokens there are in all sentences."""
        return sum(map(len, self.sentences))

    def part(self, chosen: Sequence[int]) -> TaggedText:
        """Give some of the sentences, in the order asked for."""
        tags = None if self.tags is None else [self.tags[place] for place in chosen]
        sentences = [self.sentences[place] for place in chosen]
        return TaggedText(self.columns, sentences, tags, self.source, self.separator)


def read_conll(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    comment: str | None = None,
    encoding: str | None = None,
) -> TaggedText:
    """Read a CoNLL file, plain or compressed by its ending; ``-DOCSTART-`` lines are passed over.

    If the first line has a tab, and no blank but in its word, columns are apart by tabs and words may have blanks in
    them; else columns are apart by blanks, tabs, or both.

    Parameters
    ----------
    path : path
    columns : names of the columns before the tag
        A file with just these columns has no tags. Without names the last of several columns is the tag, and those
        before it are called word, pos, chunk, column3, ...
    comment : str or None
        Lines that begin so before the first token of a sentence are passed over, such as ``"# "``; None for none, as
        in many files ``#`` is a token.
    encoding : str or None
        Found by itself if None.
    """
    file = Path(path)
    check_file(file)
    with open_bytes(file) as stream:
        data = stream.read()
    return parse_conll(_decoded(data, str(file), encoding), str(file), columns, comment=comment)


def parse_conll(
    text: str, source: str, columns: Sequence[str] | None = None, *, comment: str | None = None
) -> TaggedText:
    r"""Read the text of a CoNLL file; ``source`` names it in errors.

    >>> found = parse_conll("the DT B-NP\ngull NN I-NP\n\ncries VBZ B-VP\n", "toy")
    >>> found.columns, found.sentences
    (('word', 'pos'), [[('the', 'DT'), ('gull', 'NN')], [('cries', 'VBZ')]])
    >>> found.tags
    [['B-NP', 'I-NP'], ['B-VP']]
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    numbered = _sentences_of_lines(lines, comment)
    if not numbered:
        raise DataFileError(f"{source}: no token in {len(lines):,} lines. Expected a token a line, its tag last.")
    first_number, first_line = numbered[0][0]
    separator = _separator(first_line)
    layout = _layout(columns, len(_fields(first_line, separator)), f"{source}, line {first_number}")
    rows = [[_fields(line, separator) for _, line in sentence] for sentence in numbered]
    n_columns = len(layout.columns) + layout.n_tags
    if any(len(row) != n_columns or "" in row for sentence in rows for row in sentence):
        _refuse_first_fault(numbered, separator, n_columns, source)
    if layout.n_tags == 0:
        return TaggedText(layout.columns, [list(map(tuple, sentence)) for sentence in rows], None, source, separator)
    sentences = [[tuple(row[:-1]) for row in sentence] for sentence in rows]
    tags = [[row[-1] for row in sentence] for sentence in rows]
    _need_tags_in_one_piece(numbered, tags, source)
    return TaggedText(layout.columns, sentences, tags, source, separator)


def write_conll(path: str | os.PathLike[str], text: TaggedText, tags: Sequence[Sequence[str]]) -> None:
    """Write sentences with the tags given as an extra last column (behind the tags they have); whole or not there."""
    _check_tags(text, tags)
    blocks = []
    for place, (sentence, added) in enumerate(zip(text.sentences, tags, strict=True)):
        own = [()] * len(sentence) if text.tags is None else [(tag,) for tag in text.tags[place]]
        rows = zip(sentence, own, added, strict=True)
        blocks.append("".join(text.separator.join((*token, *true, str(tag))) + "\n" for token, true, tag in rows))
    with atomic_write(path) as draft, _opened(draft) as stream:
        stream.write("\n".join(blocks).encode("utf-8"))


def usual_columns(n: int) -> tuple[str, ...]:
    """Name columns that have no names.

    >>> usual_columns(2), usual_columns(4)
    (('word', 'pos'), ('word', 'pos', 'chunk', 'column3'))
    """
    return tuple([*USUAL_COLUMNS, *(f"column{number}" for number in range(len(USUAL_COLUMNS), n))][:n])


@dataclass(frozen=True, slots=True)
class _Layout:
    """Names of the columns before the tag, and whether there is one (1) or none (0)."""

    columns: tuple[str, ...]
    n_tags: int


def _layout(columns: Sequence[str] | None, n_found: int, where: str) -> _Layout:
    if columns is None:
        n_tags = 1 if n_found > 1 else 0
        return _Layout(usual_columns(n_found - n_tags), n_tags)
    if isinstance(columns, str) or not columns or len(set(columns)) < len(columns):
        raise InputError(f"columns must be a list of different names such as ['word', 'pos'], got {columns!r}.")
    if n_found - len(columns) not in (0, 1):
        raise DataFileError(
            f"{where}: {n_found} columns; {', '.join(columns)} are {len(columns)}, and a tag may follow. "
            "Name all columns before the tag."
        )
    return _Layout(tuple(columns), n_found - len(columns))


def _sentences_of_lines(lines: Sequence[str], comment: str | None) -> list[list[tuple[int, str]]]:
    """Lines with a token, and their numbers, sentence by sentence."""
    sentences: list[list[tuple[int, str]]] = [[]]
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            if sentences[-1]:
                sentences.append([])
        elif not _is_no_token(line, comment, at_start=not sentences[-1]):
            sentences[-1].append((number, line))
    return sentences if sentences[-1] else sentences[:-1]


def _is_no_token(line: str, comment: str | None, at_start: bool) -> bool:
    return line.startswith(DOCUMENT_START) or (at_start and comment is not None and line.startswith(comment))


def _separator(first_line: str) -> str:
    """Give a tab where only the word has blanks in it; where tabs and blanks are mixed, both part columns."""
    others = _fields(first_line, "\t")[1:]
    return "\t" if others and not any(" " in field for field in others) else " "


def _fields(line: str, separator: str) -> list[str]:
    if separator == "\t":
        return [field.strip(" ") for field in line.rstrip(" \t").split("\t")]
    return FIELD.findall(line)


def _need_tags_in_one_piece(numbered: list[list[tuple[int, str]]], tags: list[list[str]], source: str) -> None:
    """Raise where a tag has a blank in it: between tabs, it is two columns that a blank parts."""
    if not any(" " in tag for tag in {tag for own in tags for tag in own}):
        return
    for lines, own in zip(numbered, tags, strict=True):
        for (number, _), tag in zip(lines, own, strict=True):
            if " " in tag:
                raise DataFileError(
                    f"{source}, line {number}: the tag {tag[:60]!r} has a blank in it. Part all columns by tabs."
                )


def _refuse_first_fault(numbered: list[list[tuple[int, str]]], separator: str, n_columns: int, source: str) -> NoReturn:
    first, *_ = numbered[0]
    for number, line in (one for sentence in numbered for one in sentence):
        fields = _fields(line, separator)
        if len(fields) != n_columns:
            kind = "tabs" if separator == "\t" else "blanks"
            hint = " If it is a comment, pass comment='#' (--comment '#')." if line.startswith("#") else ""
            raise DataFileError(
                f"{source}, line {number}: expected {n_columns} columns apart by {kind}, as in line {first[0]}, got "
                f"{len(fields)}: {line[:60]!r}. Give every token all columns, and a blank line after a sentence.{hint}"
            )
        if "" in fields:
            column = fields.index("") + 1
            raise DataFileError(
                f"{source}, line {number}: column {column} is empty: {line[:60]!r}. Fill it, with _ say."
            )
    raise AssertionError("no line is at fault")


def _decoded(data: bytes, source: str, encoding: str | None) -> str:
    """Decode the file; bytes that do not fit are named with their line."""
    try:
        return decode(data, source, encoding)
    except DataFileError as error:
        try:
            data.decode(encoding or "utf-8")
        except UnicodeDecodeError as fault:
            line = data.count(b"\n", 0, fault.start) + 1
            raise DataFileError(f"{source}, line {line}: {str(error).removeprefix(f'{source}: ')}") from error
        raise


def _check_tags(text: TaggedText, tags: Sequence[Sequence[str]]) -> None:
    if len(tags) != len(text.sentences):
        raise InputError(f"Sentences: {len(text.sentences)}, sequences of tags: {len(tags)}. Pass one for each.")
    for place, (sentence, own) in enumerate(zip(text.sentences, tags, strict=True)):
        if len(sentence) != len(own):
            raise InputError(f"Sentence {place} has {len(sentence)} tokens and {len(own)} tags. Pass a tag for each.")
        wrong = next((tag for tag in own if TAG.fullmatch(str(tag)) is None), None)
        if wrong is not None:
            raise InputError(
                f"Sentence {place} has the tag {wrong!r}, which could not be read back. Tags in a file are neither "
                "empty nor have blanks, tabs or line ends in them."
            )


def _opened(path: Path) -> IO[bytes]:
    ending = path.suffix.lower()
    write = zstd().open if ending == ".zst" else WRITERS.get(ending, open)
    stream: IO[bytes] = write(path, "wb")
    return stream
