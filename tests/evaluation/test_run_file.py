"""Runs on disk: whole batches or nothing, other settings are refused, nobody else writes at the same time."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from riffler.errors import DataFileError, InputError
from riffler.evaluation import run_file
from riffler.evaluation.run_file import Step, open_run, read_run
from riffler.ledger import Event, Ledger

SETTINGS = {"policy": "greedy", "seed": 3, "batch": 1}


def answered(ledger: Ledger, round: int, *items: str) -> Ledger:
    ledger.record(
        list(items), round=round, origin="policy", in_top=False, probability=1.0, answers=[1] * len(items), cost=1.0
    )
    return ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of three batches, the second with an event."""
    path, ledger = tmp_path / "new" / "run.jsonl", Ledger()
    with open_run(path, SETTINGS) as file:
        assert file.recorded is None
        file.write(answered(ledger, 0, "a", "b"), Step(0.5, 0.25))
        ledger.note(Event(1, "clusters"))
        file.write(answered(ledger, 1, "c"), Step(0.5, 0.25))
        file.write(answered(ledger, 2, "d", "é\n"), Step(1.0, 0.5))
    return path


def items(path: Path) -> list[object]:
    recorded = read_run(path)
    return [] if recorded is None else [entry.item for entry in recorded.ledger]


def test_a_run_is_read_as_it_was_written(path: Path) -> None:
    recorded = read_run(path)
    assert recorded is not None
    assert recorded.settings == SETTINGS
    assert items(path) == ["a", "b", "c", "d", "é\n"]
    assert recorded.ledger.events == (Event(1, "clusters"),)
    assert [step.seconds for step in recorded.steps] == [0.5, 0.5, 1.0]
    assert recorded.n_bytes == path.stat().st_size


def test_at_every_byte_a_cut_leaves_whole_batches_and_the_run_goes_on(path: Path) -> None:
    content = path.read_bytes()
    wanted = [[], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d", "é\n"]]
    seen = []
    for end in range(len(content) + 1):
        path.write_bytes(content[:end])
        found = items(path)
        assert found in wanted
        if found not in seen:
            seen.append(found)
            with open_run(path, SETTINGS) as file:
                ledger = Ledger() if file.recorded is None else file.recorded.ledger
                file.write(answered(ledger, 9, "last"), Step(0.0, 0.0))
            assert items(path) == [*found, "last"]
    assert seen == wanted


def test_other_settings_are_refused_and_named(path: Path) -> None:
    with (
        pytest.raises(
            InputError, match=r"run\.jsonl was recorded with batch 1, and now it is 10\. Name another folder"
        ),
        open_run(path, {**SETTINGS, "batch": 10}),
    ):
        pass
    with pytest.raises(InputError, match="recorded with topic None, and now it is 'grain'"):
        run_file.check_settings(path, SETTINGS, {**SETTINGS, "topic": "grain"})
    assert items(path) == ["a", "b", "c", "d", "é\n"]


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"kind": "entry"}', '{"kind": "other"}'])
def test_another_file_is_refused(path: Path, line: str) -> None:
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(DataFileError, match=r"run\.jsonl, line 1: expected a line of a simulated run"):
        read_run(path)


def hold(path: Path, ready: str, go: str) -> None:
    with open_run(path, SETTINGS):
        Path(ready).touch()
        while not Path(go).exists():
            pass


def test_two_processes_never_write_the_same_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "PATIENCE", 0.3)
    ready, go = tmp_path / "ready", tmp_path / "go"
    other = multiprocessing.get_context("spawn").Process(target=hold, args=(path, str(ready), str(go)))
    other.start()
    try:
        while not ready.exists():
            assert other.is_alive() or ready.exists()
        with pytest.raises(InputError, match="being written by another simulation"), open_run(path, SETTINGS):
            pass
    finally:
        go.touch()
        other.join()
    with open_run(path, SETTINGS) as file:
        assert file.recorded is not None
