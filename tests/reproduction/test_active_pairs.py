"""A small run on digits: page, charts and numbers are whole, it goes on from its folder, letters follow the cells."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from riffler.errors import InputError
from riffler.metrics import roc_auc
from riffler.reproduction import (
    Choice,
    active_pairs_data,
    active_pairs_methods,
    active_pairs_runs,
    reproduce,
)
from riffler.reproduction.active_pairs import ActivePairsAgain
from riffler.reproduction.active_pairs_claims import agreement, careful, corrected, duels, totals
from riffler.reproduction.active_pairs_data import RankingProblem, small_problem
from riffler.reproduction.active_pairs_methods import Cell, Method, methods, placements
from riffler.reproduction.active_pairs_runs import FILE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def done(folder: Path) -> ActivePairsAgain:
    found = reproduce("active-pairs", "quick", folder=folder)
    assert isinstance(found, ActivePairsAgain)
    return found


def test_the_page_shows_every_chart_and_verdict(done: ActivePairsAgain) -> None:
    page, charts = done.page(), done.charts()
    assert set(re.findall(r"!\[[^]]+\]\(active-pairs-([^)]+)\.svg\)", page)) == set(charts)
    for chart in charts.values():
        chart.to_dict()
    assert all(f"**{verdict.verdict}** | {verdict.evidence}" in page for verdict in done.verdicts)
    assert len(done.summary()) == 4
    assert "softness=0.3, batch=0.2" in page


def test_the_numbers_are_plain_json_and_are_kept(done: ActivePairsAgain, folder: Path) -> None:
    found = json.loads(json.dumps(done.as_json(), allow_nan=False))
    assert {cell["method"] for cell in found["cells"]} == set(methods())
    assert all(0.8 < run["auc"] <= 1 for cell in found["cells"] for run in cell["runs"])
    kept = (folder / FILE).read_bytes()
    again = reproduce("active-pairs", "quick", folder=folder)
    assert (folder / FILE).read_bytes() == kept
    assert isinstance(again, ActivePairsAgain)
    assert (again.cells, again.curves, again.points) == (done.cells, done.curves, done.points)


def test_a_changed_experiment_takes_no_runs_of_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problems: dict[str, RankingProblem] = {"digits": small_problem()}
    made: list[Cell] = []

    def run(*_: object) -> Cell:
        made.append(Cell(0.5, 0.5, {}, 0.0))
        return made[-1]

    monkeypatch.setattr(active_pairs_runs, "run", run)

    def runs(method: Method) -> int:
        before = len(made)
        active_pairs_runs.run_all(problems, [method], 1, lambda share, doing: None, tmp_path)
        return len(made) - before

    method = methods(500)["ours"]
    assert (runs(method), runs(method)) == (1, 0)
    assert runs(methods(600)["ours"]) == 1
    assert runs(replace(method, grids=({"C": (1.0,)},))) == 1
    monkeypatch.setitem(active_pairs_methods.AS_OURS, "softness", 0.5)
    assert runs(methods(500)["ours"]) == 1
    monkeypatch.setattr(active_pairs_data, "MAX_ROWS", 1000)
    assert runs(method) == 1


def test_fewer_runs_can_be_asked_for(folder: Path) -> None:
    found = reproduce("active-pairs", "quick", folder=folder, choice=Choice(n_runs=2))
    assert isinstance(found, ActivePairsAgain)
    assert {len(runs) for runs in found.cells.values()} == {2}
    assert "2 runs" in found.page()
    with pytest.raises(InputError, match="not for active-pairs"):
        reproduce("active-pairs", "quick", choice=Choice(topics=("C17",)))


@pytest.mark.parametrize("seed", range(3))
def test_placements_are_auc_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, scores = np.arange(30) % 3 // 2, rng.integers(0, 6, 30).astype(float)
    for of in (0, 1):
        assert placements(labels, scores, of).mean() == pytest.approx(roc_auc(labels, scores))


def test_the_expected_table_adds_up() -> None:
    expected = tomllib.loads(
        files("riffler.reproduction").joinpath("expected_active_pairs.toml").read_text(encoding="utf-8")
    )
    assert len(expected["sets"]) == 14
    for number, rival in enumerate(expected["rivals"]):
        letters = [about["cells"][number] for about in expected["sets"].values()]
        assert "/".join(str(letters.count(one)) for one in "WLT") == expected["totals"][rival]


def test_letters_follow_paired_tests_and_holm() -> None:
    rng = np.random.default_rng(0)

    def runs(mean: float) -> list[Cell]:
        return [Cell(mean + 0.001 * value, 0.0, {}, 0.0) for value in rng.normal(size=10)]

    cells = {
        ("a9a", "me"): runs(0.90),
        ("a9a", "CRR"): runs(0.80),
        ("url", "me"): runs(0.90),
        ("url", "CRR"): runs(0.95),
    }
    same = runs(0.90)
    cells |= {("rcv1", "me"): same, ("rcv1", "CRR"): same}
    found = duels(cells, "me", ["CRR"])
    assert {duel.data: duel.letter for duel in found} == {"a9a": "W", "url": "L", "rcv1": "T"}
    assert totals(corrected(found), "CRR") == (1, 1, 1)
    shared = {name: [replace(cell, test_share=1e4) for cell in runs] for name, runs in cells.items()}
    assert totals(careful(duels(shared, "me", ["CRR"])), "CRR") == (0, 0, 3)
    expected = {"rivals": ["CRR"], "sets": {"a9a": {"cells": "W"}, "url": {"cells": "W"}}}
    assert agreement(found, expected) == (1, 2)
