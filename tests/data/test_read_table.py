"""NPZ, CSV, TSV and Parquet through the one door, and the faults each can have."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array, save_npz

from riffler.data import Table, read_table
from riffler.errors import DataFileError, FeatureMismatch, InputError, LabelError

CLIENTS = "id,age,job,y\na,30,nurse,no\nb,41,clerk,yes\nc,52,,no\n"


def write(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def dense(table: Table) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.asarray(table.X.toarray() if hasattr(table.X, "toarray") else table.X)


def test_columns_play_their_parts(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, CLIENTS))
    assert table.feature_names == ("age", "job=", "job=clerk", "job=nurse")
    np.testing.assert_array_equal(dense(table), [[30, 0, 0, 1], [41, 0, 1, 0], [52, 1, 0, 0]])
    np.testing.assert_array_equal(table.y, [0, 1, 0])
    assert table.ids.tolist() == ["a", "b", "c"]
    assert table.X.dtype == np.float32


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    table = read_table(write(tmp_path, CLIENTS.replace(",", separator)))
    np.testing.assert_array_equal(dense(table), dense(read_table(write(tmp_path, CLIENTS, "comma.csv"))))


def test_csv_tsv_gz_and_parquet_agree(tmp_path: Path) -> None:
    plain = read_table(write(tmp_path, CLIENTS))
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(CLIENTS.encode()))
    write(tmp_path, CLIENTS.replace(",", "\t"), "data.tsv")
    pl.read_csv(tmp_path / "data.csv").write_parquet(tmp_path / "data.parquet")
    for name in ("data.csv.gz", "data.tsv", "data.parquet"):
        other = read_table(tmp_path / name)
        assert other.schema == plain.schema
        np.testing.assert_array_equal(dense(other), dense(plain))


def test_a_name_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "a[1].csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "a1.csv").write_text("x,y\n3,0\n4,1\n")
    assert read_table(tmp_path / "a[1].csv", label="y").X.ravel().tolist() == [1, 2]


def test_many_categories_make_a_sparse_matrix_equal_to_the_dense_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    towns = rng.integers(0, 50, 400)
    ages = rng.integers(0, 3, 400)
    rows = "".join(f"{age},t{town},{town % 2}\n" for age, town in zip(ages, towns, strict=True))
    table = read_table(write(tmp_path, "age,town,label\n" + rows))
    assert isinstance(table.X, csr_matrix)
    assert table.X.has_canonical_format
    names = sorted({f"t{town}" for town in towns})
    expected = np.column_stack([ages, *[[f"t{town}" == name for town in towns] for name in names]])
    np.testing.assert_array_equal(dense(table), expected)


def test_a_file_of_numbers_has_no_header(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "1.5,2,0\n3,4,1\n"), label="column_3")
    np.testing.assert_array_equal(dense(table), [[1.5, 2], [3, 4]])
    assert table.feature_names == ("column_1", "column_2")


def test_a_file_without_labels_has_none(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "a,b\n1,2\n")).y is None


def test_the_test_file_is_turned_like_the_training_file(tmp_path: Path) -> None:
    train = read_table(write(tmp_path, "age,job,outcome\n30,nurse,1\n41,clerk,2\n"), label="outcome")
    test = read_table(write(tmp_path, "job,note,age,outcome\npilot,x,7,1\nnurse,y,8,1\n", "test.csv"), like=train)
    assert test.feature_names == train.feature_names
    np.testing.assert_array_equal(dense(test), [[7, 0, 0], [8, 0, 1]])
    np.testing.assert_array_equal(test.y, [0, 0])
    unlabelled = read_table(write(tmp_path, "job,age\npilot,7\n", "new.csv"), like=train.schema)
    assert unlabelled.y is None
    with pytest.raises(FeatureMismatch, match="lacks column 'age'"):
        read_table(write(tmp_path, "job,outcome\nnurse,1\n", "narrow.csv"), like=train)
    with pytest.raises(DataFileError, match=r"column 'age' must hold numbers.*row 2 has 'old'"):
        read_table(write(tmp_path, "job,age\nnurse,1\nnurse,old\n", "words.csv"), like=train)


@given(
    rows=st.lists(st.tuples(st.integers(-9, 9), st.sampled_from("abcdef"), st.booleans()), min_size=2, max_size=12),
    split=st.integers(1, 11),
)
def test_rows_are_turned_alike_in_either_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, bool]], split: int
) -> None:
    folder = tmp_path_factory.mktemp("alike")
    text = [f"{number},{letter},{int(label)}\n" for number, letter, label in rows]
    train = read_table(write(folder, "n,letter,y\n" + "".join(text)))
    part = read_table(write(folder, "n,letter,y\n" + "".join(text[-split:]), "part.csv"), like=train)
    np.testing.assert_array_equal(dense(part), dense(train)[-split:])
    if len({label for _, _, label in rows}) == 2:
        np.testing.assert_array_equal(part.y, train.labels()[-split:])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\n", "first line is empty"),
        ("a,y\n", "a header but no rows"),
        ("a,b,y\n1,2,0\n1,0\n", "line 3: 2 fields, the first line has 3"),
        ("a,b,y\n1,2,0\n1,2,3,0\n", "line 3: 4 fields, the first line has 3"),
        ("a,b,y\n1,2,0\n1,nan,1\n", "row 2, column 'b' is nan"),
        ("a,b,y\n1,2,0\n1,inf,1\n", "row 2, column 'b' is inf"),
        ("a,b,y\n1,2,0\n1,,1\n", "row 2, column 'b' is empty"),
        ("a,b,y\n1,2,0\n1,?,1\n1,3,1\n", "column 'b' holds numbers, but row 2 has '?'"),
        ("a,b,y\n1,1e300,0\n1,3,1\n", "row 1, column 'b': 1e.300 does not fit float32"),
        ("a,,y\n1,,0\n1,,1\n", "column '' is empty"),
        ("a,a,y\n1,2,0\n", "'a' comes twice in the header"),
        ("a,y,class\n1,2,0\n", "columns 'y', 'class' could all be the label"),
        ("y\n1\n", "no feature columns"),
        ("a,qid,y\n1,x,0\n", "row 1: qid must be a whole number, 'x' came"),
    ],
)
def test_each_fault_of_a_csv_is_named(tmp_path: Path, text: str, message: str) -> None:
    message = message.replace("'?'", r"'\?'")
    with pytest.raises(DataFileError, match=message):
        read_table(write(tmp_path, text))


def test_a_text_with_too_many_values_says_how_to_drop_it(tmp_path: Path) -> None:
    path = write(tmp_path, "n,title,y\n" + "".join(f"{i},t{i},{i % 2}\n" for i in range(1001)))
    with pytest.raises(DataFileError, match=r"'title' has 1,001 distinct values.*drop=\['title'\]"):
        read_table(path)
    assert read_table(path, drop="title").feature_names == ("n",)


def test_wrong_names_list_the_right_ones(tmp_path: Path) -> None:
    path = write(tmp_path, CLIENTS)
    for wrong in ({"label": "z"}, {"id": "z"}, {"drop": ["z"]}):
        with pytest.raises(DataFileError, match=r"no column 'z'\. Columns: id, age, job, y"):
            read_table(path, **wrong)
    with pytest.raises(DataFileError, match="no such file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(DataFileError, match=r"Known: \.svm, .*\.npz"):
        read_table(write(tmp_path, "x", "data.docx"))
    with pytest.raises(DataFileError, match="this is a folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="no named columns"):
        read_table(write(tmp_path, "1 1:1\n", "a.svm"), label="y")
    with pytest.raises(InputError, match="float32 or float64"):
        read_table(path, dtype="int64")


def test_a_column_that_turns_to_fractions_or_texts_late_is_read_right(tmp_path: Path) -> None:
    n = 3000
    rows = "".join(f"{i % 7 if i < n - 1 else 0.5},{'x' if i == n - 1 else 'yz'[i % 2]},{i % 2}\n" for i in range(n))
    table = read_table(write(tmp_path, "a,b,y\n" + rows))
    assert table.feature_names == ("a", "b=x", "b=y", "b=z")
    np.testing.assert_array_equal(dense(table)[-1], [0.5, 1, 0, 0])
    late = "a,y\n" + "1,0\n" * n + "two,1\n"
    assert read_table(write(tmp_path, late)).feature_names == ("a=1", "a=two")


def test_bytes_that_are_not_text_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,y\n1,0\n\xff\xfe,1\n")
    with pytest.raises(DataFileError, match="not UTF-8"):
        read_table(path)


@pytest.mark.parametrize(
    ("labels", "positive", "expected"),
    [
        (["0", "1"], None, [0, 1]),
        (["-1", "1"], None, [0, 1]),
        (["1", "2"], None, [0, 1]),
        (["true", "false"], None, [1, 0]),
        (["true", "false"], "false", [0, 1]),
        (["Relevant", "irrelevant"], None, [1, 0]),
        (["ham", "spam"], "spam", [0, 1]),
        (["a", "b", "c"], ["a", "c"], [1, 0, 1]),
        (["3", "4", "5"], "4", [0, 1, 0]),
        (["1", "1"], None, [1, 1]),
        (["0", "0"], None, [0, 0]),
    ],
)
def test_labels_become_0_and_1(
    tmp_path: Path, labels: list[str], positive: str | list[str] | None, expected: list[int]
) -> None:
    rows = "".join(f"{i},{label}\n" for i, label in enumerate(labels))
    table = read_table(write(tmp_path, "x,label\n" + rows), positive=positive)
    np.testing.assert_array_equal(table.y, expected)


def test_one_of_several_topics_is_enough(tmp_path: Path) -> None:
    whole = read_table(write(tmp_path, "x,label\n0,earn|acq\n1,earnings\n2,acq\n3,earn\n"), positive="earn")
    np.testing.assert_array_equal(whole.y, [1, 0, 0, 1])
    (tmp_path / "test.csv").write_text("x,label\n0,wheat|earn\n1,acq\n")  # topics that never came together before
    np.testing.assert_array_equal(read_table(tmp_path / "test.csv", like=whole).y, [1, 0])


def test_labels_that_are_long_and_many_are_shown_in_part(tmp_path: Path) -> None:
    rows = "".join(f"{i},{'long ' * 50}{i % 30}\n" for i in range(60))
    with pytest.raises(LabelError, match=r"and 20 more\.$") as caught:
        read_table(write(tmp_path, "x,label\n" + rows), positive="short")
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (
            ["1", "2", "3", "3"],
            None,
            r"two label values were expected, 3 came: 1 \(1 rows\), .*3 \(2 rows\).*positive= \(--positive or",
        ),
        (["ham", "spam"], None, r"which label is the positive one\? ham \(1 rows\), spam \(1 rows\)"),
        (["ham", "spam"], "Spam", r"no label equals 'Spam', the positive value asked for"),
        (["1", "", "0"], None, "row 2 has no label"),
        (["1", "nan", "0"], None, "row 2 has label nan"),
    ],
)
def test_unclear_labels_are_an_error(tmp_path: Path, labels: list[str], positive: str | None, message: str) -> None:
    rows = "".join(f"{label},{i}\n" for i, label in enumerate(labels))
    with pytest.raises(LabelError, match=message):
        read_table(write(tmp_path, "label,x\n" + rows), positive=positive)


def test_npz_arrays_and_sparse_matrices(tmp_path: Path) -> None:
    X = np.arange(6, dtype=np.int16).reshape(3, 2)
    np.savez_compressed(tmp_path / "dense.npz", X=X, y=np.array([-1, 1, 1]), other=np.array([5, 6, 5]))
    table = read_table(tmp_path / "dense.npz")
    np.testing.assert_array_equal(dense(table), X)
    np.testing.assert_array_equal(table.y, [0, 1, 1])
    np.testing.assert_array_equal(read_table(tmp_path / "dense.npz", label="other").y, [0, 1, 0])
    matrix = random_array((5, 4), density=0.5, rng=np.random.default_rng(1))
    save_npz(tmp_path / "sparse.npz", matrix.tocoo())
    sparse = read_table(tmp_path / "sparse.npz")
    assert sparse.y is None
    np.testing.assert_allclose(dense(sparse), matrix.toarray(), rtol=1e-6)


def test_each_fault_of_an_npz_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    ones = np.ones((2, 2))
    faults: list[tuple[dict[str, object], str]] = [
        ({"Z": ones}, "no array 'X'. Arrays in the archive: Z"),
        ({"X": np.ones(3)}, "must be a 2-D array of numbers, it is 1-D"),
        ({"X": np.array([["a"]])}, "2-D array of numbers"),
        ({"X": ones, "y": np.ones(3)}, r"'y' has shape \(3,\)"),
        ({"X": np.array([[1, 2], [3, np.inf]])}, "row 2, column 2 is inf"),
        ({"X": np.array([[1, 2], [-1e300, 1]])}, "row 2, column 1: -1e.300 does not fit float32"),
        ({"X": np.ones((0, 2))}, "no rows"),
        ({"X": ones, "y": np.array([np.nan, 1])}, "row 1 has label nan"),
        ({"X": ones, "y": np.array([b"a", b"b"])}, "labels must be numbers or text"),
        ({"X": np.array([[object()]], dtype=object)}, "plain arrays"),
    ]
    for arrays, message in faults:
        np.savez(path, **arrays)  # type: ignore[arg-type]
        with pytest.raises((DataFileError, LabelError), match=message):
            read_table(path)
    np.savez(path, X=ones, y=np.array([0, 1]))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataFileError, match="not a whole NumPy archive"):
        read_table(path)


def test_a_cut_parquet_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": list(range(1000)), "y": [0, 1] * 500}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataFileError, match="not a whole Parquet file"):
        read_table(path)


def test_a_parquet_column_that_is_no_number_or_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": [[1], [2]], "y": [0, 1]}).write_parquet(path)
    with pytest.raises(DataFileError, match=r"column 'a' holds List.*drop=\['a'\]"):
        read_table(path)


def test_other_widths_are_a_mismatch(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.ones((2, 3)))
    np.savez(tmp_path / "b.npz", X=np.ones((2, 4)))
    assert read_table(tmp_path / "a.npz", like=read_table(tmp_path / "a.npz")).y is None
    with pytest.raises(FeatureMismatch, match="4 features, 3 were expected"):
        read_table(tmp_path / "b.npz", like=read_table(tmp_path / "a.npz"))
