"""Collections from every format say the same; columns are found by name; ids stay; faults are named."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.data import Collection, Texts, collection_from_frame, load_collection, read_collection
from riffler.errors import DataFileError, InputError, LabelError

FRAME = pl.DataFrame(
    {
        "Title": ["On gulls", "Über Eulen", "日本語の論文"],
        "Abstract": ['They "fly", and\ncry.', None, "要旨"],
        "Year": ["2001", "2002", None],
        "included": ["1", "0", None],
    }
)


def check(items: Collection) -> None:
    assert items.titles == ("On gulls", "Über Eulen", "日本語の論文")
    assert items.abstracts == ('They "fly", and\ncry.', "", "要旨")
    assert items.texts[1] == "Über Eulen"
    assert items.labels is not None
    assert items.labels.dtype == np.int8
    assert items.labels.tolist() == [1, 0, -1]
    assert "Year" in items.columns.columns
    assert [None if year is None else int(year) for year in items.columns["Year"]] == [2001, 2002, None]
    assert items.n_items == 3


def test_csv(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    check(read_collection(tmp_path / "a.csv"))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    check(read_collection(tmp_path / "b.csv.gz"))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_whatever_the_ending(tmp_path: Path, name: str, separator: str) -> None:
    FRAME.write_csv(tmp_path / name, separator=separator)
    check(read_collection(tmp_path / name))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_encodings_are_found(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.csv").write_bytes(FRAME.write_csv().encode(encoding))
    check(read_collection(tmp_path / "a.csv"))


def test_xlsx_keeps_numbers(tmp_path: Path) -> None:
    typed = FRAME.with_columns(pl.col("Year", "included").cast(pl.Int64))
    typed.write_excel(tmp_path / "a.xlsx")
    items = read_collection(tmp_path / "a.xlsx")
    check(items)
    assert items.columns["Year"].dtype.is_numeric()
    typed.with_columns(id=pl.Series([3, 5, 7])).write_excel(tmp_path / "b.xlsx")
    assert read_collection(tmp_path / "b.xlsx").ids == ("3", "5", "7")


def test_parquet_and_json_lines(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    check(read_collection(tmp_path / "a.parquet"))
    FRAME.write_ndjson(tmp_path / "a.jsonl")
    check(read_collection(tmp_path / "a.jsonl"))
    rows = [{key: value for key, value in row.items() if value is not None} for row in FRAME.iter_rows(named=True)]
    (tmp_path / "b.jsonl").write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    check(read_collection(tmp_path / "b.jsonl"))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_name_with_brackets_is_no_pattern(ending: str, tmp_path: Path) -> None:
    for name, title in (("a[1]", "gull"), ("a1", "owl")):
        frame = pl.DataFrame({"title": [title]})
        packed = io.BytesIO()
        write: Any = {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending]
        write(packed)
        (tmp_path / f"{name}.{ending}").write_bytes(packed.getvalue())
    assert list(read_collection(tmp_path / f"a[1].{ending}").titles) == ["gull"]


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    (tmp_path / "sub" / ".hidden").mkdir(parents=True)
    (tmp_path / "b.txt").write_text("\nOn gulls\nThey fly.\n", encoding="utf-8")
    (tmp_path / "sub" / "a.TXT").write_bytes("Über Eulen".encode("cp1252"))
    (tmp_path / "sub" / ".hidden" / "c.txt").write_text("hidden")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    items = read_collection(tmp_path)
    assert items.ids == ("b.txt", "sub/a.TXT")
    assert items.texts == ("On gulls\nThey fly.", "Über Eulen")
    assert items.labels is None


TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs")) | st.sampled_from('\n"",;\t|'), max_size=40)


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_any_texts_survive_csv_and_json_lines(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    rows = [("first", "row"), *rows]
    frame = pl.DataFrame(rows, schema={"title": pl.String, "abstract": pl.String}, orient="row")
    folder = tmp_path_factory.mktemp("round")
    frame.write_csv(folder / "a.csv", quote_style="always")
    frame.write_ndjson(folder / "a.jsonl")
    for name in ("a.csv", "a.jsonl"):
        items = read_collection(folder / name)
        assert items.titles == [title for title, _ in rows]
        assert items.abstracts == [abstract for _, abstract in rows]


WESTERN = st.sampled_from(["gulls", "schön", "Straße", "café", "naïve", "Ærø", "“owls”", "l’été", "–", "€ 5", "señor"])


@given(texts=st.lists(st.lists(WESTERN, max_size=10).map(" ".join), min_size=1, max_size=5))
def test_western_texts_survive_windows_1252(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    frame = pl.DataFrame({"title": ["die Bücher sind schön und für alle", *texts]})
    path = tmp_path_factory.mktemp("western") / "a.csv"
    path.write_bytes(frame.write_csv(quote_style="always").encode("cp1252"))
    assert read_collection(path).titles == frame["title"].to_list()


@pytest.mark.parametrize(
    ("title", "abstract"),
    [
        ("title", "abstract"),
        ("Title", "Abstract Note"),  # Zotero
        ("Article Title", "Abstract"),  # Web of Science
        ("TI", "AB"),
        ("primary_title", "notes_abstract"),  # ASReview
        ("Document Title", "Abstract"),
        ("TITLE", "Text"),
    ],
)
def test_columns_are_found_by_the_names_of_other_programs(title: str, abstract: str) -> None:
    items = collection_from_frame(pl.DataFrame({"Authors": ["x"], abstract: ["They fly."], title: ["On gulls"]}))
    assert items.texts == ("On gulls\nThey fly.",)


def test_chosen_columns_win() -> None:
    frame = pl.DataFrame({"title": ["a"], "kop": ["b"], "abstract": ["c"], "tekst": ["d"], "id": ["1"], "Nr": [2.0]})
    items = collection_from_frame(frame, title="KOP", text="tekst", id="nr")
    assert items.texts == ("b\nd",)
    assert items.ids == ("2",)


@pytest.mark.parametrize("name", ["label_included", "Included", "label", "final_included", "INCLUDE", "relevant"])
@pytest.mark.parametrize(
    "values",
    [["1", "0", ""], ["yes", "no", "?"], ["Include", "EXCLUDE", None], ["1.0", "0.0", "NA"], ["true", "false", " "]],
)
def test_labels_are_found_and_understood(name: str, values: list[str | None]) -> None:
    items = collection_from_frame(pl.DataFrame({"title": ["a", "b", "c"], name: values}))
    assert items.labels is not None
    assert items.labels.tolist() == [1, 0, -1]


@pytest.mark.parametrize("values", [[1, 0, None], [1.0, 0.0, None], [True, False, None], [1, 0, -1]])
def test_labels_may_be_numbers(values: list[object]) -> None:
    items = collection_from_frame(pl.DataFrame({"title": ["a", "b", "c"], "included": values}))
    assert items.labels is not None
    assert items.labels.tolist() == [1, 0, -1]


def test_other_labels_are_refused_with_row_and_value() -> None:
    frame = pl.DataFrame({"title": ["a", "b", "c"], "label": ["1", "perhaps", ""]})
    with pytest.raises(LabelError, match=r"row 2 has 'perhaps' in the label column 'label'.*positive="):
        collection_from_frame(frame)
    items = collection_from_frame(frame, positive="perhaps")
    assert items.labels is not None
    assert items.labels.tolist() == [0, 1, -1]
    with pytest.raises(LabelError, match="no value of column 'label' equals 'never'"):
        collection_from_frame(frame, positive="never")


def test_one_of_several_topics_makes_a_document_relevant() -> None:
    frame = pl.DataFrame({"title": ["a", "b", "c", "d"], "label": ["earn|acq", "acq", "earnings", None]})
    np.testing.assert_array_equal(collection_from_frame(frame, positive="earn").labels, [1, 0, 0, -1])
    np.testing.assert_array_equal(collection_from_frame(frame, positive="earn|acq").labels, [1, 0, 0, -1])


def test_a_class_that_is_not_there_shows_the_most_frequent_ones() -> None:
    labels = ["rare|common", "common", *(f"{n:02} {'long ' * 40}" for n in range(18))]
    frame = pl.DataFrame({"title": [f"t{n}" for n in range(20)], "label": labels})
    with pytest.raises(LabelError, match=r"equals 'none', .*Values: common, 00 long .* and 10 more\.$") as caught:
        collection_from_frame(frame, positive="none")
    assert len(str(caught.value)) < 700


def test_minus_one_without_zero_is_asked_about() -> None:
    frame = pl.DataFrame({"title": ["a", "b"], "label": [1, -1]})
    with pytest.raises(LabelError, match="-1 means not known"):
        collection_from_frame(frame)
    items = collection_from_frame(frame, positive=1)
    assert items.labels is not None
    assert items.labels.tolist() == [1, 0]


@given(order=st.permutations(range(6)))
def test_made_ids_do_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    frame = pl.DataFrame({"title": ["a", "b", "", "a", "ab", "c"], "abstract": ["", "", "x", "b", "", "c"]})
    before = collection_from_frame(frame)
    after = collection_from_frame(frame[order])
    assert len(set(before.ids)) == 6
    assert after.ids == tuple(before.ids[row] for row in order)


def test_made_ids_depend_on_nothing_but_the_text() -> None:
    frame = pl.DataFrame({"title": ["a", "a", "b"]})
    ids = collection_from_frame(frame).ids
    assert ids[1] == f"{ids[0]}-2"
    assert collection_from_frame(frame.with_columns(included=pl.lit("1"), note=pl.lit("new"))).ids == ids


def test_repeated_or_missing_ids_are_refused() -> None:
    with pytest.raises(DataFileError, match="rows 1 and 3 have the same id '7' in column 'id'"):
        collection_from_frame(pl.DataFrame({"title": ["a", "b", "c"], "id": ["7", "8", " 7"]}))
    with pytest.raises(DataFileError, match="row 2 has no id"):
        collection_from_frame(pl.DataFrame({"title": ["a", "b"], "id": ["7", None]}))
    assert len(collection_from_frame(pl.DataFrame({"title": ["a", "b"], "id": ["7", "7"]}), id="content").ids[0]) == 16


def test_a_missing_column_lists_those_there_are() -> None:
    frame = pl.DataFrame({"kop": ["a"], "tekst": ["b"]})
    with pytest.raises(DataFileError, match="Columns: kop, tekst"):
        collection_from_frame(frame)
    with pytest.raises(DataFileError, match=r"no column 'x' for the abstract\. Columns: kop, tekst"):
        collection_from_frame(frame, abstract="x")
    with pytest.raises(DataFileError, match="no column 'y' for the label"):
        collection_from_frame(frame, title="kop", label="y")
    with pytest.raises(InputError, match="not both"):
        collection_from_frame(frame, abstract="kop", text="tekst")


def test_one_document_is_a_collection() -> None:
    assert collection_from_frame(pl.DataFrame({"title": ["a"]})).n_items == 1


def test_rows_labels_and_topics() -> None:
    items = collection_from_frame(pl.DataFrame({"title": ["a", "b", "c"], "labels": ["x|y", "y", ""]}))
    assert items.labels is None
    two = items.with_topic("y").take([2, 0])
    assert two.titles == ("c", "a")
    assert two.labels is not None
    assert two.labels.tolist() == [0, 1]
    assert two.columns["title"].to_list() == ["c", "a"]
    with pytest.raises(LabelError, match="no item has 'z'"):
        items.with_topic("z")
    with pytest.raises(LabelError, match=r"row 2.*expected 1, 0 or -1"):
        items.with_labels([0, 2, 0])
    with pytest.raises(LabelError, match="3 labels were expected"):
        items.with_labels([0])


@given(rows=st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=12), at=st.integers(0, 11))
def test_texts_are_the_joined_parts(rows: list[tuple[str, str]], at: int) -> None:
    titles = pl.Series([title for title, _ in rows], dtype=pl.String)
    texts = Texts(titles, pl.Series([abstract for _, abstract in rows], dtype=pl.String))
    expected = ["\n".join(part for part in row if part) for row in rows]
    assert list(texts) == expected
    assert texts.series.to_list() == expected
    assert texts == expected
    assert texts[at:] == tuple(expected[at:])
    if at < len(rows):
        assert texts[at] == texts[np.int64(at)] == texts[at - len(rows)] == expected[at]
        assert texts.take(np.array([at])) == [expected[at]]


@pytest.mark.parametrize("name", ["screening-nagtegaal2019", "screening-kitchenham2010", "screening-bannach-brown2019"])
def test_public_collections(data_folder: Path, name: str) -> None:
    items = load_collection(name, folder=data_folder)
    assert items.labels is not None
    assert items.labels.min() == 0
    assert items.labels.sum() == items.columns["label_included"].cast(pl.Int64).sum()
    assert not any(text == "" for text in items.titles[:50])


def test_public_sets_of_several_reviews_and_topics(data_folder: Path) -> None:
    with pytest.raises(DataFileError, match="have the same id"):
        load_collection("cohen2006", folder=data_folder)
    items = load_collection("cohen2006", where={"review": "Triptans"}, folder=data_folder)
    assert items.labels is not None
    assert (items.n_items, items.labels.sum()) == (671, 24)
    with pytest.raises(DataFileError, match=r"no row has 'Tea' in 'review'. Values: ACEInhibitors"):
        load_collection("cohen2006", where={"review": "Tea"}, folder=data_folder)
    news = load_collection("reuters21578", folder=data_folder).with_topic("wheat")
    assert news.labels is not None
    assert (news.n_items, news.labels.sum()) == (21_578, 306)
