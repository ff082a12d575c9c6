"""Templates: each line is read as it is meant, and what cannot be read is named with its line."""

from __future__ import annotations

import pytest

from riffler.errors import InputError
from riffler.features.token_template import Part, default_template, parse_template


def lines_of(template: str | list[str], columns: tuple[str, ...] = ("word", "pos")) -> list[str]:
    return [" + ".join(map(str, feature)) for feature in parse_template(template, columns)]


@pytest.mark.parametrize(
    ("line", "features"),
    [
        ("word[0]", ["word[0]"]),
        ("pos[-1..1]", ["pos[-1]", "pos[0]", "pos[1]"]),
        ("word[-1]+word[+1]", ["word[-1] + word[1]"]),
        ("prefix(word[0], 1..2)", ["prefix(word[0], 1)", "prefix(word[0], 2)"]),
        ("suffix( lower(word[-1]),3 )", ["suffix(lower(word[-1]), 3)"]),
        ("pos[0..1] + shape(word[0])", ["pos[0] + shape(word[0])", "pos[1] + shape(word[0])"]),
        ("is_first + pos[0]", ["is_first + pos[0]"]),
        ("# words\n\nword[0]\nword[0..1]", ["word[0]", "word[1]"]),
    ],
)
def test_lines_and_what_they_stand_for(line: str, features: list[str]) -> None:
    assert lines_of(line) == features
    assert lines_of(line.split("\n")) == features


def test_functions_are_kept_from_the_inside_out() -> None:
    assert parse_template("prefix(lower(word[1]), 2)", ["word"]) == (
        (Part("word", 1, (("lower", None), ("prefix", 2))),),
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "word[0]\nspeech[0]",
            r"Line 2 of the template \('speech\[0\]'\): no column called 'speech'. Known: word, pos",
        ),
        ("lowr(word[0])", "Line 1 .*no function called 'lowr'. Known: has_capital.*, lower, prefix"),
        ("prefix(word[0])", r"write it as in prefix\(word\[0\], 3\)"),
        ("lower(word[0], 3)", r"write it as in lower\(word\[0\]\)"),
        ("prefix(word[0], 0)", "from 1 on"),
        ("word[2..-2]", r"range 2\.\.-2 goes backwards"),
        ("word", "'word' is none of"),
        ("word[0] + ", "'' is none of"),
        ("word[a]", "is none of"),
        ("# only a comment\n", "no line"),
    ],
)
def test_what_cannot_be_read_is_named(template: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_template(template, ("word", "pos"))


def test_the_default_suits_the_columns() -> None:
    assert "pos[-1] + pos[0] + pos[1]" in lines_of(default_template(("word", "pos")))
    assert not any("pos" in line for line in default_template(("word",)))
    assert "chunk[-2..2]" in default_template(("word", "pos", "chunk"))
    assert parse_template(default_template(("form", "kind")), ("form", "kind"))
