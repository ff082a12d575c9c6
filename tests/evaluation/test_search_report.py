"""The report of a simulation: the numbers of its runs, charts of them, and a page that needs nobody else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.errors import InputError
from riffler.evaluation.charts import save_chart
from riffler.evaluation.search_charts import (
    cost_chart,
    cost_frames,
    recall_chart,
    recall_frame,
    stopping_chart,
    stopping_frame,
)
from riffler.evaluation.search_page import search_page, table_html, write_page
from riffler.evaluation.search_problem import Problem, topic_problems
from riffler.evaluation.search_report import policy_rows, recorded_orders, simulation_json
from riffler.evaluation.search_tables import (
    end_grids,
    measures_grid,
    reading,
    recall_grid,
    setting_in_words,
    stopping_grids,
    topics_grid,
)
from riffler.evaluation.simulate import Plan, SearchRun, simulate
from riffler.evaluation.stopping_replay import REPLAYED, RuleSummary, replay_rules
from riffler.search import POLICIES
from tests.evaluation.searches import collection, problem


def run(policy: str, seed: int, answers: list[int], n_items: int = 10, n_relevant: int = 2) -> SearchRun:
    return SearchRun(
        topic="", policy=policy, seed=seed, path=Path(f"{policy}{seed}.jsonl"), n_items=n_items, n_relevant=n_relevant,
        n_prior=1, items=tuple(map(str, range(len(answers)))), answers=np.array(answers, dtype=np.int8),
        seconds=np.full(len(answers), 0.5), cpu=np.full(len(answers), 0.25),
    )  # fmt: skip


RUNS = [run("greedy", 0, [1, 1]), run("greedy", 1, [1, 0, 0, 1]), run("random", 0, [0, 0, 1, 0, 0, 1])]


@pytest.fixture(scope="module")
def toy() -> Problem:
    return problem()


@pytest.fixture(scope="module")
def stopping() -> dict[str, list[RuleSummary]]:
    return replay_rules(recorded_orders(RUNS), ["half", "in-a-row"], [0.9])


def test_rows_hold_the_measures_of_the_runs() -> None:
    greedy, random = policy_rows(RUNS)
    assert (greedy.policy, random.policy) == ("greedy", "random")
    assert list(greedy.labels["1.0"].runs) == [2, 4]
    assert greedy.labels["1.0"].mean == 3.0
    assert greedy.shares["1.0"].mean == pytest.approx(0.3)
    assert list(greedy.labels_after_priors["1.0"].runs) == [1, 3]
    assert list(greedy.cpu_seconds.runs) == [0.5, 1.0]
    assert greedy.seconds_per_step.mean == 0.5
    assert random.seeds == (0,)


def test_the_json_has_what_was_promised(toy: Problem, stopping: dict[str, list[RuleSummary]]) -> None:
    found: Any = json.loads(json.dumps(simulation_json([toy], RUNS, Plan(), stopping, 0.95), allow_nan=False))
    greedy = found["policies"]["greedy"]
    assert list(greedy["labels_at_recall"]) == ["0.8", "0.9", "0.95", "0.99", "1.0"]
    assert greedy["labels_at_recall"]["0.95"] == {"mean": 3.0, "spread": 1.0, "runs": [2, 4]}
    assert greedy["cpu_seconds"] == 0.75
    assert greedy["ledgers"] == ["greedy0.jsonl", "greedy1.jsonl"]
    assert found["feature_cpu_seconds"] >= 0
    assert found["seeds"] == [0, 1]
    assert found["versions"]["numpy"] == np.__version__
    assert [row["rule"] for row in found["stopping"]["policies"]["greedy"]] == ["half", "in-a-row"]


def test_a_run_cut_by_a_budget_has_no_mean_and_no_replay(toy: Problem) -> None:
    cut = [run("greedy", 0, [1, 0]), run("greedy", 1, [1, 1])]
    row = policy_rows(cut)[0]
    assert row.labels["1.0"].mean is None
    assert list(row.labels["1.0"].runs) == [None, 2]
    assert recall_grid([row]).rows[0][-1] == "(1 of 2 runs)"
    json.dumps(simulation_json([toy], cut, Plan(budget=0.2), {}, 0.95), allow_nan=False)
    assert "at most 0.1% of the collection" in setting_in_words([toy], cut, Plan(budget=0.001))
    with pytest.raises(InputError, match="found 1 of 2 relevant items"):
        recorded_orders(cut)


def test_where_runs_ended_is_said_if_they_ended_early(toy: Problem) -> None:
    cut = [run("greedy", 0, [1, 0], n_items=100, n_relevant=4), run("greedy", 1, [1, 1], n_items=100, n_relevant=4)]
    rows = policy_rows(cut)
    (grid,) = end_grids(rows)
    assert grid.rows == (("greedy", "2 ± 0\n2.00%", "1.5 ± 0.5", "37.5% ± 12.5%", "0 of 2"),)
    assert measures_grid(rows).rows[0][2] == "(0 of 2 runs)"  # RRF@10: a tenth was not read
    assert "table of topics it is “-”" in reading(rows)
    page = re.sub(r"\s+", " ", search_page([toy], cut, Plan(budget=0.02), {}))
    assert "<h2>Where the runs ended</h2>" in page
    assert "says how many did, in place of a mean" in page
    row: Any = json.loads(json.dumps(simulation_json([toy], cut, Plan(budget=0.02), {}, 0.95)))["policies"]["greedy"]
    assert row["labels_at_end"]["mean"] == 2.0
    assert row["found_at_end"]["runs"] == [1, 2]
    assert row["recall_at_end"]["mean"] == 0.375
    assert row["n_runs_that_found_everything"] == 0
    assert row["rrf_at_10"] == {"mean": None, "spread": None, "runs": [None, None]}


def test_nothing_is_said_of_an_end_where_everything_was_found() -> None:
    rows = policy_rows(RUNS)
    assert end_grids(rows) == []
    assert "budget" not in reading(rows)
    assert rows[0].recall.mean == 1.0


def test_the_curve_is_the_mean_of_the_runs() -> None:
    curve = recall_frame(RUNS, end=1.0, n_points=11).filter(method="greedy")
    np.testing.assert_allclose(curve["recall"].head(5), [0.0, 0.5, 0.75, 0.75, 1.0])
    np.testing.assert_allclose(curve["low"].head(5), [0.0, 0.5, 0.5, 0.5, 1.0])
    assert curve["high"].max() == 1.0
    points, means = cost_frames(policy_rows(RUNS))
    assert points.filter(method="greedy", recall="100%")["share"].to_list() == [0.2, 0.4]
    assert means.filter(method="greedy", recall="100%")["labels"].to_list() == [3.0]


def test_lines_end_where_the_reading_ended() -> None:
    cut = [run("greedy", 0, [1, 0], n_items=100, n_relevant=4), run("greedy", 1, [1, 1, 0], n_items=100, n_relevant=4)]
    curve = recall_frame(cut, end=0.1, n_points=11)
    np.testing.assert_allclose(curve["share"], [0.0, 0.01, 0.02])
    np.testing.assert_allclose(curve["recall"], [0.0, 0.25, 0.375])
    assert recall_frame(RUNS, end=1.0).filter(method="greedy")["share"].max() == 0.4


def test_the_first_tenth_has_a_panel_only_if_more_was_read() -> None:
    cut = [run("greedy", 0, [1] + 9 * [0], n_items=100, n_relevant=4)]
    assert len(recall_chart(cut).to_dict()["hconcat"]) == 1
    assert len(recall_chart(RUNS).to_dict()["hconcat"]) == 2


def test_words_of_guides_stand_outside_of_the_panel(tmp_path: Path) -> None:
    few = [run("greedy", 0, 50 * [1] + [0] * 50, n_items=100, n_relevant=50)]
    marks = re.findall(
        r'"align": "(\w+)", [^}]*?"dy": (-\d+), [^}]*?"text": (\[[^]]*\])', recall_chart(few).to_json(indent=None)
    )
    assert ("center", "-18", '["nothing", "but finds"]') in marks  # all of it: above
    assert ("left", "-6", '["nothing", "but finds"]') in marks  # the first tenth, where it ends at the side


def test_lines_on_top_of_each_other_can_be_told_apart() -> None:
    runs = [run(policy, 0, [1, 0, 1]) for policy in POLICIES]
    dashes = [layer["encoding"]["strokeDash"]["scale"]["range"] for layer in _layers(recall_chart(runs).to_dict())]
    for filled in dashes:
        assert len({sum(one) for one in filled}) == 1  # they come again together
        widths = [one[0] for one in filled]
        assert widths == sorted(set(widths), reverse=True)  # who is drawn later covers less


def _layers(panels: Any) -> list[Any]:  # noqa: ANN401 - JSON
    found = [
        layer for panel in panels["hconcat"] for layer in panel["layer"] if "strokeDash" in layer.get("encoding", {})
    ]
    assert len(found) == 2
    return found


def test_labels_of_small_shares_differ(tmp_path: Path) -> None:
    answers = 8 * [1] + [0, 1, 0, 1]  # 80, 90 and 95 % after 8, 10 and 12 of 2,000
    save_chart(cost_chart(policy_rows([run("greedy", 0, answers, 2000, 10)])), tmp_path / "cost.svg")
    drawn = (tmp_path / "cost.svg").read_text(encoding="utf-8")
    assert {f">{share}%<" for share in ("0.400", "0.500", "0.600")} <= set(re.findall(r">[\d.]+%<", drawn))


def test_charts_fit_the_page_with_six_policies(tmp_path: Path) -> None:
    names = sorted(POLICIES, key=len, reverse=True)[:6]
    rows = [RuleSummary(rule, 0.9, 10, 0, 1, 0.4, 0.95, 0.7, 0.3, 300, 0, 0.2) for rule in REPLAYED]
    runs = [run(name, 0, [1, 0] * 30, 100, 30) for name in names]
    charts = [stopping_chart(dict.fromkeys(names, rows), 0.9), recall_chart(runs), cost_chart(policy_rows(runs))]
    for chart in charts:
        save_chart(chart, tmp_path / "chart.svg")
        found = re.search(r'width="(\d+)"', (tmp_path / "chart.svg").read_text(encoding="utf-8"))
        assert found is not None
        assert int(found[1]) <= 960  # of 1,000, as the letters of a browser may be wider


def test_rules_are_drawn_with_what_became_of_their_promise(stopping: dict[str, list[RuleSummary]]) -> None:
    drawn = stopping_frame(stopping, 0.9)
    assert drawn.filter(policy="greedy", rule="half")["share"].to_list() == [0.5]
    assert set(drawn["verdict"]) == {"heuristic"}
    bad = RuleSummary("half", 0.9, 40, 0, 30, 1e-9, 0.5, 0.1, 0.5, 5, 0, 0.9)
    assert stopping_frame({"greedy": [bad]}, 0.9)["verdict"].to_list() == ["short too often"]
    grid = stopping_grids({"greedy": [bad]})[0.9]
    assert grid.marked == {0}
    assert "<tr class=short><td>half</td>" in table_html(grid)
    with pytest.raises(InputError, match=r"No stopping rule was replayed at the target 0\.5"):
        stopping_frame(stopping, 0.5)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_charts_are_drawn(stopping: dict[str, list[RuleSummary]], ending: str, tmp_path: Path) -> None:
    for number, chart in enumerate([recall_chart(RUNS), cost_chart(policy_rows(RUNS)), stopping_chart(stopping, 0.9)]):
        save_chart(chart, tmp_path / f"chart{number}.{ending}")
        assert (tmp_path / f"chart{number}.{ending}").stat().st_size > 5000


def test_charts_of_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="at least one run"):
        recall_chart([])
    with pytest.raises(InputError, match="No run reached any of the recalls"):
        cost_chart(policy_rows([run("greedy", 0, [1, 0], n_relevant=9)]))


def test_the_page_carries_all_it_needs(toy: Problem, stopping: dict[str, list[RuleSummary]], tmp_path: Path) -> None:
    write_page(tmp_path / "new" / "report.html", [toy], RUNS, Plan(description="</script><b>"), stopping)
    page = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=|@import|url\(""", markup)
    assert "</script><b>" not in markup
    assert markup.count("<table>") == 3
    assert re.findall(r'<div class="wide" id="(\w+)">', markup) == ["recall", "cost", "stopping900"]
    assert page.count("vegaEmbed('#") == 3
    assert '<span class="best">3 ± 1</span><br><small>30.0%</small>' in markup


