"""Svmlight text: what is written is read back, and every fault is named with its line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, random_array
from sklearn.datasets import dump_svmlight_file

from riffler.data import read_table
from riffler.data.opening import zstd
from riffler.errors import DataFileError, FeatureMismatch, LabelError
from riffler.records import Matrix, is_sparse

GOOD = "-1 1:0.5 3:2\n+1 2:-1e-3 # a comment\n\n# whole line\n1 3:4\n-1\n"


def write(folder: Path, text: str, name: str = "data.svm") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def dense(X: Matrix) -> NDArray[Any]:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def test_lines_become_rows(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, GOOD))
    np.testing.assert_array_equal(table.y, [0, 1, 1, 0])
    np.testing.assert_array_equal(
        dense(table.X), np.array([[0.5, 0, 2], [0, -1e-3, 0], [0, 0, 4], [0, 0, 0]], dtype=np.float32)
    )
    assert table.X.dtype == np.float32
    assert table.qid is None
    assert table.feature_names is None
    np.testing.assert_array_equal(table.ids, [1, 2, 3, 4])


PACKERS: dict[str, Any] = {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": zstd()}


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_text_equals_plain_text(tmp_path: Path, ending: str) -> None:
    packed = tmp_path / f"data.libsvm{ending}"
    packed.write_bytes(PACKERS[ending].compress(GOOD.encode()))
    plain = read_table(write(tmp_path, GOOD))
    np.testing.assert_array_equal(dense(read_table(packed).X), dense(plain.X))


@pytest.mark.parametrize("ending", PACKERS)
def test_a_cut_compressed_file_is_an_error(tmp_path: Path, ending: str) -> None:
    lines = "".join(f"{i % 2} {i % 97 + 1}:{i * 0.137:.6f}\n" for i in range(5000))
    whole = PACKERS[ending].compress(lines.encode())
    path = tmp_path / f"data.svm{ending}"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(DataFileError, match=r"data\.svm.*cut short"):
        read_table(path)
    path.write_bytes(b"not compressed at all")
    with pytest.raises(DataFileError, match="not what its ending says"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\n# nothing\n", "no data lines"),
        ("1 1:1\n-1 0:1 2:3\n", "line 2: index 0; indices count from 1"),
        ("1 -3:1\n", "line 1: index -3"),
        ("1 1:1\n\n-1 4:1 2:1\n", "line 3: index 2 comes after 4"),
        ("1 1:1\n-1 2:1 2:1\n", "line 2: index 2 comes twice"),
        ("1 1:1\n-1 2:x\n", "line 2, feature 2: a number was expected, 'x' came"),
        ("1 1:1\n-1 2:\n", "line 2, feature 2: a number was expected, '' came"),
        ("1 1:1\n-1 2\n", "line 2: `index:value` was expected, '2' came"),
        ("1 1:1\n-1 a:2\n", "line 2: `index:value` was expected, 'a:2' came"),
        ("1 1:1\nspam 2:1\n", "line 2: the label must be a finite number, 'spam' came"),
        ("1 1:1\nnan 2:1\n", "line 2: the label must be a finite number, 'nan' came"),
        ("1 1:1\n2:1\n", "line 2: a label was expected first, '2:1' came"),
        ("1,2 1:1\n", "line 1: several labels"),
        ("1 1:1\n-1 2:nan\n", "line 2, feature 2: nan is not a finite number"),
        ("1 1:1\n-1 2:-inf\n", "line 2, feature 2: -inf is not a finite number"),
        ("1 1:1e300\n-1 2:1\n", "line 1, feature 1: 1e300 does not fit float32; pass dtype='float64'"),
        ("1 1:1\n-1 134217729:1\n", "line 2: index 134217729 is above the limit of 134217728.*n_features=134217729"),
        ("1 1:1\n-1 99999999999999999999:1\n", "line 2: index 99999999999999999999 is above the limit"),
        ("1 qid:1 1:1\n-1 2:1\n", "line 2: this line has no qid"),
        ("1 1:1\n-1 qid:1 2:1\n", "line 2: this line has a qid"),
        ("1 1:1\n-1 2:1\n" * 200 + "1 qid:3 1:1\n", "line 401: this line has a qid, earlier lines have none"),
        ("1 qid:one 1:1\n", "line 1: `qid:` and a whole number was expected, 'qid:one' came"),
    ],
)
def test_each_fault_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_table(write(tmp_path, text))


def test_a_huge_index_is_read_if_it_is_meant(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "1 1:1\n-1 134217729:1\n"), n_features=134217729)
    assert table.X.shape == (2, 134217729)


def test_float64_keeps_what_float32_cannot(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "1 1:1e300\n0 1:1\n"), dtype=np.float64).X[0, 0] == 1e300


def test_queries_come_with_grades(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "2 qid:7 1:1 # doc 3\n0 qid:7 2:1\n1 qid:9\n", "letor.txt"))
    np.testing.assert_array_equal(table.y, [2, 0, 1])
    np.testing.assert_array_equal(table.qid, [7, 7, 9])
    np.testing.assert_array_equal(dense(table.X), [[1, 0], [0, 1], [0, 0]])
    binary = read_table(write(tmp_path, "2 qid:7 1:1\n0 qid:7 2:1\n", "letor.txt"), positive=[1, 2])
    np.testing.assert_array_equal(binary.y, [1, 0])


def test_a_qid_in_a_comment_is_none(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "# qid:1 begins here\n1 1:1 # qid:2\n-1 #qid:3\n"))
    assert table.qid is None
    assert table.n_items == 2


def test_several_labels_with_queries_keep_them(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "1,5 qid:4 1:1\n2 qid:9 1:2\n"), positive=5)
    np.testing.assert_array_equal(table.qid, [4, 9])


def file_of(folder: Path, n_rows: int, n_columns: int, used: int, name: str = "data.svm") -> Path:
    """Rows of which the first ``used`` columns hold something, and the last row its last column too."""
    line = " ".join(f"{column}:{column}" for column in range(1, used + 1))
    last = f" {n_columns}:1" if used < n_columns else ""
    return write(folder, f"1 {line}\n-1 {line}\n" * (n_rows // 2) + f"1 {line}{last}\n", name)


@pytest.mark.parametrize(("n_columns", "used", "is_dense"), [(10, 10, True), (10, 6, True), (10, 4, False)])
def test_features_are_dense_where_that_is_smaller(tmp_path: Path, n_columns: int, used: int, is_dense: bool) -> None:
    table = read_table(file_of(tmp_path, 100, n_columns, used))
    assert is_sparse(table.X) is not is_dense
    assert table.schema.dense is is_dense
    assert dense(table.X)[0].tolist() == [float(c) if c <= used else 0.0 for c in range(1, n_columns + 1)]
    if is_sparse(table.X):
        assert table.X.indices.dtype == np.int32
        as_csr = table.X.data.nbytes + table.X.indices.nbytes + table.X.indptr.nbytes
        assert as_csr <= dense(table.X).nbytes
    else:
        assert table.X.nbytes < csr_matrix(table.X).nnz * 8 + 4 * (table.n_items + 1)


def test_a_wide_file_is_never_filled(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "1 1:1 100000000:1\n-1 2:1\n"))
    assert table.X.shape == (2, 100_000_000)
    assert is_sparse(table.X)


def test_a_test_file_takes_the_form_of_its_training_file(tmp_path: Path) -> None:
    full, thin = file_of(tmp_path, 100, 10, 9, "full.svm"), file_of(tmp_path, 100, 10, 2, "thin.svm")
    assert not is_sparse(read_table(thin, like=read_table(full)).X)
    assert is_sparse(read_table(full, like=read_table(thin)).X)


def test_several_labels_need_to_be_told_which(tmp_path: Path) -> None:
    path = write(tmp_path, "1,5 1:1\n2 1:2\n5 2:1\n")
    np.testing.assert_array_equal(read_table(path, positive=5).y, [1, 0, 1])
    np.testing.assert_array_equal(read_table(path, positive=[1, 2]).y, [1, 1, 0])
    with pytest.raises(LabelError, match="no line has a label"):
        read_table(path, positive="C17")


def test_several_labels_may_begin_far_down_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "1 1:1\n2 1:2\n" * 100 + "1,5 2:1\n5 1:1\n")
    np.testing.assert_array_equal(np.flatnonzero(read_table(path, positive=5).labels()), [200, 201])
    assert read_table(path, positive=1).labels().sum() == 101
    with pytest.raises(
        DataFileError, match=r"line 201: several labels \('1,5'\).*--relevant-classes on the command line"
    ):
        read_table(path)
    broken = write(tmp_path, "1 1:1\n" * 150 + "1,5 2:1\n1 3:1 2:1\n", "broken.svm")
    with pytest.raises(DataFileError, match="line 152: index 2 comes after 3"):
        read_table(broken, positive=5)


def test_a_test_file_takes_the_width_of_its_training_file(tmp_path: Path) -> None:
    train = read_table(write(tmp_path, "1 1:1 5:1\n2 2:1\n"))
    test = read_table(write(tmp_path, "1 3:1\n", "test.svm"), like=train)
    assert test.X.shape == (1, 5)
    np.testing.assert_array_equal(test.y, [0])  # 2 is the positive label of the training file
    assert read_table(write(tmp_path, "0 3:1\n0 1:1\n", "new.svm"), like=train).y is None  # 0 says unknown
    with pytest.raises(FeatureMismatch, match=r"wide\.svm, line 2: index 6, but only 5 features"):
        read_table(write(tmp_path, "1 3:1\n1 6:1\n", "wide.svm"), like=train)
    with pytest.raises(LabelError, match="row 2 has label 3, expected one of 1, 2"):
        read_table(write(tmp_path, "1 3:1\n3 4:1\n", "other.svm"), like=train)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), d=st.integers(1, 40), ranked=st.booleans())
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n: int, d: int, ranked: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = csr_matrix(random_array((n, d), density=0.3, rng=rng))
    y = rng.integers(0, 2, n)
    queries = np.sort(rng.integers(0, 5, n)) if ranked else None
    path = tmp_path_factory.mktemp("svmlight") / "data.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False, query_id=queries)
    table = read_table(path, n_features=d, dtype=np.float64, positive=None)
    np.testing.assert_allclose(dense(table.X), X.toarray(), rtol=1e-12)
    np.testing.assert_array_equal(table.y, y)
    if ranked:
        np.testing.assert_array_equal(table.qid, queries)
