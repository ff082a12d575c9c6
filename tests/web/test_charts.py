"""The charts of the progress page: what they are drawn from, and that Vega-Lite takes them."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

from riffler.errors import UnknownName
from riffler.web import charts, vega
from riffler.web.charts import CHARTS, chart_data, chart_spec

CLUSTERS = [
    {"x": 0.1, "y": 0.4, "size": 30, "words": ["snow", "alps"], "n_reviewed": 12, "n_relevant": 3},
    {"x": 0.9, "y": 0.2, "size": 50, "words": ["beach"], "n_reviewed": 0, "n_relevant": 0},
]


def progress(n: int = 137, total_high: int | None = 60) -> dict[str, Any]:
    found = np.cumsum(np.random.default_rng(3).random(n) < 0.2)
    curve = [[0, 0], *([read, int(found[read - 1])] for read in range(1, n + 1))]
    guess = {"total": 40, "total_low": int(found[-1]), "total_high": total_high}
    return {"curve": curve, "recall": guess}


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("is_begun", [True, False])
def test_vega_lite_takes_every_chart(name: str, is_begun: bool) -> None:
    values, clusters = (progress(), CLUSTERS) if is_begun else ({}, [])
    compiled = vl_convert.vegalite_to_vega(chart_spec(name, values, clusters), vl_version=vega.VEGA_LITE)
    assert compiled["$schema"].startswith("https://vega.github.io/schema/vega/")


def test_a_request_does_not_change_the_next_one() -> None:
    before = chart_spec("recall", progress(), [])
    chart_spec("recall", {}, [])["layer"].clear()
    assert chart_spec("recall", progress(), []) == before


def test_charts_of_several_threads_are_not_mixed_up() -> None:
    alone = {name: chart_spec(name, progress(), CLUSTERS) for name in CHARTS}

    def draw(name: str) -> dict[str, Any]:
        return chart_spec(name, progress(), CLUSTERS)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            charts._template.cache_clear()
            with ThreadPoolExecutor(len(CHARTS)) as pool:
                together = dict(zip(CHARTS, pool.map(draw, CHARTS), strict=True))
            assert together == alone
    finally:
        sys.setswitchinterval(switch)


@pytest.mark.parametrize("n", [1, 9, 10, 137, 5000])
def test_blocks_of_the_pace_have_everything_once(n: int) -> None:
    values = progress(n)
    blocks = chart_data("pace", values, []).named["blocks"]
    assert sum(block["found"] for block in blocks) == values["curve"][-1][1]
    assert [block["start"] for block in blocks[1:]] == [block["stop"] for block in blocks[:-1]]
    assert (blocks[0]["start"], blocks[-1]["stop"]) == (0, n)
    assert len(blocks) <= 24


@pytest.mark.parametrize(("total_high", "n_ends"), [(60, 2), (100_000, 0), (None, 0)])
def test_an_estimate_that_says_little_does_not_flatten_the_curve(total_high: int | None, n_ends: int) -> None:
    assert len(chart_data("recall", progress(total_high=total_high), []).named["guess"]) == n_ends


def test_the_table_of_the_map_has_its_numbers() -> None:
    assert chart_data("map", {}, CLUSTERS).table == [("beach", 50, 0, 0), ("snow, alps", 30, 12, 3)]


def test_an_unknown_chart_is_refused() -> None:
    with pytest.raises(UnknownName, match="Known: map, pace, recall"):
        chart_spec("pie", {}, [])


def test_the_script_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    vega._kept_script.cache_clear()
    script = vega.vega_script()
    (kept,) = (tmp_path / "riffler").glob("vega-*.js")
    assert kept.read_bytes() == script
    assert b"vegaEmbed" in script
    kept.write_bytes(b"kept")
    vega._kept_script.cache_clear()
    assert vega.vega_script() == b"kept"
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))  # no folder can be made there
    vega._kept_script.cache_clear()
    assert vega.vega_script() == script
    vega._kept_script.cache_clear()
