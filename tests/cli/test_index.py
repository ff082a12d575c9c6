"""``riffler index`` and ``riffler reindex``: what they print, and errors in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.cli import run
from riffler.disk import open_collection
from tests.disk.documents import change_manifest, documents, write_parts


def test_a_collection_is_made_added_to_and_weighed_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(path) for path in write_parts(documents(120), tmp_path, 2)]
    out = str(tmp_path / "c")
    assert run(["index", paths[0], "--out", out, "--bits", "10", "--clusters", "4", "--partition", "25"]) == 0
    printed = capsys.readouterr().out
    assert "60 documents in 3 partitions, 1,024 columns, 4 clusters" in printed
    assert "title: title, abstract: abstract, id: id, label: included" in printed
    assert "labels:" in printed
    assert run(["index", paths[1], "--out", out]) == 0
    assert "120 documents in 4 partitions" in capsys.readouterr().out
    assert run(["reindex", out]) == 0
    assert "120 documents in 4 partitions, 1,024 columns, 4 clusters" in capsys.readouterr().out
    collection = open_collection(out)
    assert collection.manifest.n_for_idf == 120
    collection.verify()


def test_options_name_the_columns_and_the_words(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("key2;what;verdict\n1;the gull;good\n2;the owl;bad\n", encoding="utf-16")
    command = ["index", str(tmp_path / "a.csv"), "--out", str(tmp_path / "c"), "--text", "what", "--id", "key2"]
    command += ["--label", "verdict", "--relevant-classes", "good,fine", "--pairs", "--stop-words", "none"]
    assert run(command) == 0
    collection = open_collection(tmp_path / "c")
    assert collection.labels is not None
    assert collection.labels.tolist() == [1, 0]
    assert collection.blocks[0].rows[0].nnz == 3  # the, gull, the gull


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["index", "no.csv", "--out", "c"], "no.csv: no such file"),
        (["index", "a.csv", "--out", "c", "--bits", "99"], "n_bits must be from 8 to 24"),
        (["index", "a.csv", "--out", "c", "--stop-words", "owl"], "stop_words must be english or none"),
        (["index", "a.csv", "--out", "c", "--relevant-classes", ","], "--relevant-classes names no value"),
        (["index", "a.csv", "--out", "c", "--title", "owl"], "no column 'owl' for the title"),
        (["reindex", "a.csv"], "a collection is a folder"),
        (["reindex", "."], "not a collection"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    documents(5).write_csv("a.csv")
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert told in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize("text", ['{"kind": "riffl', None])
@pytest.mark.parametrize(
    "command",
    [["simulate", "c"], ["review", "c", "--once"], ["rank", "c"], ["reindex", "c"], ["index", "a.csv", "--out", "c"]],
)
def test_a_manifest_that_is_damaged_or_missing_is_what_every_command_tells(
    text: str | None,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    documents(5).write_csv("a.csv")
    assert run(["index", "a.csv", "--out", "c", "--bits", "8"]) == 0
    capsys.readouterr()
    manifest = Path("c/manifest.json")
    if text is None:
        manifest.unlink()
    else:
        manifest.write_text(text)
    assert run(command) == 2
    told = "manifest.json is missing, and files of" if text is None else "manifest.json is damaged"
    assert f"riffler: error: c: {told}" in capsys.readouterr().err.replace(str(tmp_path) + "/", "")


def test_columns_that_look_like_labels_and_were_not_taken_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"On gulls {n},{'birds|sea' if n % 2 else 'sea'},199{n}\n" for n in range(8))
    (tmp_path / "a.csv").write_text("title,topics,year\n" + rows)
    assert run(["index", str(tmp_path / "a.csv"), "--out", str(tmp_path / "a.collection")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "topics: 2 different values in the first 8 documents, not taken as labels" in said
    assert "year:" not in said
    named = ["--label", "topics", "--relevant-classes", "birds"]
    assert run(["index", str(tmp_path / "a.csv"), "--out", str(tmp_path / "b.collection"), *named]) == 0
    assert "not taken" not in capsys.readouterr().out


def test_what_a_failed_index_leaves_is_no_folder_of_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("title,topics\nOn gulls,birds\n")
    folder = tmp_path / "a.collection"
    assert run(["index", str(tmp_path / "a.csv"), "--out", str(folder), "--label", "topics"]) == 2
    capsys.readouterr()
    assert run(["simulate", str(folder)]) == 2
    assert "was never finished: give its `riffler index` command again" in capsys.readouterr().err


def test_a_collection_is_named_where_files_are_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("title\ngull\n")
    folder = str(tmp_path / "c")
    assert run(["index", str(tmp_path / "a.csv"), "--out", folder]) == 0
    for command, told in (
        ("active", "is a collection on disk, which `riffler rank`"),
        ("export", "is a folder, and a review is"),
    ):
        assert run([command, folder]) == 2
        assert told in capsys.readouterr().err


def test_a_folder_that_is_no_collection_is_not_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", str(tmp_path)]) == 2
    assert "is a folder and no collection on disk (it has no manifest.json). Name a file, or" in capsys.readouterr().err


def test_documents_of_which_only_the_beginning_counts_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, n_long in (("a", 2), ("b", 1)):
        rows = "".join(f"{name}{n},{'gull ' * (400_001 if n < n_long else 3)}\n" for n in range(4))
        Path(f"{name}.csv").write_text("id,title\n" + rows)
    told = "longer than 2 MB: of such a one the first 2 MB count"
    assert run(["index", "b.csv", "--out", "c", "--bits", "8", "--partition", "1"]) == 0
    assert f"  1 document is {told}" in capsys.readouterr().out
    assert run(["index", "a.csv", "--out", "c"]) == 0
    assert f"  3 documents are {told}" in capsys.readouterr().out
    documents(5).write_csv("d.csv")
    assert run(["index", "d.csv", "--out", "d", "--bits", "8"]) == 0
    assert "longer than" not in capsys.readouterr().out
    change_manifest(Path("d"), lambda value: value["partitions"][0].pop("n_cut"))  # as in the first collections
    assert open_collection("d").manifest.partitions[0].n_cut == 0


def test_a_public_data_set_is_indexed_by_its_name(data_folder: Path, tmp_path: Path) -> None:
    from riffler.data.public import info, present

    name = next((name for name in present(data_folder) if info(name).task == "text"), None)
    if name is None:
        pytest.skip("needs a public text collection")
    sizes = [(info(one).parts["all"].rows, one) for one in present(data_folder) if info(one).task == "text"]
    n_rows, name = min(sizes)
    assert run(["index", name, "--out", str(tmp_path / "c"), "--id", "content"]) == 0
    assert open_collection(tmp_path / "c").n_items == n_rows
