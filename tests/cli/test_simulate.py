"""``riffler simulate``: tables, files, a kill in the middle, and clear words about what cannot be simulated."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from riffler.cli import run
from riffler.evaluation.run_file import read_run
from tests.cli.test_progress import Terminal
from tests.evaluation.searches import frame

QUICK = ["--policy", "greedy", "--runs", "2", "--batch", "5", "--jobs", "1"]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    frame().write_csv(tmp_path / "docs.csv")
    return tmp_path / "docs.csv"


def simulate(*arguments: object) -> int:
    return run(["simulate", *map(str, arguments)])


def results(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def items(path: Path) -> list[object]:
    recorded = read_run(path)
    return [] if recorded is None else [entry.item for entry in recorded.ledger]


def test_policies_side_by_side_with_every_file(docs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    files = ["--out", out / "runs", "--report", out / "report.html", "--json", out / "results.json"]
    assert simulate(docs, *QUICK, "--policy", "random", "--stop", "half", "--stop", "control", *files) == 0
    printed = capsys.readouterr().out
    for words in ("greedy", "random", "WSS@95", "120 items, 15 relevant", "Stopping rules replayed, target 95%"):
        assert words in printed
    found = results(out / "results.json")
    assert list(found["policies"]) == ["greedy", "random"]
    assert found["policies"]["greedy"]["labels_at_recall"]["1.0"]["mean"] < 90
    ledgers = sorted(Path(name) for name in found["policies"]["greedy"]["ledgers"])
    assert ledgers == sorted(out / "runs" / f"greedy-seed{seed}.jsonl" for seed in (0, 1))
    assert all(path.exists() for path in ledgers)
    assert "vegaEmbed" in (out / "report.html").read_text(encoding="utf-8")


def test_a_second_call_reads_what_the_first_wrote(docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    assert simulate(docs, *QUICK, "--out", out, "--json", tmp_path / "one.json") == 0
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert simulate(docs, *QUICK, "--out", out, "--json", tmp_path / "two.json") == 0
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
    first, second = results(tmp_path / "one.json"), results(tmp_path / "two.json")
    assert first["policies"] == second["policies"]


def test_json_alone_goes_to_standard_output(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(docs, *QUICK, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["policies"]["greedy"]["ledgers"] == []


def test_a_killed_simulation_goes_on_where_it_was(tmp_path: Path) -> None:
    """Kill the whole process while a run is half done; the next call ends as one that was never killed."""
    frame(400, 30).write_csv(tmp_path / "docs.csv")
    options = [tmp_path / "docs.csv", "--policy", "random", "--runs", "2", "--batch", "1"]
    command = [sys.executable, "-c", "from riffler.cli import main; main()", "simulate", *map(str, options)]
    out = tmp_path / "killed"
    for jobs in ("1", "2"):
        process = subprocess.Popen([*command, "--jobs", jobs, "--out", str(out)], start_new_session=True)
        before = sum(path.stat().st_size for path in out.glob("*.jsonl")) if out.exists() else 0
        end = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < end:
            if out.exists() and sum(path.stat().st_size for path in out.glob("*.jsonl")) > before + 8_000:
                break
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)  # its workers, if any, are left to notice by themselves
        process.wait()
    half_done = {path.name: items(path) for path in out.glob("*.jsonl")}
    assert any(half_done.values())
    assert simulate(*options, "--jobs", 1, "--out", out) == 0
    assert simulate(*options, "--jobs", 1, "--out", tmp_path / "whole") == 0
    for name in ("random-seed0.jsonl", "random-seed1.jsonl"):
        assert items(out / name) == items(tmp_path / "whole" / name)
        assert items(out / name)[: len(half_done.get(name, []))] == half_done.get(name, [])
    assert half_done != {path.name: items(path) for path in out.glob("*.jsonl")}  # they were killed in time


def test_other_settings_in_the_same_folder_are_an_error(
    docs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(docs, *QUICK, "--out", tmp_path / "runs") == 0
    capsys.readouterr()
    assert simulate(docs, *QUICK, "--prior-irrelevant", 2, "--out", tmp_path / "runs") == 2
    assert "recorded with prior_irrelevant 1, and now it is 2" in capsys.readouterr().err


def test_topics_one_against_the_rest(docs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics = ["--label-column", "topics", "--min-relevant", 5]
    assert simulate(docs, *topics, *QUICK, "--json", tmp_path / "all.json", "--out", tmp_path / "runs") == 0
    assert sorted(results(tmp_path / "all.json")["topics"]) == ["music", "wheat"]
    assert "Share read, topic by topic" in capsys.readouterr().out
    assert simulate(docs, "--label-column", "topics", "--labels", "wheat", *QUICK, "--json", tmp_path / "one.json") == 0
    assert sorted(results(tmp_path / "one.json")["topics"]) == ["wheat"]


def test_numbers_are_searched_the_same_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    digit = rng.integers(0, 10, size=200)
    np.savez(tmp_path / "images.npz", X=np.eye(10)[digit] * 9 + rng.normal(size=(200, 10)), y=digit)
    assert simulate(tmp_path / "images.npz", "--relevant-classes", "3,5,8", *QUICK, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    n_relevant = int(np.isin(digit, [3, 5, 8]).sum())
    assert found["n_relevant"] == n_relevant
    assert found["policies"]["greedy"]["labels_at_recall"]["0.95"]["mean"] < 1.6 * n_relevant
    table = pl.DataFrame({"a": rng.normal(size=60) + 3 * (np.arange(60) < 9), "kind": ["x"] * 9 + ["y"] * 51})
    table.write_csv(tmp_path / "table.csv")
    assert simulate(tmp_path / "table.csv", "--label", "kind", "--relevant-classes", "x", *QUICK) == 0
    assert "60 items, 9 relevant" in capsys.readouterr().out


def test_the_digits_that_are_always_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("demo", "--policy", "greedy", "--runs", 1, "--batch", 50, "--budget", 0.2, "--jobs", 1) == 0
    printed = capsys.readouterr().out
    assert "1,797 items, 174 relevant" in printed
    assert "Where the runs ended" in printed


def test_a_bar_shows_how_far_it_is(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert simulate(docs, *QUICK) == 0
    assert "2 of 2 runs" in terminal.getvalue()


def test_the_help_says_what_does_not_go_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TERMINAL_WIDTH", "400")
    assert simulate("--help") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "budget, control, elusion" in printed
    assert not re.search(r"autostop|chao|quant", printed)  # no recorded answers have what they need
    assert "Not with --budget." in printed
    assert "Not with --stop" in printed
    assert "Without it `default` runs, which is `greedy` where" in printed
    assert printed.count("Not for a collection on disk.") == 9


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (None, [], "docs.csv: the file is empty"),
        (
            {},
            ["--label", "nope"],
            "no column 'nope' for the label. Columns: id, title, abstract, label_included, topics",
        ),
        ({}, ["--label-column", "nope"], "no column 'nope' for the topics. Columns: id, title"),
        ({}, ["--label", "topics"], "in the label column 'topics'. Expected 1 or 0, yes or no"),
        ({"label_included": [0] * 120}, [], "none of the 120 items is relevant"),
        ({}, ["--policy", "nope"], "No search policy called 'nope'. Known: "),
        ({}, ["--stop", "nope"], "No stopping rule called 'nope'. Known: "),
        ({}, ["--stop", "chao"], "'chao' needs the votes of several learners"),
        ({}, ["--stop", "half", "--budget", "0.5"], "Leave out --budget or --stop"),
        ({}, ["--target", "1"], "--target must lie between 0 and 1"),
        ({}, ["--batch", "many"], "--batch must be a number of at least 1, or autotar, got 'many'"),
        ({}, ["--budget", "0"], "budget must be a share of the collection above 0"),
        ({}, ["--labels", "wheat"], "Name the column as well (--label-column)"),
        ({}, ["--where", "title"], "--where must be COLUMN=VALUE, got 'title'"),
        ({}, ["--where", "id=d999"], "no row has 'd999' in 'id'"),
        ({}, ["--clusters", "lda"], "--clusters is for thompson"),
        ({}, ["--prior-relevant", "16"], "16 relevant items were to be known from the start, and there are 15"),
        ({}, ["--report", "page.pdf"], "--report page.pdf: the file must end in .html"),
    ],
)
def test_what_cannot_be_simulated_is_said_in_one_line(
    docs: Path, change: dict[str, list[int]] | None, options: list[str], message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if change is None:
        docs.write_bytes(b"")
    else:
        frame().with_columns(**{name: pl.Series(values) for name, values in change.items()}).write_csv(docs)
    policy = [] if "--policy" in options else ["--policy", "greedy"]
    assert simulate(docs, *policy, "--runs", 1, "--jobs", 1, *options) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1


def test_one_document_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame(1, 1).write_csv(tmp_path / "one.csv")
    assert simulate(tmp_path / "one.csv", *QUICK) == 2
    assert "all of the 1 items are relevant" in capsys.readouterr().err


def test_a_table_of_sentences_without_a_known_column_is_not_taken_for_numbers(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame().rename({"title": "a", "abstract": "b"}).write_csv(docs)
    assert simulate(docs, *QUICK) == 2
    assert "no column is called title, abstract or text. Columns: id, a, b" in capsys.readouterr().err
    assert simulate(docs, "--text", "b", *QUICK) == 0


def test_a_column_of_bytes_says_nothing_of_whether_a_table_has_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pl.DataFrame({"raw": [b"x"] * 3, "speech": ["gulls fly over the cold sea"] * 3, "included": [1, 0, 0]})
    table.write_parquet(tmp_path / "a.parquet")
    assert run(["simulate", str(tmp_path / "a.parquet")]) == 2
    assert "no column is called title, abstract or text" in capsys.readouterr().err


def test_an_encoding_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "records.csv"
    frame().with_columns(pl.col("title") + pl.lit(" кит")).write_csv(path)
    path.write_bytes(path.read_text(encoding="utf-8").encode("cp1251"))
    assert simulate(path, *QUICK, "--encoding", "cp1251") == 0
    assert simulate(path, *QUICK, "--encoding", "cp9999") == 2
    assert "cp9999" in capsys.readouterr().err