def test_topics_have_a_row_each(tmp_path: Path) -> None:
    problems = topic_problems(collection(), "topics", None, min_relevant=2)
    runs = simulate(problems, ["greedy"], Plan(batch=10), tmp_path, n_runs=1)
    assert sorted(path.parent.name for path in tmp_path.rglob("*.jsonl")) == ["music", "wheat"]
    found: Any = simulation_json(problems, runs, Plan(batch=10), {}, 0.95)
    assert list(found["topics"]) == [one.name for one in problems]
    assert found["topics"]["wheat"]["n_relevant"] == next(one.n_relevant for one in problems if one.name == "wheat")
    pooled = found["policies"]["greedy"]["labels_at_recall"]["1.0"]
    alone = [found["topics"][one.name]["policies"]["greedy"]["labels_at_recall"]["1.0"] for one in problems]
    assert list(pooled["runs"]) == [value for one in alone for value in one["runs"]]
    assert [row[0] for row in topics_grid(problems, runs).rows] == [one.name for one in problems]
    assert "topic by topic" in search_page(problems, runs, Plan(batch=10), {})
    assert len(topics_grid(problems, runs).head) == 4


def test_topics_of_runs_that_ended_early_say_what_they_reached(tmp_path: Path) -> None:
    problems = topic_problems(collection(), "topics", None, min_relevant=2)
    runs = simulate(problems, ["greedy"], Plan(budget=0.05), tmp_path, n_runs=1)
    grid = topics_grid(problems, runs)
    assert (grid.title, grid.head[-1]) == ("Share read, and recall at the end, topic by topic", "greedy\nrecall")
    assert [row[-1] for row in grid.rows] == [f"{one.discovery.recall_after(6):.1%}" for one in runs]
    assert grid.rows[0][2] == "-"
