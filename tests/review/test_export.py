"""Exports: everything that came in goes out again, with what the review found beside it, and harms no spreadsheet."""

from __future__ import annotations

import datetime
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riffler import InputError, StorageError, UnknownName, collection_from_frame, find_duplicates, read_collection
from riffler.data.collection import Collection
from riffler.data.collection_reading import read_frame
from riffler.data.formulas import guarded, unguarded
from riffler.data.ris import Record, read_records, write_records
from riffler.review.database import writing
from riffler.review.export import FORMATS, write_export, write_history
from riffler.review.export_xlsx import MOST_CHARACTERS
from riffler.review.pictures import Picture, keep_pictures
from riffler.review.remarks import Answer, Remark
from riffler.review.store import FileReview, Review
from tests.data.ris_records import to_records
from tests.review.reviews import SETTINGS, create_review, library, new_review, say

pytestmark = pytest.mark.usefixtures("each_database")

TABLES = ("csv", "xlsx", "parquet", "jsonl")
RIS = """TY  - JOUR
AU  - Ng, Ada
AU  - Öz, Bülent
TI  - On gulls
AB  - They fly.
And they

cry.
KW  - gulls
ZZ  - nobody knows this tag
N1  - first note
DO  - 10.1000/gulls
N1  - second note
ER  - 

TY  - BOOK
T1  - On owls
N2  - They hoot.
ER  - 

"""  # noqa: W291 - as programs write it


def told(folder: Path) -> FileReview:
    """A review of two imports with other columns, one document of them a twin, about which things were said."""
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "title": ["On gulls", "On owls", "ON GULLS"],
            "abstract": ["They fly.", "They hoot.", "They fly"],
            "year": [1999, None, 2001],
            "words": [["sea", "air"], None, []],
        }
    )
    first = collection_from_frame(frame, source="first.parquet")
    second = collection_from_frame(
        pl.DataFrame({"id": ["d"], "title": ["On stones"], "words": ["hard"], "extra": [True]}), source="second.csv"
    )
    review = create_review(folder / "birds.riffler", first, SETTINGS, duplicates=find_duplicates(first))
    review.add_documents(second)
    review.answer([Answer("b", "1", seconds=2.5, note="too short", verdict="irrelevant")], reviewer="Ada")
    review.answer([say("a", "maybe"), say("a", "relevant")])
    review.note(Remark("a", "n", note="about the sea"))
    for tag in ("sea", "bird", "wrong"):
        review.tag(Remark("a", f"t{tag}", note=tag))
    review.untag(Remark("a", "u", note="wrong"))
    with writing(review._engine) as session:
        keep_pictures(session, review.id, [Picture("scores", 1, np.array([0.25, 0.75], dtype="<f4").tobytes())])
    return review


def exported(review: Review, folder: Path, format: str, which: str = "all") -> pl.DataFrame:
    path = folder / f"out{FORMATS[format].ending}"
    write_export(review, path, format, which)
    return read_frame(path)


