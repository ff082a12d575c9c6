"""``riffler reproduce``: lists, refuses early, and writes a page whose pictures and numbers are there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from riffler.cli import run


def test_alone_it_lists_what_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce"]) == 0
    assert "at-k" in capsys.readouterr().out


def test_an_unknown_result_lists_the_known_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "at-j", "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == (
        "riffler: error: No published result called 'at-j'. "
        "Known: active-at-k, active-pairs, active-search, at-k, structured.\n"
    )
    assert not (tmp_path / "out").exists()


def test_parts_can_be_chosen_of_some_results_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "at-k", "--quick", "--runs", "2", "--out", str(tmp_path / "out")]) == 2
    assert "runs also for active-pairs; not for at-k" in capsys.readouterr().err
    assert run(["reproduce", "active-search", "--quick", "--policies", "nonsense", "--out", str(tmp_path / "out")]) == 2
    assert "No way of searching called 'nonsense'. Known: greedy" in capsys.readouterr().err


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("mine")
    assert run(["reproduce", "at-k", "--out", str(tmp_path / "out")]) == 2
    assert "is a file. Name a folder." in capsys.readouterr().err


def test_quick_writes_page_charts_and_numbers_without_data_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RIFFLER_DATA", raising=False)
    numbers = tmp_path / "numbers.json"
    assert run(["reproduce", "at-k", "--quick", "--out", str(tmp_path / "out"), "--json", str(numbers)]) == 0
    printed = capsys.readouterr().out
    assert "not here, skipped: letter" in printed
    page = (tmp_path / "out" / "at-k.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\.svg\)", page)
    assert len(shown) == 6
    for picture in shown:
        for ending in ("svg", "png", "html"):
            assert (tmp_path / "out" / f"{picture}.{ending}").stat().st_size > 1000
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert found == json.loads((tmp_path / "out" / "at-k.json").read_text(encoding="utf-8"))
    claims = {claim["name"]: claim["verdict"] for claim in found["claims"]}
    assert claims["updates"] == claims["mistakes"] == "agrees"
    assert claims["without_square"] == "disagrees"
    assert "(paper:" not in page  # every property is as published
    assert str(tmp_path) not in page + numbers.read_text(encoding="utf-8")
