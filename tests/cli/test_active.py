"""``riffler active``: the simulation and its files; a person's answers from the first question to the ranked list."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from riffler.cli import run
from riffler.cli.active_ask import sidecar
from riffler.cli.active_schemes import schemes_of
from riffler.errors import InputError, UnknownName
from tests.cli.test_progress import Terminal

N_ITEMS = 300


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Items with labels; ids are row numbers from 0, as in a simulation."""
    rng = np.random.default_rng(0)
    y = (rng.random(N_ITEMS) < 0.2).astype(int)
    columns = {"id": range(N_ITEMS), "a": rng.normal(size=N_ITEMS) + 2 * y, "job": ["clerk", "nurse"] * (N_ITEMS // 2)}
    pl.DataFrame({**columns, "label": y}).write_csv(tmp_path / "items.csv")
    return tmp_path / "items.csv"


@pytest.fixture
def unlabelled(items: Path, tmp_path: Path) -> Path:
    path = tmp_path / "unlabelled.csv"
    pl.read_csv(items).drop("label").write_csv(path)
    return path


def active(*arguments: object) -> int:
    return run(["active", *map(str, arguments)])


def answer(questions: Path, items: Path) -> int:
    """Answer every open question with the label of the item; return how many were open."""
    labels = dict(pl.read_csv(items).select("id", "label").iter_rows())
    with questions.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    n_open = 0
    for row in rows:
        if not row["answer"]:
            row["answer"], n_open = str(labels[int(row["item"])]), n_open + 1
    write(questions, rows)
    return n_open


def write(questions: Path, rows: list[dict[str, str]]) -> None:
    with questions.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def read(questions: Path) -> list[dict[str, str]]:
    with questions.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def results(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_simulation_shows_all_samplers_and_writes_what_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new"
    files = ["--json", out / "results.json", "--chart", out / "chart.svg", "--chart", out / "chart.html"]
    assert active("demo", "-k", 10, "--method", "active-perceptron-at-k", "--runs", 2, "--budget", 60, *files) == 0
    assert sorted(file.name for file in out.iterdir()) == ["chart.html", "chart.svg", "results.json"]
    found = results(out / "results.json")
    assert [scheme["scheme"] for scheme in found["schemes"]] == ["exponential", "inverse", "sequential", "uniform"]
    assert (found["k"], found["n_batches"], found["budget"]) == (10, 7, 60)
    for scheme in found["schemes"]:
        assert [one["seed"] for one in scheme["runs"]] == [0, 1]
        for one in scheme["runs"]:
            assert one["n_asked"] == sorted(one["n_asked"])
            assert one["n_asked"][-1] <= 60
            assert len(one["precision"]) == 7
    printed = capsys.readouterr()
    assert "warning" not in printed.err
    assert "1,797 items, 174 positives" in printed.out
    first = [line for line in printed.out.splitlines() if line.startswith("exponential") and "batch" in line]
    assert len(first) == 7
    means = np.mean([one["precision"] for one in found["schemes"][0]["runs"]], axis=0)
    assert all(f"{mean:.3f}" in line for mean, line in zip(means, first, strict=True))


def test_without_a_choice_every_method_has_its_own_kernel() -> None:
    learners = [scheme.learner(10, None, 0.0, 0) for scheme in schemes_of([], ["uniform"]) + schemes_of([], [])]
    assert {type(one).__name__: one.kernel for one in learners} == {
        "ActivePerceptronAtK": "linear", "ActiveTopK": "auto"
    }  # fmt: skip


@pytest.mark.filterwarnings("always::riffler.errors.KClippedWarning")
def test_no_more_rows_are_said_to_be_predicted_than_there_are(items: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["-k", 200, "--batches", 3, "--runs", 1, "--sampler", "uniform"]
    assert active(items, *arguments) == 0
    printed, complaints = capsys.readouterr()
    assert complaints.count("k=200 asks for more than the 90 rows") == 1  # and not once a batch
    n_positive = int(pl.read_csv(items)["label"].sum())
    assert "among the 90 rows predicted" in printed
    assert f"at best about {n_positive / N_ITEMS:.3f}" in printed


def test_without_a_choice_the_recommended_method_comes_first() -> None:
    names = [scheme.name for scheme in schemes_of([], [])]
    assert names[-4:] == ["exponential", "inverse", "sequential", "uniform"]
    assert names[:-4] in ([], ["active-top-k"])
    both = schemes_of(["selective-sampling", "active-perceptron-at-k"], ["uniform", "uniform"])
    assert [scheme.name for scheme in both] == ["selective-sampling", "uniform"]
    with pytest.raises(InputError, match="has no sampler"):
        schemes_of(["selective-sampling"], ["uniform"])
    with pytest.raises(UnknownName, match="No sampler called 'best'"):
        schemes_of([], ["best"])


def test_the_same_seed_gives_the_same_numbers_and_a_floor_a_claim(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = [items, "-k", 10, "--sampler", "uniform", "--sampler", "sequential", "--runs", 1, "--floor", 0.1]
    for name in ("1.json", "2.json"):
        assert active(*common, "--json", tmp_path / name, "--seed", 3) == 0
    one, two = (results(tmp_path / name)["schemes"] for name in ("1.json", "2.json"))
    assert one[0]["runs"][0]["precision"] == two[0]["runs"][0]["precision"]
    assert one[0]["claim"]["confidence"] == 0.95
    assert "sequential sampler allows no claim" in one[1]["claim"]
    assert "Precision of the" in capsys.readouterr().out


def test_a_person_is_asked_until_the_end_and_it_is_what_the_simulation_does(
    items: Path, unlabelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, ranked = tmp_path / "questions.csv", tmp_path / "ranked.csv"
    settings = ["-k", 10, "--batches", 4, "--sampler", "exponential", "--seed", 5]
    assert active(unlabelled, "--ask", questions, *settings) == 0
    printed = capsys.readouterr().out
    assert "batch 1 of 4: 10 of 10 questions wait for an answer" in printed
    asked = read(questions)
    assert len(asked) == 10
    assert asked[0]["data: job"] in ("clerk", "nurse")
    before = questions.read_bytes()
    assert active(unlabelled, "--ask", questions) == 0
    assert questions.read_bytes() == before  # nothing was answered, nothing changes

    (tmp_path / ".questions-left.csv").write_text("half a line", encoding="utf-8")  # what a killed run may leave
    for _ in range(20):
        if answer(questions, items) == 0:
            break
        assert active(unlabelled, "--ask", questions, "--ranked", ranked, "--json", tmp_path / "state.json") == 0
        assert ranked.exists() == results(tmp_path / "state.json")["finished"]
    state = results(tmp_path / "state.json")
    assert state["finished"]
    assert "the pool has ended" in capsys.readouterr().out

    simulated = ["--runs", 1, "--held-out", 0, "--json", tmp_path / "simulated.json"]
    assert active(items, *settings, *simulated) == 0
    simulation = results(tmp_path / "simulated.json")["schemes"][0]["runs"][0]
    assert np.cumsum([batch["n_asked"] for batch in state["batches"]]).tolist() == simulation["n_asked"]
    assert [batch["precision"] for batch in state["batches"]] == simulation["precision"]
    assert len(read(questions)) == simulation["n_asked"][-1]

    frame = pl.read_csv(ranked, schema_overrides={"answer": pl.String})
    assert frame["rank"].to_list() == list(range(1, N_ITEMS + 1))
    assert frame["score"].is_sorted(descending=True)
    given = {row["item"]: row["answer"] for row in read(questions)}
    assert {str(row["id"]): row["answer"] for row in frame.iter_rows(named=True) if row["answer"]} == given


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["-k", 11], "was begun with k 10, and now 11 came"),
        (["--seed", 1], "was begun with seed 0"),
        (["--sampler", "uniform"], "was begun with sampler exponential"),
        (["--batches", 5], "was begun with batches 4"),
        (["--budget", 10], "a budget can be raised, not lowered"),
        (["--ranked", "ranked.txt"], "must end in .csv"),
        (["--runs", 3], "--runs belongs to simulations"),
        (["--sampler", "uniform", "--sampler", "inverse"], "--sampler came 2 times"),
    ],
)
def test_another_session_is_not_taken_for_this_one(
    changed: list[object], message: str, unlabelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.csv"
    begin = [unlabelled, "--ask", questions, "-k", 10, "--batches", 4, "--sampler", "exponential", "--budget", 20]
    assert active(*begin) == 0
    files = {path: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert active(unlabelled, "--ask", questions, *changed) == 2
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_other_data_a_lost_or_damaged_session_and_equal_ids_are_refused(
    unlabelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.csv"
    command = [unlabelled, "--ask", questions, "-k", 10, "--sampler", "uniform"]
    assert active(*command) == 0
    frame = pl.read_csv(unlabelled)
    frame.with_columns(pl.col("a") + 1).write_csv(unlabelled)
    assert active(*command) == 2
    assert "begun with other data" in capsys.readouterr().err
    frame.write_csv(unlabelled)
    kept = sidecar(questions).read_text(encoding="utf-8")
    sidecar(questions).write_text(kept[:50], encoding="utf-8")
    assert active(*command) == 2
    assert "expected the settings of a session" in capsys.readouterr().err
    sidecar(questions).unlink()
    assert active(*command) == 2
    assert "questions.csv.run.json, which says how it came about, is not" in capsys.readouterr().err
    frame.with_columns(id=pl.lit("same")).write_csv(tmp_path / "same.csv")
    assert active(tmp_path / "same.csv", "--ask", tmp_path / "other.csv") == 2
    assert "two items are called 'same'" in capsys.readouterr().err
    assert not (tmp_path / "other.csv").exists()


def test_a_wrong_answer_names_the_item_and_can_be_corrected(
    items: Path, unlabelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.csv"
    assert active(unlabelled, "--ask", questions, "-k", 10, "--sampler", "exponential") == 0
    rows = read(questions)
    wrong = rows[3]["item"]
    rows[3]["answer"] = "perhaps"
    write(questions, rows)
    capsys.readouterr()
    assert active(unlabelled, "--ask", questions) == 2
    printed = capsys.readouterr().err
    assert f"item '{wrong}' is 'perhaps'" in printed
    assert printed.count("\n") == 1
    rows[3]["answer"] = "?"
    write(questions, rows)
    assert answer(questions, items) == 9
    assert active(unlabelled, "--ask", questions) == 0
    assert len(read(questions)) > 10


def test_the_budget_holds_and_can_be_raised(
    items: Path, unlabelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, state = tmp_path / "questions.csv", tmp_path / "state.json"
    command = [unlabelled, "--ask", questions, "--json", state]
    assert active(*command, "-k", 10, "--batches", 4, "--sampler", "exponential", "--budget", 7) == 0
    assert answer(questions, items) == 7
    assert active(*command) == 0
    assert results(state)["finished"]
    printed = capsys.readouterr().out
    assert "the budget of 7 was spent in batch 1: run again with a larger --budget" in printed
    n_relevant = sum(row["answer"] == "1" for row in read(questions))
    assert f"{n_relevant} of 7" in printed  # and no precision at 10 from seven labels
    assert active(*command, "--budget", 12) == 0
    assert len(read(questions)) > 7
    assert not results(state)["finished"]
    assert results(state)["session"]["budget"] == 12


def test_a_budget_of_nothing_asks_nothing(
    items: Path, unlabelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, ranked = tmp_path / "questions.csv", tmp_path / "ranked.csv"
    assert active(unlabelled, "--ask", questions, "-k", 10, "--budget", 0, "--ranked", ranked) == 0
    assert "the order means nothing" in capsys.readouterr().out
    assert not questions.exists()
    assert pl.read_csv(ranked).height == N_ITEMS
    assert active(items, "-k", 10, "--runs", 1, "--budget", 0, "--json", tmp_path / "none.json") == 0
    for scheme in results(tmp_path / "none.json")["schemes"]:
        assert scheme["runs"][0]["n_asked"][-1] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "0"], "Invalid value for '-k'"),
        (["--sampler", "best"], "No sampler called 'best'"),
        (["--method", "best"], "No active ranker called 'best'"),
        (["--method", "selective-sampling", "--kernel", "rbf"], "has no kernel 'rbf'"),
        (["--kernel", "auto"], "No kernel called 'auto'"),  # which the first method has, and the others have not
        (["--ask", "questions.csv", "--kernel", "wide"], "called 'wide'"),
        (["--ranked", "ranked.csv"], "--ranked belongs to --ask"),
        (["--chart", "chart.gif"], ".html, .json, .png, .svg"),
        (["--json", "."], "is a folder"),
        (["--batches", "1000"], "from 1 to the 270 rows"),
        (["--ask", "questions.txt"], "must end in .csv"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_no_file(
    arguments: list[str],
    message: str,
    items: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(items.parent)
    assert active(items.name, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("riffler: error: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert list(items.parent.iterdir()) == [items]


def test_a_simulation_needs_labels(unlabelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert active(unlabelled) == 2
    assert "no labels to learn from" in capsys.readouterr().err


def test_a_terminal_sees_one_table_that_fills(items: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    assert active(items, "-k", 10, "--batches", 3, "--sampler", "uniform", "--sampler", "inverse", "--runs", 2) == 0
    shown = terminal.getvalue()
    assert "(means of 2 runs)" in shown
    assert "batch   1" not in shown
