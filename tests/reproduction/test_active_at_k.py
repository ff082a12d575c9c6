"""A small run of everything, without data sets: page, charts and numbers are whole, and it goes on from its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from riffler.reproduction import reproduce
from riffler.reproduction.active_at_k import SIZES, ActiveAtK
from riffler.reproduction.active_at_k_runs import FILE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def done(folder: Path) -> Iterator[ActiveAtK]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RIFFLER_DATA", raising=False)
        found = reproduce("active-at-k", "quick", folder=folder)
        assert isinstance(found, ActiveAtK)
        yield found


def test_the_page_shows_every_chart_and_names_what_is_missing(done: ActiveAtK) -> None:
    page = done.page()
    shown = re.findall(r"!\[[^]]+\]\(active-at-k-([^)]+)\.svg\)", page)
    charts = done.charts()
    assert set(shown) == set(charts)
    for chart in charts.values():
        chart.to_dict()  # refuses what is no valid chart
    assert "Not here and skipped: cod-rna" in page
    assert "not here, skipped: cod-rna" in done.summary()
    assert all(f"**{verdict.verdict}** | {verdict.evidence}" in page for verdict in done.verdicts)


def test_the_numbers_are_plain_json(done: ActiveAtK) -> None:
    found = json.loads(json.dumps(done.as_json(), allow_nan=False))
    assert len(found["claims"]) == 9
    assert all(len(case["runs"]) == SIZES["quick"].n_runs for case in found["cases"])
    assert found["data"]["two Gaussians"]["rows"] == 20_000


def test_the_runs_are_in_the_folder_and_are_taken_from_it(done: ActiveAtK, folder: Path) -> None:
    kept = (folder / FILE).read_bytes()
    again = reproduce("active-at-k", "quick", folder=folder)
    assert (folder / FILE).read_bytes() == kept
    assert again.page() == done.page()
