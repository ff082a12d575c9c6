"""Public data sets: the table is sound, sets load with the counts it states, missing ones say how to get them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from riffler import datasets
from riffler.cli.datasets import datasets as command
from riffler.data import known
from riffler.errors import DataFileError, DataSetMissing, InputError, LabelError, UnknownName

SMALL_BINARY = [
    "a9a",
    "adbench/17_InternetAds",
    "adbench/1_ALOI",
    "adbench/27_PageBlocks",
    "adbench/28_pendigits",
    "adbench/2_annthyroid",
    "adbench/32_shuttle",
    "adbench/34_smtp",
    "adbench/5_campaign",
    "adult",
    "bank-marketing",
    "clean2-musk",
    "coil2000",
    "covtype-100k",
    "covtype-first20k",
    "german",
    "ida-ada",
    "ida-sylva",
    "mushrooms",
    "phishing",
    "skin_nonskin",
    "spambase",
    "splice",
    "svmguide1",
    "w8a",
]
SMALL_MULTICLASS = {
    # name: (class, its rows in train), as published
    "dna": (3, 1051),
    "usps": (0, 1194),
    "pendigits": (0, 780),
    "shuttle": (1, 45586),
    "satimage": (4, 626),
    "connect-4": (0, 6449),
}
SMALL_TEXTS = ["clinc150", "sms-spam", "satd-comments", "screening-kitchenham2010", "screening-nagtegaal2019"]
NAMED_IN_THE_PAPERS = [
    "kdd08",
    "ppi",
    "letter",
    "ijcnn1",
    "a9a",
    "covtype",
    "cod-rna",
    "protein",
    "news20",
    "rcv1-binary",
    "bank-marketing",
    "shuttle",
    "mnist",
    "connect-4",
    "acoustic",
    "real-sim",
    "url",
    "w8a",
    "rcv1v2",
    "letor-mq2007",
    "conll2003",
]


@pytest.fixture(autouse=True)
def _no_folder_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(known.FOLDER_VARIABLE, raising=False)


def test_the_table_is_sound() -> None:
    assert set(NAMED_IN_THE_PAPERS) <= set(datasets.names())
    for name in datasets.names():
        entry = datasets.info(name)
        assert entry.task in {"binary", "multiclass", "multilabel", "ranking", "sequence", "text"}
        assert entry.title
        assert entry.source
        assert entry.get
        assert "://" not in entry.get
        for part in entry.parts.values():
            assert part.sha256 is None or len(part.sha256) == 64
            assert entry.task == "sequence" or part.kind
        for members in entry.splits.values():
            assert set(members) <= set(entry.parts)


def test_every_folder_of_the_index_is_known(data_folder: Path) -> None:
    folders = {file.parent.name for file in data_folder.glob("*/*")}
    assert folders <= {datasets.info(name).folder for name in datasets.names()}
    here = {datasets.info(name).folder for name in datasets.present(data_folder)}
    assert folders == here


@pytest.mark.parametrize("name", SMALL_BINARY)
def test_binary_sets_have_the_stated_counts(data_folder: Path, name: str) -> None:
    entry = datasets.info(name)
    table = datasets.load(name, "train", folder=data_folder)
    assert table.y is not None
    part = entry.parts["train"]
    assert (table.n_items, table.n_features, table.y.sum()) == (part.rows, part.features, part.positives)
    assert table.X.dtype == np.float32


@pytest.mark.parametrize("name", SMALL_MULTICLASS)
def test_one_class_against_the_rest(data_folder: Path, name: str) -> None:
    positive, rows = SMALL_MULTICLASS[name]
    table = datasets.load(name, positive=positive, folder=data_folder)
    assert table.y is not None
    assert table.y.sum() == rows
    with pytest.raises(LabelError, match="Pass positive="):
        datasets.load(name, folder=data_folder)


def test_folds_and_queries(data_folder: Path) -> None:
    parts = [datasets.load("letor-mq2008", f"fold2-{part}", folder=data_folder) for part in ("train", "val", "test")]
    queries = [set(np.unique(table.qid).tolist()) for table in parts if table.qid is not None]
    assert sum(table.n_items for table in parts) == 15211
    assert sum(map(len, queries)) == 784
    assert len(set.union(*queries)) == 784
    grades = np.concatenate([table.y for table in parts if table.y is not None])
    assert np.bincount(grades).tolist() == [12279, 2001, 931]


def test_the_halves_of_a_training_part_make_it_up(data_folder: Path) -> None:
    train, first, second = (
        datasets.load("letter", split, positive=1, folder=data_folder) for split in ("train", "tr", "val")
    )
    assert first.labels().sum() + second.labels().sum() == train.labels().sum()
    assert datasets.load("letter", "all", positive=[1, 2], folder=data_folder).labels().sum() == 789 + 766


def test_stacked_queries_stay_apart(data_folder: Path) -> None:
    whole, train = (datasets.load("lightgbm-rank", split, folder=data_folder) for split in ("all", "train"))
    assert whole.qid is not None
    assert train.qid is not None
    assert len(np.unique(whole.qid)) == 251
    assert np.unique(train.qid, return_counts=True)[1][:4].tolist() == [1, 13, 5, 8]


@pytest.mark.soak
def test_the_large_sets_load(data_folder: Path) -> None:
    classes: dict[str, tuple[str | int, int]] = {
        "kddcup99": (0, 2203),
        "mnist": (3, 7141),
        "sector": (1, 85),
        "rcv1v2-subsets": ("E51", 706),
    }
    for name, (positive, rows) in classes.items():
        assert datasets.load(name, "all", positive=positive, folder=data_folder).labels().sum() == rows
    for name in ("cod-rna", "ijcnn1", "reuters-moneyfx", "adbench/10_cover", "adbench/11_donors", "adbench/16_http"):
        assert datasets.load(name, "all", folder=data_folder).labels().sum() == datasets.info(name).positives


def test_topics_are_chosen_by_their_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = known.Part("train", "vectors.svm", rows=3, features=2, topics="codes.txt")
    news = known.Dataset("news", "", "multilabel", "", "", "news", {"train": part}, {"train": ("train",)})
    monkeypatch.setattr("riffler.data.public.dataset", lambda name: news)
    (tmp_path / "news").mkdir()
    (tmp_path / "news" / "vectors.svm").write_text("0,2 1:1\n1 2:1\n2 1:1\n")
    (tmp_path / "news" / "codes.txt").write_text("C17\nE14\nE51\n")
    assert datasets.load("news", positive="E51", folder=tmp_path).labels().tolist() == [1, 0, 1]
    assert datasets.load("news", positive=["C17", "E14"], folder=tmp_path).labels().tolist() == [1, 1, 0]
    with pytest.raises(UnknownName, match=r"No topic called 'E99'\. Known: C17, E14, E51"):
        datasets.load("news", positive="E99", folder=tmp_path)
    with pytest.raises(InputError, match="several labels an item"):
        datasets.load("news", folder=tmp_path)


@pytest.mark.parametrize("name", SMALL_TEXTS)
def test_texts_are_frames_of_text(data_folder: Path, name: str) -> None:
    frame = datasets.load_documents(name, folder=data_folder, verify=True)
    assert frame.height == datasets.info(name).rows
    assert set(frame.dtypes) == {pl.String}
    assert sum(frame.null_count().row(0)) == 0


def lines(n_rows: int, n_positives: int) -> str:
    return "".join(f"{'+1' if i < n_positives else '-1'} 1:{i} 8:1\n" for i in range(n_rows))


def test_the_third_part_of_cod_rna_is_taken_when_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = datasets.info("cod-rna")
    assert entry.splits["all"] == ("train", "test", "rest")
    monkeypatch.setenv(known.FOLDER_VARIABLE, str(tmp_path))
    small = {
        name: known.Part(name, part.file, part.original, rows=3, features=8, positives=1, optional=part.optional)
        for name, part in entry.parts.items()
    }
    short = known.Dataset("cod-rna", "", "binary", "", "", "cod-rna", small, entry.splits)
    monkeypatch.setattr("riffler.data.public.dataset", lambda name: short)
    (tmp_path / "cod-rna").mkdir()
    for original in ("cod-rna", "cod-rna.t"):
        (tmp_path / "cod-rna" / original).write_text(lines(3, 1))
    assert datasets.load("cod-rna", "all").n_items == 6
    assert datasets.missing("cod-rna") == ("rest",)
    with pytest.raises(DataSetMissing, match=r"lacks rest\.svm\.xz \(or cod-rna\.r"):
        datasets.load("cod-rna", "rest")
    (tmp_path / "cod-rna" / "cod-rna.r").write_text(lines(3, 1))
    whole = datasets.load("cod-rna", "all")
    assert whole.n_items == 9
    assert whole.ids.tolist() == list(range(1, 10))


def test_a_missing_set_says_what_to_get_and_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(DataSetMissing, match=r"real-sim.*LIBSVM.*a folder real-sim in your data folder.*RIFFLER_DATA"):
        datasets.load("real-sim")
    with pytest.raises(DataSetMissing, match=f"into the folder {tmp_path}/real-sim"):
        datasets.path("real-sim", tmp_path)
    with pytest.raises(UnknownName, match=r"No data set called 'a9b'\. Known: .*a9a"):
        datasets.load("a9b")
    with pytest.raises(UnknownName, match=r"No split of 'a9a' called 'tset'\. Known: all, test, train"):
        datasets.load("a9a", "tset")
    assert datasets.present() == ()


def test_the_wrong_loader_names_the_right_one() -> None:
    with pytest.raises(InputError, match="load_documents"):
        datasets.load("sms-spam")
    with pytest.raises(InputError, match="path"):
        datasets.load("conll2000")
    with pytest.raises(InputError, match="load"):
        datasets.load_documents("a9a")


def test_other_counts_are_an_error_that_names_both(tmp_path: Path) -> None:
    (tmp_path / "german").mkdir()
    file = tmp_path / "german" / "german.numer_scale.svm"
    file.write_text(lines(999, 300))
    with pytest.raises(DataFileError, match=r"999 rows, 1,000 were expected"):
        datasets.load("german", folder=tmp_path)
    file.write_text(lines(1000, 299))
    with pytest.raises(DataFileError, match=r"299 positives, 300 were expected"):
        datasets.load("german", folder=tmp_path)
    file.write_text(lines(1000, 300).replace("8:1", "25:1"))
    with pytest.raises(DataFileError, match=r"index 25, but only 24 features"):
        datasets.load("german", folder=tmp_path)


def test_counts_that_nobody_counted_only_warn(tmp_path: Path) -> None:
    """A good file must not be refused for a number that was read somewhere and never checked against a file."""
    assert not datasets.info("w8a").parts["test"].counted
    assert datasets.info("w8a").counted  # its test part is optional
    assert not datasets.info("real-sim").counted
    (tmp_path / "real-sim").mkdir()
    (tmp_path / "real-sim" / "real-sim").write_text("+1 1:1 20959:1\n-1 2:1\n-1 3:1\n")
    with pytest.warns(UserWarning, match="publications speak of") as told:
        table = datasets.load("real-sim", folder=tmp_path)
    assert table.X.shape == (3, 20959)
    said = " ".join(str(warning.message) for warning in told)
    assert "3 rows; publications speak of 72,309" in said
    assert "20,959 features; publications speak of 20,958" in said
    assert "1 positives; publications speak of 22,238" in said


def test_a_set_comes_in_one_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {name: known.Part(name, f"{name}.svm", rows=2, features=4) for name in ("train", "test")}
    splits = {"train": ("train",), "test": ("test",), "all": ("train", "test")}
    mixed = known.Dataset("mixed", "", "binary", "", "", "mixed", parts, splits)
    monkeypatch.setattr("riffler.data.public.dataset", lambda name: mixed)
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "train.svm").write_text("1 1:1 2:2 3:3 4:4\n0 1:1 2:2 3:3 4:4\n")
    (tmp_path / "mixed" / "test.svm").write_text("1 1:1\n0 4:1\n")
    whole = datasets.load("mixed", "all", folder=tmp_path)
    assert whole.X.tolist() == [[1, 2, 3, 4], [1, 2, 3, 4], [1, 0, 0, 0], [0, 0, 0, 1]]
    assert whole.schema.dense is True


def test_a_changed_file_fails_its_checksum(tmp_path: Path, data_folder: Path) -> None:
    whole = (data_folder / "german" / "german.numer_scale.svm.xz").read_bytes()
    (tmp_path / "german").mkdir()
    copy = tmp_path / "german" / "german.numer_scale.svm.xz"
    copy.write_bytes(whole)
    assert datasets.load("german", folder=tmp_path, verify=True).n_items == 1000
    copy.write_bytes(whole + b"\0\0\0\0")  # padding the format allows
    with pytest.raises(DataFileError, match="SHA-256 is"):
        datasets.load("german", folder=tmp_path, verify=True)


def test_the_command_lists_all_and_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "german").mkdir()
    (tmp_path / "german" / "german.numer_scale.svm").write_text("1 1:1\n")
    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a").write_text("1 1:1\n")
    monkeypatch.setenv(known.FOLDER_VARIABLE, str(tmp_path))
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, ["--json", str(tmp_path / "list.json")])
    assert result.exit_code == 0
    for name in datasets.names():
        assert name in result.output
    assert "without test" in result.output
    assert "~72,309" in result.output
    assert "~48,842" not in result.output
    listing = json.loads((tmp_path / "list.json").read_text())
    assert [entry["name"] for entry in listing] == list(datasets.names())
    assert [entry["name"] for entry in listing if entry["present"]] == ["german"]
