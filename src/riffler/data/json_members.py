"""The keys and values of JSON lines where they stand: what kinds there are, and objects with some of them only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

NULL, BOOLEAN, NUMBER, TEXT, LIST, OBJECT = 1, 2, 4, 8, 16, 32
"""Kinds of values, as bits: those of ``riffler._fast.json_members``."""

BYTES_OF_A_MEMBER = 16
"""Guessed, to make room for members; more is made where they are shorter."""


@dataclass(frozen=True, eq=False)
class JsonMembers:
    """Members of objects, one object a line.

    Attributes
    ----------
    data : the lines
    table : for each member the number of its line, where its key and its value begin and end, and the kind
    hashes : of the keys as they are written
    """

    data: bytes
    table: NDArray[np.int64]
    hashes: NDArray[np.uint64]

    @classmethod
    def of(cls, data: bytes) -> JsonMembers:
        """Find the members of all lines; of a line that is no JSON there are those before the fault."""
        from riffler._fast.json_members import find_members

        view = np.frombuffer(data, dtype=np.uint8)
        room = len(data) // BYTES_OF_A_MEMBER + 16
        while True:
            table, hashes = np.empty((room, 6), dtype=np.int64), np.empty(room, dtype=np.uint64)
            n_found = find_members(view, table, hashes)
            if n_found <= room:
                return cls(data, table[:n_found], hashes[:n_found])
            room = n_found

    @property
    def lines(self) -> IntArray:
        """The line of each member."""
        return self.table[:, 0]

    @property
    def kinds(self) -> IntArray:
        """The kind of each value."""
        return self.table[:, 5]

    @cached_property
    def _keys(self) -> tuple[list[str | None], IntArray]:
        """The keys by their different spellings, in the order of first sight, and which one each member has."""
        _, firsts, which = np.unique(self.hashes, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        spans = self.table[firsts[order], 1:3].tolist()
        return [_key(self.data[start:stop]) for start, stop in spans], rank[which]

    def kinds_of_keys(self, is_wanted: Callable[[str], bool]) -> dict[str, int]:
        """The kinds of values of each wanted key, in the order of first sight.

        >>> JsonMembers.of(b'{"a": 1, "b": null}\\n{"a": "x", "c": 2}').kinds_of_keys(lambda key: key != "c")
        {'a': 12, 'b': 1}
        """
        keys, which = self._keys
        kinds = np.zeros(len(keys), dtype=np.int64)
        np.bitwise_or.at(kinds, which, self.kinds)
        found: dict[str, int] = {}
        for key, kind in zip(keys, kinds.tolist(), strict=True):
            if key is not None and is_wanted(key):
                found[key] = found.get(key, 0) | kind
        return found

    def have_key(self, key: str) -> NDArray[np.bool_]:
        """Which members have a key, however it is written."""
        keys, which = self._keys
        return np.array([one == key for one in keys], dtype=np.bool_)[which]

    def objects(self, is_kept: NDArray[np.bool_], n_lines: int) -> bytes:
        """Objects of the members that are kept, one a line.

        >>> members = JsonMembers.of(b'{"a": 1, "b": [2, "]"]}')
        >>> members.objects(~members.have_key("a"), 1)
        b'{"b":[2, "]"]}\\n'
        """
        from riffler._fast.json_members import write_objects

        kept = self.table[is_kept]
        n_bytes = int((kept[:, 2] - kept[:, 1] + kept[:, 4] - kept[:, 3]).sum())
        out = np.empty(n_bytes + 2 * len(kept) + 3 * n_lines, dtype=np.uint8)
        end = write_objects(np.frombuffer(self.data, dtype=np.uint8), kept, n_lines, out)
        return out[:end].tobytes()


def n_members(line: bytes) -> int:
    """How many members one object has; nothing is held of them.

    >>> n_members(b'{"a": [1, 2], "b": {"c": 3}}')
    2
    """
    from riffler._fast.json_members import find_members

    view = np.frombuffer(line, dtype=np.uint8)
    return int(find_members(view, np.empty((0, 6), dtype=np.int64), np.empty(0, dtype=np.uint64)))


def only_key(lines: bytes, key: str, n_lines: int) -> bytes:
    """Objects with one key alone, or without any.

    >>> only_key(b'{"a": 1, "b": 2}\\n{}', "b", 2)
    b'{"b":2}\\n{}\\n'
    """
    members = JsonMembers.of(lines)
    return members.objects(members.have_key(key), n_lines)


def without_texts(lines: pl.Series, known: Mapping[str, NDArray[np.bool_]]) -> pl.Series:
    """Lines without the texts and nulls of some keys in the lines where they are known; null where nothing is left.

    >>> import polars as pl
    >>> lines = pl.Series(['{"a": "x", "b": 1}', '{"a": "y"}', '{"a": "z"}'])
    >>> without_texts(lines, {"a": np.array([True, True, False])}).to_list()
    ['{"b":1}', None, '{"a":"z"}']
    """
    import polars as pl

    members = JsonMembers.of("\n".join(lines).encode())
    is_plain = (members.kinds & (TEXT | NULL)) > 0
    is_left = np.ones(len(is_plain), dtype=np.bool_)
    for key, rows in known.items():
        is_left &= ~(is_plain & members.have_key(key) & rows[members.lines])
    left = members.objects(is_left, len(lines)).decode().split("\n")[:-1]
    return pl.Series([line if line != "{}" else None for line in left], dtype=pl.String)


def _key(spelling: bytes) -> str | None:
    if b"\\" not in spelling:
        return spelling[1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(spelling))
    except ValueError:  # in a line that is no JSON
        return None