@pytest.mark.parametrize("format", TABLES)
def test_tables_have_all_columns_and_what_was_found(tmp_path: Path, format: str) -> None:
    with told(tmp_path) as review:
        frame = exported(review, tmp_path, format)
    assert frame.columns[:6] == ["id", "title", "abstract", "year", "words", "extra"]
    assert frame["id"].to_list() == frame["riffler_id"].to_list() == ["a", "b", "c", "d"]
    assert frame["title"].to_list() == ["On gulls", "On owls", "ON GULLS", "On stones"]
    assert [None if year is None else int(year) for year in frame["year"]] == [1999, None, 2001, None]
    assert frame["riffler_source"].to_list() == ["first.parquet"] * 3 + ["second.csv"]
    assert frame["riffler_verdict"].to_list() == ["relevant", "irrelevant", "relevant", None]
    assert [None if label is None else int(label) for label in frame["riffler_label"]] == [1, 0, 1, None]
    assert [None if rank is None else int(rank) for rank in frame["riffler_rank"]] == [2, 1, 2, None]
    assert [None if score is None else float(score) for score in frame["riffler_score"]] == [0.25, 0.75, 0.25, None]
    assert frame["riffler_note"].to_list() == ["about the sea", "too short", "about the sea", None]
    assert frame["riffler_reviewer"].to_list() == ["reviewer", "Ada", "reviewer", None]
    assert [None if said is None else float(said) for said in frame["riffler_seconds"]] == [None, 2.5, None, None]
    assert frame["riffler_duplicate_of"].to_list() == [None, None, "a", None]
    assert frame["riffler_origin"].to_list() == ["search", "search", "search", None]
    if format in ("parquet", "jsonl"):
        assert frame["words"].to_list() == [["sea", "air"], None, [], ["hard"]]
        assert frame["riffler_tags"].to_list() == [["bird", "sea"], None, ["bird", "sea"], None]
    else:
        assert frame["words"].to_list() == ["sea; air", None, "", "hard"]
        assert frame["riffler_tags"].to_list() == ["bird; sea", None, "bird; sea", None]


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_comes_back_as_the_same_documents_with_their_labels(tmp_path: Path, format: str) -> None:
    with told(tmp_path) as review:
        path = tmp_path / f"out{FORMATS[format].ending}"
        write_export(review, path, format)
        was = review.collection()
    again = read_collection(path)
    assert again.ids == ("a", "b", "c", "d")
    assert again.labels is not None
    assert again.labels.tolist() == [1, 0, 1, -1]
    heads = [0, 1, 3]
    assert again.take(heads).titles == was.titles
    assert again.take(heads).abstracts == was.abstracts


def test_one_verdict_alone(tmp_path: Path) -> None:
    wanted = {"relevant": ("a", "c"), "irrelevant": ("b",), "unread": ("d",), "maybe": (), "skip": ()}
    with told(tmp_path) as review:
        for format, one in FORMATS.items():
            for which, ids in wanted.items():
                path = tmp_path / f"{which}{one.ending}"
                write_export(review, path, format, which)
                assert path.exists()
                if ids:
                    assert read_collection(path).ids == ids


def test_what_was_undone_is_not_exported(tmp_path: Path) -> None:
    with new_review(tmp_path, n=5) as review:
        first, second = (review.answer([say("d0", verdict)])[0].id for verdict in ("relevant", "irrelevant"))
        review.undo(second, "u1")
        assert exported(review, tmp_path, "csv")["riffler_verdict"].to_list() == ["relevant"] + [None] * 4
        review.undo(first, "u2")
        assert exported(review, tmp_path, "csv")["riffler_verdict"].to_list() == [None] * 5


@pytest.mark.parametrize("format", TABLES)
def test_columns_of_an_old_export_are_kept_under_another_name(tmp_path: Path, format: str) -> None:
    with told(tmp_path) as review:
        path = tmp_path / f"old{FORMATS[format].ending}"
        write_export(review, path, format)
    with create_review(tmp_path / "again.riffler", read_collection(path), SETTINGS) as review:
        assert review.counts()["relevant"] == 2
        review.answer([say("b", "relevant")])
        frame = exported(review, tmp_path, format)
        write_export(review, path, format)
    assert frame["riffler_verdict"].to_list() == ["relevant", "relevant", "relevant", None]
    assert frame["riffler_verdict_earlier"].to_list() == ["relevant", "irrelevant", "relevant", None]
    assert frame["riffler_reviewer_earlier"].to_list() == ["reviewer", "Ada", "reviewer", None]
    third = read_collection(path)
    assert third.labels is not None
    assert third.labels.tolist() == [1, 1, 1, -1]
    with create_review(tmp_path / "third.riffler", third, SETTINGS) as review:
        assert "riffler_verdict_earlier_2" in exported(review, tmp_path, format).columns


FORMULAS = [
    "=1+1",
    "+1",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "'=1",
    "''@x",
    "＝cmd",
    "-",
    "plain",
    "-3.5",
    "+4e5",
    "a=b",
    "'quoted'",
]


@given(texts=st.lists(st.text(st.sampled_from("'=+-@\t1.a,\n"), max_size=6), min_size=1))
def test_guards_come_off_exactly(texts: list[str]) -> None:
    frame = pl.DataFrame({"x": texts, "riffler_id": texts, "riffler_verdict": texts, "riffler_label": texts})
    assert unguarded(guarded(frame)).equals(frame)
    assert not guarded(frame)["x"].str.contains(r"^[=@\t]|^[+-][^0-9]").any()


