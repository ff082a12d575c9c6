"""Modi, Sekhari and Gupta (2017), "Online Active Learning for Prec@K", run again.

Five studies: the four figures, rare positives, the readings of the text, noise and unkind orders, growth. What the
paper says is in ``expected_active_at_k.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any

from riffler.reproduction import Progress, part_of
from riffler.reproduction import active_at_k_figures as figures
from riffler.reproduction.active_at_k_cases import Case, Feed, Results
from riffler.reproduction.active_at_k_growth import Exponents, Growth, exponents
from riffler.reproduction.active_at_k_noise import flipped_cases, ordered_cases
from riffler.reproduction.active_at_k_rare import KERNELS, Setting, settings
from riffler.reproduction.active_at_k_readings import grid, readings
from riffler.reproduction.active_at_k_runs import run_all, run_as_json
from riffler.reproduction.problems import Problem, problems, two_gaussians
from riffler.reproduction.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run."""

    name: str
    n_runs: int
    n_rows: int | None  # of the main data set; None for all
    data: tuple[str, ...]  # the main one first
    ks: tuple[int, int]
    shares: tuple[float, ...]
    rare: float  # the share of positives of the studies that look at one
    flipped: tuple[float, ...]
    growing_n: tuple[int, ...]
    rare_growing_n: tuple[int, ...]
    growing_k: tuple[int, ...]
    rare_growing_k: tuple[int, ...]
    small_k: int  # while n grows and positives are rare


