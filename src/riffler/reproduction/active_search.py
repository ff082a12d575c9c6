"""Renders (2017), "Active Search for High Recall: a Non-Stationary Extension of Thompson Sampling", run again.

Its table on topics of RCV1, and beside it the ablations, the weaker methods that it mentions, and what it leaves open.
What the paper says is in ``expected_active_search.toml``.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from riffler.errors import DataSetMissing, InputError, UnknownName
from riffler.evaluation.search_problem import Problem
from riffler.reproduction import Choice, Progress, part_of
from riffler.reproduction.active_search_data import DATA, made_up, news
from riffler.reproduction.active_search_runs import Case, Found, Results, found_as_json, run_all
from riffler.reproduction.active_search_ways import ABLATIONS, ALL, MAIN, WEAK, Way, smaller
from riffler.reproduction.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run: three ways on every topic, the others on a few and with fewer runs.

    topics : of the table
    side_topics : of the other ways; the first one is what the paper tuned on
    ways : those of the table, which the others are compared with, and the others
    quick : search a small made-up collection
    """

    n_runs: int = 10
    n_side_runs: int = 3
    topics: tuple[str, ...] = ("C17", "C18", "E14", "E31", "E51", "G15")
    side_topics: tuple[str, ...] = ("M14", "E51")
    ways: tuple[Way, ...] = ALL
    quick: bool = False

    def chosen(self, choice: Choice) -> Plan:
        """Return the plan with what a caller asked for."""
        n_runs = self.n_runs if choice.n_runs is None else choice.n_runs
        if n_runs < 1:
            raise InputError(f"runs must be at least 1, got {n_runs}.")
        topics, ways, side = self.topics, self.ways, self.side_topics
        if choice.topics:
            topics = tuple(dict.fromkeys(choice.topics))
            side = tuple(topic for topic in topics if topic in side) or topics[:1]
        if choice.policies:
            ways = tuple(dict.fromkeys((*ways[: len(MAIN)], *(self._way(name) for name in choice.policies))))
        n_side_runs = min(self.n_side_runs, n_runs)
        return replace(self, n_runs=n_runs, n_side_runs=n_side_runs, topics=topics, side_topics=side, ways=ways)

    def _way(self, name: str) -> Way:
        known = {way.name: way for way in self.ways}
        if name not in known:
            raise UnknownName.among("way of searching", name, known)
        return known[name]

    def cases(self) -> list[tuple[Case, int]]:
        """Every case with its number of runs; first those of the table."""
        main = [((topic, way), self.n_runs) for topic in self.topics for way in self.ways[: len(MAIN)]]
        # the weak ones cost most, and the more the more relevant documents there are: one topic is enough for them
        slow = {way.name for way in WEAK}
        side = [
            ((topic, way), self.n_side_runs)
            for way in self.ways
            for topic in (self.side_topics[-1:] if way.name in slow else self.side_topics)
        ]
        known = {case for case, _ in main}
        return main + [(case, n_runs) for case, n_runs in side if case not in known]


SIZES = {
    "full": Plan(),
    "quick": Plan(
        n_runs=2,
        n_side_runs=1,
        topics=("A", "B"),
        side_topics=("A",),
        ways=smaller((*MAIN, *ABLATIONS, *WEAK)),
        quick=True,
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class ActiveSearchAgain:
    """The finished run."""

    plan: Plan
    expected: dict[str, Any]
    problems: dict[str, Problem]
    results: Results
    missing: list[str]

    @property
    def seconds(self) -> float:
        """Seconds of the processor that all searches took, also those that an earlier try had finished."""
        return sum(run.seconds for runs in self.results.values() for run in runs)

    def way(self, name: str) -> Way | None:
        """Return the way of this name if it is part of the plan."""
        return next((way for way in self.plan.ways if way.name == name), None)

    def runs(self, topic: str, name: str) -> list[Found]:
        """Return the runs of a way on a topic, none where it was not run."""
        way = self.way(name)
        return [] if way is None else list(self.results.get((topic, way), ()))

    @property
    def verdicts(self) -> list[Verdict]:
        """What the runs say about each claim."""
        from riffler.reproduction.active_search_claims import verdicts

        return verdicts(self)

    def page(self) -> str:
        """Give the page in Markdown."""
        from riffler.reproduction.active_search_page import page

        return page(self)

    def charts(self) -> dict[str, Any]:
        """Give the charts by name."""
        from riffler.reproduction import active_search_charts as draw

        return {"ratios": draw.ratios_chart(self), "curves": draw.curves_chart(self)}

    def as_json(self) -> dict[str, object]:
        """Give all numbers as plain values."""
        from riffler import __version__

        return {
            "riffler": __version__,
            "result": "active-search",
            "plan": asdict(self.plan),
            "seconds": self.seconds,
            "data": {name: {"items": one.n_items, "relevant": one.n_relevant} for name, one in self.problems.items()},
            "missing": self.missing,
            "cases": [
                {"topic": topic, "way": asdict(way), "runs": [found_as_json(run) for run in runs]}
                for (topic, way), runs in self.results.items()
            ],
            "claims": [asdict(verdict) for verdict in self.verdicts],
        }

    def summary(self) -> list[str]:
        """Say in a line a claim what was found."""
        skipped = [f"not here, skipped: {', '.join(self.missing)}"] if self.missing else []
        return [*(f"{verdict.verdict:9}  {verdict.claim}" for verdict in self.verdicts), *skipped]


def reproduce(
    size: str,
    progress: Progress,
    folder: Path | None = None,
    choice: Choice = Choice(),  # noqa: B008 - frozen
) -> ActiveSearchAgain:
    """Run the table and the other studies; what is finished is kept in ``folder``, and gone on with from there."""
    plan = SIZES[size].chosen(choice)
    expected = tomllib.loads(
        files("riffler.reproduction").joinpath("expected_active_search.toml").read_text(encoding="utf-8")
    )
    progress(0.0, "reading the collection")
    topics = list(dict.fromkeys((*plan.topics, *plan.side_topics)))
    missing: list[str] = []
    if plan.quick:
        problems = made_up(topics)
    else:
        try:
            problems = news(topics)
        except DataSetMissing:
            missing, plan = [DATA], SIZES["quick"]
            problems = made_up(list(plan.topics))
    results = run_all(plan.cases(), problems, part_of(progress, 0.02, 1.0), folder)
    return ActiveSearchAgain(plan, expected, problems, results, missing)