def test_no_cell_of_a_csv_is_a_formula_and_nothing_is_lost(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [f"={row}" for row in range(len(FORMULAS))], "title": FORMULAS, "=bad()": FORMULAS})
    with create_review(tmp_path / "r.riffler", collection_from_frame(frame), SETTINGS) as review:
        again = exported(review, tmp_path, "csv")
    assert again.select(frame.columns).equals(frame)
    raw = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    cells = pl.concat([raw[name] for name in ("id", "title", "'=bad()")])
    assert cells.str.contains("^[=@\t＝]").sum() == 0
    assert set(cells.filter(cells.str.contains("^[+-]"))) == {"+1", "-3.5", "+4e5"}
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_spreadsheets_have_no_formulas_and_no_links(tmp_path: Path) -> None:
    titles = [*FORMULAS, "http://example.org", "{=1}", "internal:x"]
    frame = pl.DataFrame({"title": titles, "wide": [2**60] * len(titles), "old": ["1700-01-01"] * len(titles)})
    frame = frame.with_columns(pl.col("old").str.to_date())
    with create_review(tmp_path / "r.riffler", collection_from_frame(frame), SETTINGS) as review:
        again = exported(review, tmp_path, "xlsx")
    assert again["title"].to_list() == titles
    assert again["wide"].to_list() == [str(2**60)] * len(titles)
    assert again["old"].to_list() == ["1700-01-01"] * len(titles)
    with zipfile.ZipFile(tmp_path / "out.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml")
        assert b"<f" not in sheet.replace(b"<format", b"")
        assert b"hyperlink" not in sheet


def test_texts_too_long_for_a_cell_are_cut_and_listed(tmp_path: Path) -> None:
    long = "\U0001f433" * MOST_CHARACTERS
    frame = pl.DataFrame({"id": ["a", "b"], "title": ["x", "y"], "abstract": [long, "z" * MOST_CHARACTERS]})
    with create_review(tmp_path / "r.riffler", collection_from_frame(frame), SETTINGS) as review:
        again = exported(review, tmp_path, "xlsx")
        assert exported(review, tmp_path, "jsonl")["abstract"][0] == long
    assert len(again["abstract"][0].encode("utf-16-le")) // 2 <= MOST_CHARACTERS
    assert again["abstract"][0].startswith("\U0001f433" * 1000)
    assert "cut" in again["abstract"][0][-80:]
    assert again["abstract"][1] == "z" * MOST_CHARACTERS
    listed = pl.read_excel(tmp_path / "out.xlsx", sheet_name="Cut texts")
    assert listed.rows() == [("a", "abstract", MOST_CHARACTERS)]


@pytest.mark.of_files
def test_more_rows_than_a_sheet_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.review.export_xlsx.MOST_ROWS", 5)
    with new_review(tmp_path, n=10) as review, pytest.raises(InputError, match="Export CSV"):
        write_export(review, tmp_path / "out.xlsx", "xlsx")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["whales.riffler"]


def plain(records: list[Record]) -> list[Record]:
    return [[(tag, value) for tag, value in one if not value.startswith("Riffler_")] for one in records]


def through_a_review(folder: Path, collection: Collection) -> str:
    path = folder / "r.riffler"
    path.unlink(missing_ok=True)
    with create_review(path, collection, SETTINGS) as review:
        review.answer([say(collection.ids[0], "relevant")])
        write_export(review, folder / "out.ris", "ris")
    return (folder / "out.ris").read_text(encoding="utf-8")


def test_ris_comes_out_as_it_went_in(tmp_path: Path) -> None:
    (tmp_path / "in.ris").write_text(RIS, encoding="utf-8")
    out = through_a_review(tmp_path, read_collection(tmp_path / "in.ris"))
    assert write_records(plain(to_records(read_records(out, "out")))) == RIS
    again = read_collection(tmp_path / "out.ris")
    assert again.labels is not None
    assert again.labels.tolist() == [1, -1]
    assert again.ids == read_collection(tmp_path / "in.ris").ids


VALUES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=30).map(str.strip)
TEXTS = st.lists(VALUES, min_size=1, max_size=3).map("\n".join).map(str.strip)
SAFE = TEXTS.filter(lambda text: not text.startswith("Riffler_"))
TAGS = st.sampled_from(["AU", "AB", "KW", "U1", "C2", "ID", "N1", "Z9"])
BODIES = st.lists(st.lists(st.tuples(TAGS, SAFE), max_size=8), min_size=1, max_size=4)


