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
    return run(["tag", *map(str, arguments), "--resamples", "20"])


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
    printed = capsys.readouterr()
    assert printed.err == ""
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
    assert tag(path) == 0
    assert "token accuracy 1.0000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--c", "much"], "--c much: expected a number such as 500, or auto"),
        (["--c", "-1"], "--c -1: expected a number above 0"),
        (["--tol", "0"], "tol must be above 0"),
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