SIZES = {
    "full": Size(
        name="full",
        n_runs=10,
        n_rows=None,
        data=("cod-rna", "covtype-100k"),
        ks=(50, 300),
        shares=(0.1, 0.03, 0.01),
        rare=0.03,
        flipped=(0.0, 0.01, 0.05, 0.1),
        growing_n=(10_000, 30_000, 100_000, 300_000),
        rare_growing_n=(10_000, 30_000, 100_000, 200_000),
        growing_k=(10, 30, 100, 300),
        rare_growing_k=(10, 30, 100, 250),
        small_k=10,
    ),
    "quick": Size(
        name="quick",
        n_runs=2,
        n_rows=3_000,
        data=("cod-rna",),
        ks=(10, 30),
        shares=(0.1,),
        rare=0.1,
        flipped=(0.0, 0.1),
        growing_n=(1_000, 3_000),
        rare_growing_n=(1_000, 3_000),
        growing_k=(10, 30),
        rare_growing_k=(5, 10),
        small_k=5,
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Every case of every study, for data sets that are here."""

    size: Size
    found: dict[str, Problem]

    @property
    def natural(self) -> Feed:
        """The main data set as it is."""
        return Feed(next(iter(self.found)), n_rows=self.size.n_rows)

    @property
    def feeds(self) -> dict[str, Feed]:
        """The two feeds of the studies of readings and noise, by what they are called."""
        share = float(self.found[self.natural.data].y.mean())
        return {
            f"{share:.0%} positive": self.natural,
            f"{self.size.rare:.0%} positive": replace(self.natural, share=self.size.rare),
        }

    @property
    def settings(self) -> list[Setting]:
        """Other data sets, and the main one with rare positives."""
        others = [Feed(name, n_rows=self.size.n_rows) for name in list(self.found)[1:]]
        rare = [replace(self.natural, share=share) for share in self.size.shares]
        return settings([*others, *rare], self.found, self.size.ks)

    @property
    def growths(self) -> list[Growth]:
        """What grows: n and k, with natural and with rare positives."""
        size, (natural, rare) = self.size, self.feeds.items()
        large, fewer = size.growing_n[-1], size.rare_growing_n[-1]
        return [
            Growth(f"{natural[0]}, k = {size.ks[0]}", "n", natural[1], size.growing_n, (size.ks[0],)),
            Growth(f"{rare[0]}, k = {size.small_k}", "n", rare[1], size.rare_growing_n, (size.small_k,)),
            Growth(f"{natural[0]}, n = {large:,}", "k", natural[1], (large,), size.growing_k),
            Growth(f"{rare[0]}, n = {fewer:,}", "k", rare[1], (fewer,), size.rare_growing_k),
        ]

    def cases(self) -> Iterator[Case]:
        """Yield all cases, study by study; some belong to several studies."""
        yield from figures.cases(self.natural, self.size.ks)
        for setting in self.settings:
            for kernel in KERNELS:
                yield from setting.cases(kernel)
        for feed in self.feeds.values():
            yield from readings(feed, self.size.ks[0]).values()
            yield from grid(feed, self.size.ks[0]).values()
            for some in flipped_cases(feed, self.size.ks[0], self.size.flipped).values():
                yield from some
            for some in ordered_cases(feed, self.size.ks[0]).values():
                yield from some
        for growth in self.growths:
            yield from growth.all_cases()


@dataclass(frozen=True, slots=True, eq=False)
class ActiveAtK:
    """The finished run."""

    plan: Plan
    expected: dict[str, Any]
    results: Results
    missing: list[str]
    seconds: float

    @property
    def exponents(self) -> list[Exponents]:
        """How labels grow."""
        return exponents(self.plan.growths, self.results)

    @property
    def verdicts(self) -> list[Verdict]:
        """What the runs say about each claim."""
        from riffler.reproduction.active_at_k_claims import verdicts

        return verdicts(self)

    def page(self) -> str:
        """Give the page in Markdown."""
        from riffler.reproduction.active_at_k_page import page

        return page(self)

    def charts(self) -> dict[str, Any]:
        """Give the charts by name."""
        from riffler.reproduction import active_at_k_charts as draw

        plan, k = self.plan, self.plan.size.ks[0]
        return {
            **{
                f"figures-{variant}": draw.figures_chart(self.results, plan.natural, plan.size.ks, variant)
                for variant in figures.VARIANTS
            },
            "rare": draw.rare_chart(self.results, plan.settings),
            "readings": draw.readings_chart(self.results, plan.feeds, k),
            "noise": draw.noise_chart(self.results, plan.feeds, k, plan.size.flipped),
            "orders": draw.orders_chart(self.results, plan.feeds, k),
            "growth": draw.growth_chart(self.results, self.plan.growths, self.exponents),
        }

    def as_json(self) -> dict[str, object]:
        """Give all numbers as plain values."""
        from riffler import __version__

        return {
            "riffler": __version__,
            "result": "active-at-k",
            "size": asdict(self.plan.size),
            "seconds": self.seconds,
            "data": {
                name: {"rows": len(one.y), "positives": int(one.y.sum())} for name, one in self.plan.found.items()
            },
            "missing": self.missing,
            "cases": [
                {**asdict(case), "runs": [run_as_json(run) for run in runs]} for case, runs in self.results.items()
            ],
            "exponents": [asdict(one) for one in self.exponents],
            "claims": [asdict(verdict) for verdict in self.verdicts],
        }

    def summary(self) -> list[str]:
        """Say in a line a claim what was found."""
        skipped = [f"not here, skipped: {', '.join(self.missing)}"] if self.missing else []
        return [*(f"{verdict.verdict:9}  {verdict.claim}" for verdict in self.verdicts), *skipped]


def reproduce(size: str, progress: Progress, folder: Path | None = None) -> ActiveAtK:
    """Run all studies; finished runs are kept in ``folder``, so that a run that was stopped goes on from there."""
    chosen, start = SIZES[size], perf_counter()
    expected = tomllib.loads(
        files("riffler.reproduction").joinpath("expected_active_at_k.toml").read_text(encoding="utf-8")
    )
    progress(0.0, "reading data sets")
    loaded, missing = problems({name: expected["data"][name] for name in chosen.data}, where_present=("rest",))
    if chosen.data[0] in missing:
        loaded = [two_gaussians(), *loaded]
    plan = Plan(chosen, {one.name: one for one in loaded})
    results = run_all(plan.cases(), plan.found, chosen.n_runs, part_of(progress, 0.01, 1.0), folder)
    return ActiveAtK(plan, expected, results, missing, perf_counter() - start)