@given(bodies=BODIES)
@settings(max_examples=25)
def test_any_records_come_back_from_a_review(tmp_path_factory: pytest.TempPathFactory, bodies: list[Record]) -> None:
    folder = tmp_path_factory.mktemp("ris")
    made: list[Record] = [[("TY", "JOUR"), *body, ("TI", f"title {at}")] for at, body in enumerate(bodies)]
    (folder / "in.ris").write_text(write_records(made), encoding="utf-8")
    records = to_records(read_frame(folder / "in.ris"))
    out = through_a_review(folder, read_collection(folder / "in.ris"))
    assert plain(to_records(read_records(out, "out"))) == records


def test_two_ris_files_of_other_tags_stand_in_one_review(tmp_path: Path) -> None:
    (tmp_path / "one.ris").write_text("TY  - JOUR\nTI  - one\nKW  - a\nER  - \n")
    (tmp_path / "two.ris").write_text("TY  - JOUR\nTI  - two\nKW  - b\nKW  - c\nER  - \n")
    with create_review(tmp_path / "r.riffler", read_collection(tmp_path / "one.ris"), SETTINGS) as review:
        review.add_documents(read_collection(tmp_path / "two.ris"))
        assert review.collection().columns["KW"].to_list() == [["a"], ["b", "c"]]
        write_export(review, tmp_path / "out.ris", "ris")
    text = (tmp_path / "out.ris").read_text()
    assert [dict(one)["TI"] for one in to_records(read_records(text, "out"))] == ["one", "two"]


def test_a_table_becomes_ris_with_every_column(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "Title": ["On gulls"],
            "Abstract": ["They fly.\nTY - not a tag\nER  - "],
            "Authors": ["Ng, Ada; Öz, Bülent"],
            "Year": [1999],
            "Source title": ["Journal of Birds"],
            "DOI": ["10.1000/gulls"],
            "Link": ["http://example.org"],
            "Author Keywords": ["sea; air"],
            "Cited by": [12],
        }
    )
    out = through_a_review(tmp_path, collection_from_frame(frame))
    (record,) = to_records(read_records(out, "out"))
    assert record[:9] == [
        ("TY", "JOUR"),
        ("TI", "On gulls"),
        ("AU", "Ng, Ada"),
        ("AU", "Öz, Bülent"),
        ("PY", "1999"),
        ("T2", "Journal of Birds"),
        ("DO", "10.1000/gulls"),
        ("UR", "http://example.org"),
        ("KW", "sea"),
    ]
    assert ("N1", "Cited by: 12") in record
    assert dict(record)["AB"].replace("\n ", "\n").startswith("They fly.\nTY - not a tag\nER")
    assert record[-1] == ("N1", "Riffler_relevant")


def test_pubmed_records_become_ris(tmp_path: Path) -> None:
    text = "PMID- 101\nTI  - A title that goes\n      on\nAB  - Something.\nFAU - Ng, Ada\nFAU - Oz, B\nJT  - Birds\n"
    (tmp_path / "in.nbib").write_text(text)
    out = through_a_review(tmp_path, read_collection(tmp_path / "in.nbib"))
    (record,) = to_records(read_records(out, "out"))
    assert record[:5] == [
        ("TY", "JOUR"),
        ("TI", "A title that goes on"),
        ("AU", "Ng, Ada"),
        ("AU", "Oz, B"),
        ("T2", "Birds"),
    ]
    assert ("N1", "PMID: 101") in record


def test_asreview_marks_are_read_and_later_ones_of_ours_count(tmp_path: Path) -> None:
    (tmp_path / "in.ris").write_text(
        "TY  - JOUR\nTI  - a\nN1  - ASReview_relevant\nER  - \n"
        "TY  - JOUR\nTI  - b\nN1  - ASReview_irrelevant\nN1  - Riffler_note: is ASReview_relevant right?\n"
        "N1  - Riffler_maybe\nER  - \nTY  - JOUR\nTI  - c\nER  - \n"
    )
    labels = read_collection(tmp_path / "in.ris").labels
    assert labels is not None
    assert labels.tolist() == [1, -1, -1]


