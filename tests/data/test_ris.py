"""RIS and PubMed records: every tag comes back in its order, and unusual files are read as they are meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.data import read_collection
from riffler.data.ris import Record, read_records, write_records
from riffler.errors import DataFileError
from tests.data.ris_records import to_records

ENDNOTE = """TY  - JOUR
AU  - Ng, Ada
AU  - Öz, Bülent
TI  - On gulls
AB  - They fly.
And they

cry.
KW  - gulls
KW  - birds
DO  - 10.1000/gulls
N1  - first note
N1  - second note
ER  - 


TY  - BOOK
T1  - On owls
N2  - They hoot.
ER  -
"""  # noqa: W291 - as programs write it

PUBMED = """
PMID- 101
OWN - NLM
TI  - A title that goes
      over two lines
LID - 10.1000/one [doi]
AB  - BACKGROUND: Something.
      And more.
FAU - Ng, Ada
AU  - Ng A

PMID- 102
TI  - Another
AID - S0000 [pii]
AID - 10.1000/two [doi]
"""


def write(folder: Path, text: str, name: str = "export.ris") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_tags_repeats_order_and_lines_are_kept() -> None:
    records = to_records(read_records(ENDNOTE, "toy"))
    assert [tag for tag, _ in records[0]] == ["TY", "AU", "AU", "TI", "AB", "KW", "KW", "DO", "N1", "N1"]
    assert dict(records[0])["AB"] == "They fly.\nAnd they\n\ncry."
    assert [value for tag, value in records[0] if tag == "AU"] == ["Ng, Ada", "Öz, Bülent"]
    assert records[1] == [("TY", "BOOK"), ("T1", "On owls"), ("N2", "They hoot.")]


def test_titles_and_abstracts_are_found_under_either_tag(tmp_path: Path) -> None:
    items = read_collection(write(tmp_path, ENDNOTE))
    assert items.titles == ("On gulls", "On owls")
    assert items.abstracts == ("They fly.\nAnd they\n\ncry.", "They hoot.")
    assert items.labels is None
    assert len(set(items.ids)) == 2


VALUES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=30).map(str.strip)
TAGS = st.sampled_from(["AU", "TI", "AB", "KW", "U1", "C2", "ID", "N1"])
RECORDS = st.lists(st.lists(st.tuples(TAGS, VALUES), max_size=8), min_size=1, max_size=5)


@given(bodies=RECORDS)
def test_what_is_written_is_read_back(bodies: list[Record]) -> None:
    records = [[("TY", "JOUR"), *body] for body in bodies]
    assert to_records(read_records(write_records(records), "toy")) == records


@given(bodies=RECORDS)
def test_pubmed_records_are_read_back_too(bodies: list[Record]) -> None:
    records = [[("PMID", str(number)), *body] for number, body in enumerate(bodies)]
    assert to_records(read_records(write_records(records), "toy")) == records


@pytest.mark.parametrize("text", [ENDNOTE, PUBMED])
def test_a_second_round_changes_nothing(text: str) -> None:
    once = write_records(to_records(read_records(text, "toy")))
    assert write_records(to_records(read_records(once, "toy"))) == once


def test_a_line_that_looks_like_a_tag_stays_in_its_value() -> None:
    records: list[Record] = [[("TY", "JOUR"), ("AB", "one\nTI  - two"), ("KW", "x")]]
    back = to_records(read_records(write_records(records), "toy"))
    assert [tag for tag, _ in back[0]] == ["TY", "AB", "KW"]
    assert "TI  - two" in dict(back[0])["AB"]


@pytest.mark.parametrize(
    "text",
    [
        "TY  - JOUR\nTI  - a\nER  - \nTY  - JOUR\nTI  - b\nER  - \n",
        "TY  - JOUR\r\nTI  - a\r\nER  - \r\n\r\nTY  - JOUR\r\nTI  - b\r\nER  - \r\n",
        "TY  - JOUR\rTI  - a\rER  -\rTY  - JOUR\rTI  - b\rER  -",
        "TY  - JOUR\nTI  - a\nTY  - JOUR\nTI  - b",  # no closing tags
        "TY - JOUR\nTI - a\nER -\n\nTY - JOUR\nTI - b\nER -\n",  # one blank
        "TY - JOUR\nTI  - a\nER  - \n\nTY  - JOUR\nTI  - b\nER  - \n",  # a file of two origins
        "Provider: Somebody\nContent: text\n\nTY  - JOUR\nTI  - a\nER  - \n1.\nTY  - JOUR\nTI  - b\nER  - ",
        "\ufeffTY  - JOUR\nTI  - a\nER  - \nTY  - JOUR\nTI  - b\nER  - \n",
        "ID  - 7\nTY  - JOUR\nTI  - a\nER  - \nID  - 8\nTY  - JOUR\nTI  - b\nER  - ",
    ],
)
def test_unusual_endings_are_read_as_meant(tmp_path: Path, text: str) -> None:
    path = tmp_path / "export.ris"
    path.write_bytes(text.encode("utf-8"))
    assert read_collection(path).titles == ("a", "b")


def test_pubmed_exports_join_their_lines(tmp_path: Path) -> None:
    items = read_collection(write(tmp_path, PUBMED, "pubmed.nbib"))
    assert items.ids == ("101", "102")
    assert items.titles == ("A title that goes over two lines", "Another")
    assert items.abstracts[0] == "BACKGROUND: Something.\nAnd more."
    assert read_collection(write(tmp_path, PUBMED, "pubmed.txt")).ids == items.ids


def test_labels_among_the_notes_are_read(tmp_path: Path) -> None:
    marks = ["ASReview_relevant", "ASReview_irrelevant", "ASReview_not_seen", "other"]
    text = "".join(f"TY  - JOUR\nTI  - {mark}\nN1  - x\nN1  - {mark}\nER  - \n\n" for mark in marks)
    labels = read_collection(write(tmp_path, text)).labels
    assert labels is not None
    assert labels.tolist() == [1, 0, -1, -1]


def test_repeated_ids_of_joined_libraries_are_no_fault_unless_chosen(tmp_path: Path) -> None:
    text = "TY  - JOUR\nID  - 1\nTI  - a\nER  - \nTY  - JOUR\nID  - 1\nTI  - b\nER  - \n"
    assert read_collection(write(tmp_path, text)).n_items == 2
    with pytest.raises(DataFileError, match="rows 1 and 2 have the same id '1'"):
        read_collection(write(tmp_path, text), id="ID")


def test_a_file_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"no RIS record.*begins 'hello'"):
        read_collection(write(tmp_path, "hello\nworld\n"))
    with pytest.raises(DataFileError, match="holds no text"):
        read_collection(write(tmp_path, "\n\n"))
