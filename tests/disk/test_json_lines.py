"""JSON lines with keys of their own: a document keeps these alone, wherever chunks are cut, in bounded memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.data import read_collection
from riffler.data.json_members import NUMBER
from riffler.data.jsonl import read_as_texts
from riffler.data.text_columns import text_or_null
from riffler.disk import IndexOptions, WantedColumns, index_collection, open_collection, parts
from riffler.errors import DataFileError, InputError
from tests.disk.documents import contents
from tests.disk.test_memory import peak_of


def write_lines(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return path


def others_of(folder: Path) -> list[dict[str, Any]]:
    blocks = open_collection(folder).blocks
    texts = pl.concat([block.records(0, block.n_rows, ["others"]) for block in blocks])["others"]
    return [json.loads(text or "{}") for text in texts]


def cut(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", n_bytes)
    monkeypatch.setattr("riffler.disk.chunks.BLOCK", n_bytes)


def test_a_document_keeps_its_own_keys_and_no_others(tmp_path: Path) -> None:
    objects: list[dict[str, Any]] = [
        {"id": "a", "title": "gull", "X-1": "x", "n": 1.0},
        {"id": " b ", "title": None, "X-2": None, "text": "It flies", "deep": {"a": [1, {"b": "}"}]}},
        {"id": 3, "title": 'an "owl"\n\\', "été": "море"},
        {"id": "d"},
    ]
    index_collection(write_lines(tmp_path / "a.jsonl", objects), tmp_path / "c")
    assert others_of(tmp_path / "c") == [
        {"X-1": "x", "n": 1.0},
        {"id": " b ", "X-2": None, "deep": {"a": [1, {"b": "}"}]}},
        {"id": 3, "été": "море"},
        {},
    ]
    disk = open_collection(tmp_path / "c")
    assert list(disk.ids) == ["a", "b", "3", "d"]
    assert disk.column("X-1").to_list() == ["x", None, None, None]
    assert disk.columns([2]).to_dicts() == [{"id": 3, "title": 'an "owl"\n\\', "text": None, "été": "море"}]


ANY_NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5, unique=True)


@given(numbers=ANY_NUMBERS)
def test_any_number_that_a_double_holds_is_the_same_text_as_in_memory(numbers: list[float]) -> None:
    data = "".join(json.dumps({"a": number}) + "\n" for number in numbers).encode()
    disk = read_as_texts(data, {"a": NUMBER})["a"].to_list()
    assert text_or_null(pl.read_ndjson(data, infer_schema_length=None)["a"]).to_list() == disk
    assert [float(text) for text in disk] == numbers


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.sampled_from([0.5, 1.0, -2.25, 1e5]),
    st.text('aé"\\\n[{}:,', max_size=4),
)
OBJECTS = st.dictionaries(st.sampled_from(["title", "text", "X-a", "X-b", 'q"', "é"]), VALUES, max_size=4)


@given(objects=st.lists(OBJECTS, min_size=1, max_size=12), n_bytes=st.integers(20, 200))
def test_what_is_written_does_not_hang_on_where_chunks_are_cut(
    tmp_path_factory: pytest.TempPathFactory, objects: list[dict[str, Any]], n_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    path = write_lines(folder / "a.jsonl", [{"title": "gull"}, *objects])
    index_collection(path, folder / "whole", IndexOptions(n_items=5), n_jobs=1)
    with pytest.MonkeyPatch.context() as patch:
        cut(patch, n_bytes)
        index_collection(path, folder / "cut", IndexOptions(n_items=5), n_jobs=1)
    assert contents(folder / "whole") == contents(folder / "cut")
    kept = [
        {k: v for k, v in one.items() if not (k in ("title", "text") and isinstance(v, str | None))} for one in objects
    ]
    assert others_of(folder / "whole")[1:] == kept
    disk, memory = open_collection(folder / "whole"), read_collection(path)
    assert tuple(disk.ids) == memory.ids
    assert list(disk.texts) == list(memory.texts)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2.0, 3], ["1", "2", "3"]),
        ([1, 2.5, 3.0], ["1", "2.5", "3"]),
        ([1.0, "b", 3.5], ["1", "b", "3.5"]),
        ([2**60 + 1, 2**63 + 1, 5], [str(2**60 + 1), str(2**63 + 1), "5"]),
        ([-0.0, 1e22, 1e-7], ["0", "10000000000000000000000", "0.0000001"]),
        ([1e19, 2.0**60, -1.5e300], ["10000000000000000000", "1152921504606847000", f"-15{'0' * 299}"]),
        ([-0.0, 1e22, "x"], ["-0", "10000000000000000000000", "x"]),
        ([2**53 + 1, -(2**63), 10**30], [str(2**53 + 1), str(-(2**63)), str(10**30)]),
        ([[1.0, 2.5], [1e-7], [3]], ["1\n2.5", "0.0000001", "3"]),
        ([True, 7, "x"], ["true", "7", "x"]),
        ([["a", "b"], ["c"], ["d"]], ["a\nb", "c", "d"]),
    ],
)
def test_ids_are_those_in_memory_wherever_chunks_are_cut(
    ids: list[Any], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"id": id, "title": f"gull {n}"} for n, id in enumerate(ids)])
    assert list(read_collection(path).ids) == expected
    for n_bytes in (20, 1000):
        cut(monkeypatch, n_bytes)
        index_collection(path, tmp_path / f"c{n_bytes}", IndexOptions(n_items=2))
        assert list(open_collection(tmp_path / f"c{n_bytes}").ids) == expected


def test_labels_and_dois_are_those_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, 60)
    labels = [1, 0.0, True, "no", None, 1.0]
    objects = [{"title": "gull", "DOI": f"10.1000/{n}", "included": label} for n, label in enumerate(labels)]
    path = write_lines(tmp_path / "a.jsonl", objects)
    index_collection(path, tmp_path / "c")
    disk, memory = open_collection(tmp_path / "c"), read_collection(path)
    assert disk.labels is not None
    np.testing.assert_array_equal(disk.labels, [1, 0, 1, 0, -1, 1])
    np.testing.assert_array_equal(disk.labels, memory.labels)
    assert tuple(disk.ids) == memory.ids


def test_values_of_mixed_kinds_are_given_back(tmp_path: Path) -> None:
    values = [True, 2, [1, 2], {"a": 1}, "x", None]
    path = write_lines(tmp_path / "a.jsonl", [{"title": f"gull {n}", "mix": one} for n, one in enumerate(values)])
    index_collection(path, tmp_path / "c")
    expected = ["true", "2", "[1, 2]", '{"a": 1}', "x", None]
    assert open_collection(tmp_path / "c").column("mix").to_list() == expected
    assert open_collection(tmp_path / "c").columns(np.arange(6))["mix"].to_list() == expected
    assert read_collection(path).columns["mix"].to_list() == expected


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"title": NaN}', "line 31: not JSON .NaN is no JSON; write null"),
        ('{"title": "a", "x": [-Infinity]}', "line 31: not JSON .-Infinity is no JSON"),
        ('{"title": "a", "x": 1e999}', "line 31: not JSON that can be read"),
        ('{"title": "a"} {"title": "b"}', "line 31: not JSON"),
        ('{"title": "a",}', "line 31: not JSON"),
        ('{"title": "a"', "line 31: not JSON"),
        ('{"title": "a\tb"}', "line 31: not JSON"),
        ("null", "line 31: one JSON object a line was expected, NoneType came"),
    ],
)
def test_a_bad_line_is_named_and_not_skipped(
    line: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(monkeypatch, 100)
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "gull"}\n' * 29 + f"\n{line}\n" + '{"title": "owl"}\n' * 20, encoding="utf-8")
    with pytest.raises(DataFileError, match=told):
        index_collection(path, tmp_path / "c")
    with pytest.raises(DataFileError, match=told):
        read_collection(path)


def test_columns_are_listed_where_none_fits(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"speech": "gulls fly", "who": "Ng"}, {"when": 1}])
    with pytest.raises(InputError, match="Columns: speech, who, when"):
        index_collection(path, tmp_path / "c")
    with pytest.raises(InputError, match=r"no column 'talk' for the text.* speech, who, when"):
        index_collection(path, tmp_path / "c", IndexOptions(columns=WantedColumns(text="talk")))


def test_memory_and_room_do_not_grow_with_the_number_of_keys(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    paths = {}
    for name, n_keys in (("few", 5), ("many", 10**6)):
        keys = rng.integers(0, n_keys, (5_000, 5)).tolist()
        objects = [
            {"title": f"mail {n}", "text": "gulls fly " * 20, **{f"X-Header-{key:07}": f"value {key}" for key in row}}
            for n, row in enumerate(keys)
        ]
        paths[name] = write_lines(tmp_path / f"{name}.jsonl", objects)
    peaks = {name: peak_of(path, tmp_path / name) for name, path in paths.items()}
    assert peaks["many"] - peaks["few"] < 50_000_000
    assert sum(map(len, contents(tmp_path / "many").values())) < 4 * paths["many"].stat().st_size


def test_what_nests_too_deep_is_named_by_its_line(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    (tmp_path / "deep.jsonl").write_text('{"title": "a"}\n{"title": "b", "x": ' + deep + "}\n")
    with pytest.raises(DataFileError, match="line 2: lists or objects within one another, too deep"):
        index_collection(tmp_path / "deep.jsonl", tmp_path / "out", IndexOptions(n_clusters=0))


def test_a_key_that_is_half_a_letter_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text('{"title": "a", "\\ud800": 1}\n{"title": "b"}\n')
    index_collection(tmp_path / "half.jsonl", tmp_path / "out", IndexOptions(n_clusters=0))
    assert open_collection(tmp_path / "out").n_items == 2


def test_only_some_keys_are_told_where_none_fits(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{f"key {n}": 1 for n in range(3_000)}])
    with pytest.raises(InputError, match=r"Columns: key 0, .* key 49 and more\. Say"):
        index_collection(path, tmp_path / "c")
    with pytest.raises(InputError, match=r"no column 'talk' for the text.* key 49 and more\.$"):
        index_collection(path, tmp_path / "c", IndexOptions(columns=WantedColumns(text="talk")))
    with pytest.raises(InputError, match=r"Columns: (key \d+,? ){50}and more\. Say"):
        read_collection(path)


def test_keys_are_no_columns_where_parts_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []
    chosen = parts._chosen_parts

    def noted(frame: pl.DataFrame, wanted: WantedColumns, source: str, kind: str) -> parts.Parts:
        widths.append(frame.width)
        return chosen(frame, wanted, source, kind)

    monkeypatch.setattr(parts, "_chosen_parts", noted)
    path = write_lines(tmp_path / "a.jsonl", [{"title": "gull", **{f"key {n}": 1 for n in range(3_000)}}])
    index_collection(path, tmp_path / "c")
    assert widths == [1]


@pytest.mark.parametrize("n_bytes", [100, 1 << 20])
def test_a_line_of_very_many_keys_is_refused(n_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, n_bytes)
    monkeypatch.setattr("riffler.disk.text_survey.MOST_KEYS", 20)
    objects: list[dict[str, Any]] = [{"title": "gull", "x": {f"{n}": [n, n] for n in range(100)}}] * 30
    path = write_lines(tmp_path / "a.jsonl", [*objects, {f"key {n}": 1 for n in range(20)}])
    index_collection(path, tmp_path / "c")
    write_lines(path, [*objects, {f"key {n}": 1 for n in range(21)}])
    with pytest.raises(DataFileError, match="line 31: an object of 21 keys, at most 20 are read"):
        index_collection(path, tmp_path / "d")
