"""Members of JSON lines are those that Python's reader finds, and faults do no harm."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riffler.data.json_members import BOOLEAN, LIST, NULL, NUMBER, OBJECT, TEXT, JsonMembers

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
KINDS = {type(None): NULL, bool: BOOLEAN, int: NUMBER, float: NUMBER, str: TEXT, list: LIST, dict: OBJECT}


@given(
    objects=st.lists(st.dictionaries(st.text(), VALUES, max_size=5), min_size=1, max_size=5),
    is_ascii=st.booleans(),
    indent=st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]),
    dropped=st.text(),
)
def test_members_are_those_of_pythons_reader(
    objects: list[dict[str, Any]], is_ascii: bool, indent: tuple[str, str], dropped: str
) -> None:
    lines = [json.dumps(one, ensure_ascii=is_ascii, separators=indent) for one in objects]
    members = JsonMembers.of("\n".join(lines).encode())
    expected: dict[str, int] = {}
    for one in objects:
        for key, value in one.items():
            expected[key] = expected.get(key, 0) | KINDS[type(value)]
    found = members.kinds_of_keys(lambda key: True)
    assert list(found.items()) == list(expected.items())
    everything = members.objects(np.ones(len(members.lines), dtype=np.bool_), len(objects))
    assert [json.loads(line) for line in everything.split(b"\n")[:-1]] == objects
    for gone in (dropped, *expected):
        left = members.objects(~members.have_key(gone), len(objects)).split(b"\n")[:-1]
        assert [json.loads(line) for line in left] == [
            {key: value for key, value in one.items() if key != gone} for one in objects
        ]


def test_keys_that_differ_in_backslashes_are_told_apart() -> None:
    one, two = "a\\b", "a\\\\b"
    for key, other in ((one, two), (two, one)):
        members = JsonMembers.of(json.dumps({one: "x", two: "x"}).encode())
        assert json.loads(members.objects(members.have_key(key), 1)) == {key: "x"}
        assert json.loads(members.objects(~members.have_key(key), 1)) == {other: "x"}


@given(data=st.text('{}[]",:\\\n ab1n').map(str.encode))
def test_faults_do_no_harm(data: bytes) -> None:
    members = JsonMembers.of(data)
    n_lines = data.count(b"\n") + 1
    members.kinds_of_keys(lambda key: True)
    written = members.objects(np.ones(len(members.lines), dtype=np.bool_), n_lines)
    assert written.count(b"\n") == n_lines
    assert (members.table >= 0).all()
    assert members.table[:, :5].max(initial=0) <= len(data)
