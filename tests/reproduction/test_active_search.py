"""A small run on made-up documents: page, charts and numbers are whole, and it goes on from its folder."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from riffler.errors import InputError, UnknownName
from riffler.reproduction import Choice, reproduce
from riffler.reproduction.active_search import SIZES, ActiveSearchAgain, Plan
from riffler.reproduction.active_search_runs import FILE, RECALLS
from riffler.reproduction.active_search_ways import ALL, WORDS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def done(folder: Path) -> Iterator[ActiveSearchAgain]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RIFFLER_DATA", raising=False)
        found = reproduce("active-search", "full", folder=folder)  # falls back to the quick plan
        assert isinstance(found, ActiveSearchAgain)
        yield found


def test_the_page_shows_every_chart_and_names_what_is_missing(done: ActiveSearchAgain) -> None:
    page, charts = done.page(), done.charts()
    assert set(re.findall(r"!\[[^]]+\]\(active-search-([^)]+)\.svg\)", page)) == set(charts)
    for chart in charts.values():
        chart.to_dict()  # refuses what is no valid chart
    assert "Not here and replaced by made-up documents: rcv1v2-subsets" in page
    assert "not here, skipped: rcv1v2-subsets" in done.summary()
    assert all(f"**{verdict.verdict}** | {verdict.evidence}" in page for verdict in done.verdicts)


def test_the_numbers_are_plain_json(done: ActiveSearchAgain) -> None:
    found = json.loads(json.dumps(done.as_json(), allow_nan=False))
    assert len(found["claims"]) == 7
    assert [len(case["runs"]) for case in found["cases"]] == [n_runs for _, n_runs in done.plan.cases()]
    assert found["data"]["A"] == {"items": 1500, "relevant": 85}


def test_finished_runs_are_in_the_folder_and_are_taken_from_it(done: ActiveSearchAgain, folder: Path) -> None:
    kept = (folder / FILE).read_bytes()
    again = reproduce("active-search", "quick", folder=folder)
    assert (folder / FILE).read_bytes() == kept
    assert isinstance(again, ActiveSearchAgain)
    assert again.results == done.results


def test_every_run_finds_its_seeds_first_and_nothing_twice(done: ActiveSearchAgain) -> None:
    for runs in done.results.values():
        for run in runs:
            assert run.places[:3] == (1, 2, 3)
            assert sorted(set(run.places)) == list(run.places)
            assert run.n_read <= 0.7 * run.n_items
            assert len(run.places) <= run.n_relevant


def test_a_part_can_be_chosen() -> None:
    plan = Plan().chosen(Choice(4, ("C17", "E51"), ("mmr",)))
    assert [way.name for way in plan.ways] == ["greedy", "thompson", "thompson-calibrated", "mmr"]
    assert plan.side_topics == ("E51",)
    counts = {(topic, way.name): n for (topic, way), n in plan.cases()}
    assert {counts["C17", name] for name in ("greedy", "thompson", "thompson-calibrated")} == {4}
    assert counts["E51", "mmr"] == 3
    assert ("C17", "mmr") not in counts
    with pytest.raises(UnknownName, match="No way of searching called 'ucb'"):
        Plan().chosen(Choice(policies=("ucb",)))
    with pytest.raises(InputError, match="at least 1"):
        Plan().chosen(Choice(0))


def test_the_expected_table_covers_topics_and_recalls() -> None:
    text = files("riffler.reproduction").joinpath("expected_active_search.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)["table"]
    assert tuple(table) == SIZES["full"].topics
    assert all(len(row[name]) == len(RECALLS) for row in table.values() for name in ("greedy", "thompson"))
    assert set(WORDS) == {way.name for way in ALL}
