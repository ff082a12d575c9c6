"""Labels from a person with a table: questions out, answers in, and the same again after a break."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from riffler import (
    ActivePerceptronAtK,
    AnswerError,
    AnswersPending,
    ArrayOracle,
    BudgetExhausted,
    DataFileError,
    FileOracle,
    InputError,
)
from riffler.ledger import UNKNOWN


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fill_in(path: Path, answers: dict[str, str], delimiter: str = ",") -> None:
    rows = rows_of(path)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {"answer": answers.get(row["item"], row["answer"])})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("same_process", [True, False])
def test_questions_out_answers_in(tmp_path: Path, delimiter: str, same_process: bool) -> None:
    path = tmp_path / "questions.csv"
    oracle = FileOracle(path, describe=lambda item: {"title": f"No. {item}; a, b"})
    with pytest.raises(AnswersPending, match=r"3 of 3 questions wait for an answer in .*questions\.csv"):
        oracle.ask([7, "x", 9], round=2, origin="top", in_top=True, probability=0.25)
    assert oracle.n_open == oracle.n_asked == 3
    assert len(oracle.ledger) == 0
    asked = rows_of(path)
    assert list(asked[0])[:3] == ["item", "answer", "title"]
    assert [(row["item"], row["answer"], row["probability"]) for row in asked] == [
        ("7", "", "0.25"), ("x", "", "0.25"), ("9", "", "0.25")
    ]  # fmt: skip
    fill_in(path, {"7": "yes", "x": " 0 "}, delimiter)
    if not same_process:
        oracle = FileOracle(path)
    with pytest.raises(AnswersPending, match="1 of 3"):
        oracle.ask([7, "x", 9], round=2)
    assert oracle.n_open == 1
    fill_in_open = path.read_text(encoding="utf-8").replace(f"9{delimiter}{delimiter}", f"9{delimiter}?{delimiter}")
    path.write_text(fill_in_open, encoding="utf-8")
    if not same_process:
        oracle = FileOracle(path)
    assert oracle.ask([7, "x", 9], round=2, origin="top", in_top=True, probability=0.25).tolist() == [1, 0, UNKNOWN]
    assert [(entry.item, entry.answer, entry.probability) for entry in oracle.ledger] == [
        (7, 1, 0.25), ("x", 0, 0.25), (9, UNKNOWN, 0.25)
    ]  # fmt: skip


def test_new_questions_do_not_overwrite_answers_written_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    oracle = FileOracle(path)
    with pytest.raises(AnswersPending):
        oracle.ask([1, 2])
    fill_in(path, {"1": "1", "2": "0"})
    with pytest.raises(AnswersPending, match="1 of 1"):
        oracle.ask([3])
    assert [(row["item"], row["answer"]) for row in rows_of(path)] == [("1", "1"), ("2", "0"), ("3", "")]
    assert oracle.ask([2, 1]).tolist() == [0, 1]


def test_open_questions_count_against_the_budget(tmp_path: Path) -> None:
    oracle = FileOracle(tmp_path / "questions.csv", budget=3)
    with pytest.raises(AnswersPending):
        oracle.ask([1, 2])
    assert oracle.remaining == 1
    assert oracle.n_affordable([2, 1]) == 2  # they are in the file already
    assert oracle.n_affordable([3, 4]) == 1
    with pytest.raises(BudgetExhausted, match="the 1 left of the budget of 3"):
        oracle.ask([3, 4])


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_what_an_earlier_process_asked_counts_against_the_budget(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "questions.csv"
    with pytest.raises(AnswersPending):
        FileOracle(path, cost=0.5, budget=1).ask([1, 2])
    fill_in(path, {"1": "1", "2": "0"}, delimiter)
    path.write_text(path.read_text(encoding="utf-8").replace(";0.5;", ";0,5;"), encoding="utf-8")
    again = FileOracle(path, cost=0.5, budget=1)
    assert again.remaining == 0
    assert again.ask([1, 2]).tolist() == [1, 0]
    with pytest.raises(BudgetExhausted, match="the 0 left of the budget of 1"):
        again.ask([3])
    assert again.n_asked == 2


@pytest.mark.parametrize("name", ["answer", "item", "cost"])
def test_what_describes_an_item_must_not_take_the_place_of_its_answer(tmp_path: Path, name: str) -> None:
    path = tmp_path / "questions.csv"
    with pytest.raises(InputError, match=f"describe gave item 5 a column '{name}'"):
        FileOracle(path, describe=lambda item: {name: "1"}).ask([5])
    assert not path.exists()


def test_a_stream_answered_by_hand_gives_what_an_array_gives(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(120) < 0.3).astype(int)
    X = rng.normal(size=(120, 3)) + y[:, None]
    path = tmp_path / "questions.csv"
    by_hand, quick = (ActivePerceptronAtK(5, random_state=0) for _ in range(2))
    person, array = FileOracle(path), ArrayOracle(y)
    for start in (0, 40, 80):
        batch = X[start : start + 40]
        while True:
            try:
                step = by_hand.step(batch, person)
                break
            except AnswersPending:
                fill_in(path, {row["item"]: str(y[int(row["item"])]) for row in rows_of(path)})
        assert step.asked.tolist() == quick.step(batch, array).asked.tolist()
    np.testing.assert_array_equal(by_hand.decision_function(X), quick.decision_function(X))
    assert person.n_asked == array.n_asked
    # a new process walks through the answered file without a question
    again, reopened = ActivePerceptronAtK(5, random_state=0), FileOracle(path)
    for start in (0, 40, 80):
        again.step(X[start : start + 40], reopened)
    np.testing.assert_array_equal(again.decision_function(X), quick.decision_function(X))
    assert [entry.item for entry in reopened.ledger] == [entry.item for entry in array.ledger]


def test_a_first_step_without_a_seed_asks_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    X, oracle, ranker = np.random.default_rng(0).normal(size=(50, 2)), FileOracle(path), ActivePerceptronAtK(5)
    for _ in range(3):
        with pytest.raises(AnswersPending):
            ranker.step(X, oracle)
    assert oracle.n_asked == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,answer\n1,1\n2,\n1,0\n", "line 4: item 1 stands there twice"),
        ("item,label\n1,1\n", "expected the columns item and answer, got item, label"),
        ("", "expected the columns item and answer, got none"),
        ("item,answer,cost\n1,1,dear\n", "line 2: expected a number as the cost, got 'dear'"),
    ],
    ids=["twice", "other column", "empty", "cost"],
)
def test_a_file_that_is_no_list_of_questions(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "questions.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError, match=said):
        FileOracle(path)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_bytes("item,answer,title\n1,1,Über\n".encode("latin-1"))
    with pytest.raises(DataFileError, match=r"questions.csv: cannot be read as CSV in UTF-8"):
        FileOracle(path)


def test_an_answer_that_is_none_names_its_item(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("item,answer\n1,1\n2,perhaps\n", encoding="utf-8")
    with pytest.raises(AnswerError, match="The answer about item '2' is 'perhaps'"):
        FileOracle(path)


def test_lines_cut_short_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("item,answer,title\n1,1,a\n2\n", encoding="utf-8-sig")
    oracle = FileOracle(path)
    assert oracle.n_open == 1
    assert oracle.ask([1]).tolist() == [1]
