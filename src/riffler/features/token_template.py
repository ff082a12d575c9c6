"""Templates: which features a token has, in lines that can be read.

=============================  ====================================================================
``word[0]``                    the word itself
``word[-1]``                   the word before; before the first one, a value of its own
``pos[-2..2]``                 five features, one for each offset
``word[-1] + word[0]``         both together
``lower(word[0])``             a function of the word
``prefix(word[0], 1..4)``      four features, one for each number
``is_first``, ``is_last``      whether the token is the first, or the last, of its sentence
=============================  ====================================================================

Lines that begin with # are comments. The functions are those of :mod:`riffler.features.token_functions`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from riffler.errors import InputError, UnknownName
from riffler.features.token_functions import FUNCTIONS

MARKS = ("is_first", "is_last")
COLUMN = re.compile(r"(\w+)\[\s*([+-]?\d+)(?:\s*\.\.\s*([+-]?\d+))?\s*\]")
CALL = re.compile(r"(\w+)\(\s*(.*?)\s*(?:,\s*(\d+)(?:\s*\.\.\s*(\d+))?\s*)?\)")
PLUS = re.compile(r"\+(?![^\[(]*[\])])")  # not the one of word[+1]

WORD_LINES = (
    "word[-2..2]",
    "lower(word[-1..1])",
    "prefix(lower(word[0]), 1..4)",
    "suffix(lower(word[0]), 1..4)",
    "shape(word[-1..1])",
    "short_shape(word[-1..1])",
    "has_digit(word[0])",
    "has_hyphen(word[0])",
    "has_capital(word[0])",
    "word[-1] + word[0]",
    "word[0] + word[1]",
    "short_shape(word[-1]) + short_shape(word[0])",
    "short_shape(word[0]) + short_shape(word[1])",
    "short_shape(word[-1]) + short_shape(word[0]) + short_shape(word[1])",
)
POS_LINES = (
    "pos[-2..2]",
    "pos[-2] + pos[-1]",
    "pos[-1] + pos[0]",
    "pos[0] + pos[1]",
    "pos[1] + pos[2]",
    "pos[-2] + pos[-1] + pos[0]",
    "pos[-1] + pos[0] + pos[1]",
    "pos[0] + pos[1] + pos[2]",
    "word[0] + pos[-1]",
    "word[0] + pos[1]",
    "word[-1] + pos[0]",
    "word[1] + pos[0]",
)


@dataclass(frozen=True, slots=True)
class Part:
    """A column of the token at an offset, passed through functions, the innermost first; or a mark."""

    column: str
    offset: int = 0
    functions: tuple[tuple[str, int | None], ...] = ()

    def __str__(self) -> str:
        text = self.column if self.column in MARKS else f"{self.column}[{self.offset}]"
        for name, number in self.functions:
            text = f"{name}({text})" if number is None else f"{name}({text}, {number})"
        return text


Feature = tuple[Part, ...]
"""Parts that are looked at together."""


def parse_template(template: str | Sequence[str], columns: Sequence[str]) -> tuple[Feature, ...]:
    """Read a template, as text or as lines, for tokens with these columns; a feature named twice counts once.

    >>> for feature in parse_template("word[-1..0]\\nprefix(lower(word[0]), 3) + is_first", ["word"]):
    ...     print(*feature, sep=" + ")
    word[-1]
    word[0]
    prefix(lower(word[0]), 3) + is_first
    """
    if not isinstance(template, Sequence) or not all(isinstance(line, str) for line in template):
        raise InputError(f"template must be a text, or a list of lines such as 'word[0]', got {template!r}.")
    lines = template.split("\n") if isinstance(template, str) else list(template)
    features: list[Feature] = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            where = f"Line {number} of the template ({line.strip()!r})"
            features.extend(product(*(_parts(text.strip(), columns, where) for text in PLUS.split(line))))
    if not features:
        raise InputError("The template has no line. Write features such as word[0], or pass None for the default.")
    return tuple(dict.fromkeys(features))


def default_template(columns: Sequence[str]) -> list[str]:
    """Give the lines for tokens with these columns: words in a window, their ends and shapes; with pos, its runs.

    >>> len(default_template(["word"])), len(default_template(["word", "pos"]))
    (14, 26)
    """
    lines = [*WORD_LINES, *(POS_LINES if "pos" in columns[1:] else ())]
    others = [f"{name}[-2..2]" for name in columns[1:] if name != "pos"]
    return [line.replace("word[", f"{columns[0]}[") for line in lines] + others


def _parts(text: str, columns: Sequence[str], where: str) -> list[Part]:
    """The features that one part of a line stands for: several, if it has a range."""
    if text in MARKS:
        return [Part(text)]
    if (found := COLUMN.fullmatch(text)) is not None:
        if found[1] not in columns:
            raise UnknownName(f"{where}: no column called {found[1]!r}. Known: {', '.join((*columns, *MARKS))}.")
        return [Part(found[1], offset) for offset in _range(found[2], found[3], where)]
    if (found := CALL.fullmatch(text)) is not None:
        return _calls(found, columns, where)
    raise InputError(f"{where}: {text!r} is none of word[0], pos[-2..2], lower(word[0]), prefix(word[0], 3), is_first.")


def _calls(found: re.Match[str], columns: Sequence[str], where: str) -> list[Part]:
    name, inner, first, last = found.groups()
    if name not in FUNCTIONS:
        raise UnknownName(f"{where}: no function called {name!r}. Known: {', '.join(sorted(FUNCTIONS))}.")
    if FUNCTIONS[name].takes_number != (first is not None):
        example = f"{name}(word[0], 3)" if FUNCTIONS[name].takes_number else f"{name}(word[0])"
        raise InputError(f"{where}: write it as in {example}.")
    numbers: list[int | None] = [None] if first is None else list(_range(first, last, where))
    if 0 in numbers:
        raise InputError(f"{where}: {name} takes numbers from 1 on.")
    return [
        Part(part.column, part.offset, (*part.functions, (name, number)))
        for part, number in product(_parts(inner, columns, where), numbers)
    ]


def _range(first: str, last: str | None, where: str) -> range:
    start, stop = int(first), int(first if last is None else last)
    if stop < start:
        raise InputError(f"{where}: the range {first}..{last} goes backwards. Write the lower number first.")
    return range(start, stop + 1)