@pytest.mark.parametrize("name", ["screening-nagtegaal2019", "screening-proton-beam"])
def test_real_reviews_go_out_as_ris_and_come_back(tmp_path: Path, data_folder: Path, name: str) -> None:
    was = read_collection(data_folder / name / "documents.csv.xz").take(range(500))
    through_a_review(tmp_path, was.with_labels([-1] * 500))
    again = read_collection(tmp_path / "out.ris")
    assert again.ids == was.ids
    assert [" ".join(title.split()) for title in again.titles] == [" ".join(title.split()) for title in was.titles]
    squeezed = [[" ".join(text.split()) for text in items.abstracts] for items in (was, again)]
    assert squeezed[0] == squeezed[1]
    (tmp_path / "r.riffler").unlink(missing_ok=True)  # there is none on a server
    once = to_records(read_frame(tmp_path / "out.ris"))
    out = through_a_review(tmp_path, again.with_labels([-1] * 500))
    assert plain(to_records(read_records(out, "out"))) == plain(once)


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_the_history_has_every_word_in_order(tmp_path: Path, ending: str) -> None:
    with told(tmp_path) as review:
        write_history(review, tmp_path / f"history{ending}")
        lines = review.history()
    frame = read_frame(tmp_path / f"history{ending}")
    assert frame["kind"].to_list() == [line.kind for line in reversed(lines)]
    assert frame["document"].to_list() == ["b", "a", "a", "a", "a", "a", "a", "a"]
    assert [str(value).lower() for value in frame["holds"]][:3] == ["true", "false", "true"]


@pytest.mark.of_files
def test_unknown_names_and_bad_places_leave_nothing(tmp_path: Path) -> None:
    with new_review(tmp_path, n=5) as review:
        with pytest.raises(UnknownName, match="csv"):
            write_export(review, tmp_path / "x", "docx")
        with pytest.raises(UnknownName, match="unread"):
            write_export(review, tmp_path / "x", "csv", "best")
        with pytest.raises(InputError, match="history is written as"):
            write_history(review, tmp_path / "x.xml")
        with pytest.raises(StorageError, match="cannot be written"):
            write_export(review, tmp_path / "no" / "x.csv", "csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["whales.riffler"]


ODD = {
    "": pl.Series(["an index without a name", "b"]),
    "bytes": pl.Series([b"text", b"more"]),
    "noise": pl.Series([b"\xff\x00", None]),
    "time": pl.Series([datetime.time(9, 30), None]),
    "duration": pl.Series([datetime.timedelta(days=1), None]),
    "decimal": pl.Series([Decimal("1.50"), None]),
    "inf": pl.Series([float("inf"), 1.5]),
    "far": pl.Series([datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC), None]),
    "kind": pl.Series(["x", None], dtype=pl.Categorical),
    "wide": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
    "nested": pl.Series([[{"a": b"x"}], None]),
    "array": pl.Series([[1, 2], None], dtype=pl.Array(pl.Int64, 2)),
    "control": pl.Series(["\x01\x1f", None]),
}


def test_columns_of_odd_types_go_in_and_out(tmp_path: Path) -> None:
    frame = pl.DataFrame({"title": ["a", "b"], **ODD})
    with create_review(tmp_path / "r.riffler", collection_from_frame(frame), SETTINGS) as review:
        assert review.collection().columns.columns == ["title", *ODD]
        assert None not in review.whole_documents(review.collection().ids[:1])[0].view.columns.values()
        for format in FORMATS:
            write_export(review, tmp_path / f"out{FORMATS[format].ending}", format)
            assert read_collection(tmp_path / f"out{FORMATS[format].ending}").titles == ("a", "b")


def test_large_reviews_go_out_a_block_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.review.documents.BLOCK", 7)
    with create_review(tmp_path / "r.riffler", library(60), SETTINGS) as review:
        review.add_documents(library(20, prefix="e"))
        for format in FORMATS:
            write_export(review, tmp_path / f"out{FORMATS[format].ending}", format)
            again = read_collection(tmp_path / f"out{FORMATS[format].ending}")
            assert again.ids == tuple([f"d{row}" for row in range(60)] + [f"e{row}" for row in range(20)])
