"""What is expected of every published result is a table that its module reads whole."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from riffler.errors import UnknownName
from riffler.reproduction import REPRODUCTIONS, reproduce
from riffler.reproduction.at_k import SIZES
from riffler.reproduction.surrogate_properties import MARGINS, NAMES


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="Known: active-at-k, active-pairs, active-search, at-k, structured"):
        reproduce("nonsense")
    with pytest.raises(UnknownName, match="Known: full, quick"):
        reproduce("at-k", "huge")


def test_the_expected_table_covers_surrogates_margins_and_data() -> None:
    expected = tomllib.loads(files("riffler.reproduction").joinpath("expected_at_k.toml").read_text(encoding="utf-8"))
    assert set(expected["properties"]) == set(NAMES)
    assert tuple(expected["margins"]) == MARGINS
    assert set(SIZES["full"].data) == set(expected["data"])
    assert set(REPRODUCTIONS) == {"at-k", "active-at-k", "active-pairs", "active-search", "structured"}
