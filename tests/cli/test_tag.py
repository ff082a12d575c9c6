"""``riffler tag`` from the command line to the files it writes."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import joblib  # type: ignore[import-untyped]
import numpy as np
import pytest

from riffler.cli import run
from riffler.data.conll import read_conll
from riffler.metrics.chunks import chunk_scores

WORDS = {"B-NP": ["the", "a"], "I-NP": ["gull", "owl", "cat"], "O": ["sees", "flies", "cat"]}


def write_text(path: Path, n_sentences: int = 40, seed: int = 0, *, tags: bool = True) -> Path:
    rng = np.random.default_rng(seed)
    blocks = []
    for _ in range(n_sentences):
        sentence = ["B-NP", "I-NP", "O"] * int(rng.integers(1, 4))
        lines = [f"{rng.choice(WORDS[tag])} {tag}" if tags else str(rng.choice(WORDS[tag])) for tag in sentence]
        blocks.append("\n".join(lines) + "\n")
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return write_text(tmp_path / "train.conll")


def tag(*arguments: object) -> int:
    return run(["tag", "--resamples", "20", *map(str, arguments)])


def test_every_file_is_written_and_they_agree(train: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test = write_text(tmp_path / "test.conll", n_sentences=20, seed=1)
    out = tmp_path / "new" / "folder"
    wanted = {"--out": "m.joblib", "--predictions": "said.conll", "--chart": "c.json", "--json": "r.json"}
    files = [text for option, name in wanted.items() for text in (option, out / name)]
    assert tag(train, "--test", test, "--template", write_template(tmp_path), *files) == 0
    assert sorted(file.name for file in out.iterdir()) == sorted(wanted.values())

    said = read_conll(out / "said.conll")
    truth = read_conll(test)
    assert said.tags is not None
    assert truth.tags is not None
    assert [[token[:1] for token in sentence] for sentence in said.sentences] == truth.sentences
    assert joblib.load(out / "m.joblib").predict(truth.sentences) == said.tags

    results = json.loads((out / "r.json").read_text(encoding="utf-8"))
    scores = chunk_scores(truth.tags, said.tags)
    assert results["chunk_f1"] == pytest.approx(scores.overall.f1)
    assert results["chunk_f1_interval"][0] <= results["chunk_f1"] <= results["chunk_f1_interval"][1]
    assert results["by_type"]["NP"]["n_true"] == scores.overall.n_true == results["n_true"]
    assert results["token_accuracy"] == scores.token_accuracy
    assert 0 <= results["gap"] <= 0.01
    assert results["n_features"] == 7 + 8  # words; words before, and the beginning
    assert "Gap while learning: train.conll" in (out / "c.json").read_text(encoding="utf-8")
    printed = capsys.readouterr()
    assert "warning" not in printed.err
    assert printed.out.count("columns word, tag") == 2
    assert f"{results['chunk_f1']:.4f}" in printed.out
    assert "the test file" in printed.out


def write_template(folder: Path) -> Path:
    path = folder / "template.txt"
    path.write_text("# words\nword[-1..0]\n", encoding="utf-8")
    return path


def test_without_a_test_file_a_tenth_is_held_out(train: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        assert tag(train, "--predictions", tmp_path / f"{number}.conll", "--c", "10", "--seed", "3") == 0
    assert len(read_conll(tmp_path / "1.conll").sentences) == 4
    assert (tmp_path / "1.conll").read_bytes() == (tmp_path / "2.conll").read_bytes()


def test_a_test_file_without_tags_is_tagged_and_not_measured(
    train: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = write_text(tmp_path / "test.conll", n_sentences=5, tags=False)
    assert tag(train, "--test", test, "--predictions", tmp_path / "said.conll", "--json", tmp_path / "r.json") == 0
    assert set(chain(*(read_conll(tmp_path / "said.conll").tags or []))) == {"B-NP", "I-NP", "O"}
    assert "chunk_f1" not in json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert "tagged, not measured" in capsys.readouterr().out


def test_auto_says_what_was_tried(train: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tag(train, "--c", "auto", "--json", tmp_path / "r.json") == 0
    results = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    best = max(trial["score"] for trial in results["tried"])
    assert results["C"] in [trial["C"] for trial in results["tried"] if trial["score"] == best]
    assert "C = 3000: " in capsys.readouterr().out


def test_other_tags_have_an_accuracy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "speech.conll"
    path.write_text("the DT\ngull NN\n\n" * 20, encoding="utf-8")
    assert tag(path, "--json", tmp_path / "r.json") == 0
    printed = capsys.readouterr().out
    assert "token accuracy 1.0000" in printed
    assert "chunks are not counted: 'DT' in TRAIN is no tag of chunks" in printed
    assert "chunk_f1" not in json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "accuracy"), [("the X\ngull O\n", 0.0), ("sees O\n", 1.0)])
def test_chunks_are_measured_whatever_the_test_file_says(
    text: str, accuracy: float, train: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test.conll").write_text(text, encoding="utf-8")
    assert tag(train, "--test", tmp_path / "test.conll", "--json", tmp_path / "r.json") == 0
    results = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (results["chunk_f1"], results["n_true"], results["token_accuracy"]) == (0, 0, accuracy)
    printed = capsys.readouterr().out
    assert "there is no chunk in the test part" in printed
    assert ": 1 sentence, " in printed


@pytest.mark.filterwarnings("always")
def test_a_file_of_o_alone_is_told_and_has_an_f1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "outside.conll"
    path.write_text("the O\ngull O\n\n" * 20, encoding="utf-8")
    assert tag(path, "--json", tmp_path / "r.json") == 0
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["chunk_f1"] == 0
    assert "riffler: warning: All tags are 'O': there is nothing to learn" in capsys.readouterr().err


def test_bilou_tags_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "bilou.conll"
    path.write_text("Ada B-PER\nLovelace L-PER\nmet O\nBabbage U-PER\n\n" * 20, encoding="utf-8")
    assert tag(path, "--json", tmp_path / "r.json") == 0
    results = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (results["chunk_f1"], results["n_true"]) == (1.0, 4)


@pytest.mark.filterwarnings("always")
def test_a_test_file_that_lacks_a_column_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.conll").write_text("the DT B-NP\ngull NN I-NP\nflies VB O\n\n" * 10, encoding="utf-8")
    (tmp_path / "test.conll").write_text("the B-NP\ngull I-NP\n", encoding="utf-8")
    assert tag(tmp_path / "train.conll", "--test", tmp_path / "test.conll") == 0
    printed = capsys.readouterr()
    assert "columns word, pos, tag, " in printed.out
    assert "columns word, pos (the test file)" in printed.out
    assert "all values of its last column, read as pos, are tags of TRAIN" in printed.err


@pytest.mark.parametrize(("given", "used"), [("3", 3.0), ("auto", 1.0)])
def test_what_a_miss_costs(given: str, used: float, train: Path, tmp_path: Path) -> None:
    assert tag(train, "--miss-cost", given, "--json", tmp_path / "r.json", "--out", tmp_path / "m.joblib") == 0
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["miss_cost"] == used
    assert joblib.load(tmp_path / "m.joblib").miss_cost_ == used


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--c", "much"], "--c much: expected a number above 0, or auto"),
        (["--miss-cost", "much"], "--miss-cost much: expected a number above 0, or auto"),
        (["--miss-cost", "0"], "--miss-cost 0: expected a number above 0, or auto"),
        (["--columns", "my-word,pos"], "--columns my-word,pos: 'my-word' is no name. Names are of letters, digits"),
        (["--columns", "word,"], "--columns word,: '' is no name"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (["--c", "-1"], "--c -1: expected a number above 0"),
        (["--tol", "0"], "tol must be above 0"),
        (["--resamples", "19"], "Invalid value for '--resamples'"),
        (["--test", "absent.conll"], "absent.conll: no such file"),
        (["--template", "absent.txt"], "absent.txt: no such file"),
        (["--columns", "word,pos,chunk"], "line 1: 2 columns; word, pos, chunk are 3"),
        (["--columns", "word,tag"], "no tags. The last column of TRAIN must be the tag"),
        (["--chart", "chart.gif"], ".html, .json, .png, .svg"),
        (["--out", "model.txt"], "must end in .joblib or .pkl"),
        (["--json", "."], "is a folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], message: str, train: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tag(train, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("riffler: error: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err


def test_a_malformed_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.conll"
    path.write_text("the B-NP\ngull\n", encoding="utf-8")
    assert tag(path) == 2
    assert f"{path}, line 2: expected 2 columns" in capsys.readouterr().err


def test_a_data_set_without_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert tag("a9a") == 2
    assert "holds no sentences with tags" in capsys.readouterr().err
