"""Kar, Narasimhan and Jain (2015), "Surrogate Functions for Maximizing Precision at the Top", run again.

Four parts: the table of surrogates, the mistake bounds, precision against time, and held-out precision against n.
What the paper says is in ``expected_at_k.toml``.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any

from riffler.reproduction import Progress, generalisation, mistake_bounds, part_of, precision_against_time
from riffler.reproduction.at_k_claims import verdicts
from riffler.reproduction.problems import digits, problems
from riffler.reproduction.surrogate_properties import Finding, search
from riffler.reproduction.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run."""

    name: str
    trials: int
    gammas: tuple[float, ...]
    ks: tuple[int, ...]
    stream_seeds: tuple[int, ...]
    noisy_batches: int
    data: tuple[str, ...]
    max_rows: int
    splits: tuple[int, ...]
    rows: tuple[int, ...]
    row_seeds: tuple[int, ...]


SIZES = {
    "full": Size(
        name="full",
        trials=10_000,
        gammas=(0.4, 0.2, 0.1, 0.05),
        ks=(1, 5, 20),
        stream_seeds=(0, 1, 2, 3, 4),
        noisy_batches=2000,
        data=("letter", "ijcnn1", "a9a", "cod-rna", "covtype-100k"),
        max_rows=200_000,
        splits=(0, 1, 2),
        rows=(1_000, 3_000, 10_000, 30_000, 100_000),
        row_seeds=tuple(range(12)),
    ),
    "quick": Size(
        name="quick",
        trials=300,
        gammas=(0.4, 0.2),
        ks=(1, 5),
        stream_seeds=(0,),
        noisy_batches=200,
        data=("letter",),
        max_rows=3_000,
        splits=(0,),
        rows=(1_000, 3_000, 10_000),
        row_seeds=(0, 1),
    ),
}
NOISY_K = 5


@dataclass(frozen=True, slots=True, eq=False)
class AtK:
    """The finished run."""

    size: Size
    expected: dict[str, Any]
    findings: list[Finding]
    separable: list[mistake_bounds.SeparableRun]
    curves: list[mistake_bounds.MistakeCurve]
    shapes: dict[str, tuple[int, int, float]]  # rows used, columns, share of positives
    missing: list[str]
    points: list[precision_against_time.Point]
    trained: list[generalisation.Trained]
    seconds: float

    @property
    def verdicts(self) -> list[Verdict]:
        """What the runs say about each claim."""
        return verdicts(self.expected["claims"], self.separable, self.curves, self.points)

    def page(self) -> str:
        """Give the page in Markdown."""
        from riffler.reproduction.at_k_page import page

        return page(self)

    def charts(self) -> dict[str, Any]:
        """Give the charts by name."""
        from riffler.reproduction import at_k_charts as draw

        rates = generalisation.rates(self.trained)
        return {
            "surrogates": draw.along_a_line(),
            "separable": draw.updates_chart(self.separable),
            "mistakes": draw.mistakes_chart(self.curves),
            "time": draw.time_chart(self.points),
            "held-out": draw.learning_chart(self.trained),
            "gap": draw.gap_chart(self.trained, rates),
        }

    def as_json(self) -> dict[str, object]:
        """Give all numbers as plain values."""
        from riffler import __version__

        return {
            "riffler": __version__,
            "result": "at-k",
            "size": asdict(self.size),
            "seconds": self.seconds,
            "surrogates": [{**asdict(finding), "holds": finding.holds} for finding in self.findings],
            "separable": [asdict(run) for run in self.separable],
            "mistakes": [asdict(curve) for curve in self.curves],
            "data": {name: dict(zip(("rows", "columns", "positive_share"), shape, strict=True))
                     for name, shape in self.shapes.items()},
            "missing": self.missing,
            "precision_against_time": [asdict(point) for point in self.points],
            "generalisation": [asdict(run) for run in self.trained],
            "rates": [asdict(rate) for rate in generalisation.rates(self.trained)],
            "claims": [asdict(verdict) for verdict in self.verdicts],
        }  # fmt: skip

    def summary(self) -> list[str]:
        """Say in a line a claim what was found."""
        skipped = [f"not here, skipped: {', '.join(self.missing)}"] if self.missing else []
        return [*(f"{verdict.verdict:9}  {verdict.claim}" for verdict in self.verdicts), *skipped]


def reproduce(size: str, progress: Progress, folder: Path | None = None) -> AtK:
    """Run all four parts; ``size`` is "full" or "quick". It is short enough to keep nothing in the folder."""
    chosen, start = SIZES[size], perf_counter()
    expected = tomllib.loads(files("riffler.reproduction").joinpath("expected_at_k.toml").read_text(encoding="utf-8"))
    findings = search(chosen.trials, 0, part_of(progress, 0.0, 0.05))
    separable = mistake_bounds.separable_runs(
        chosen.gammas, chosen.ks, chosen.stream_seeds, part_of(progress, 0.05, 0.1)
    )
    curves = [mistake_bounds.mistake_curve(NOISY_K, chosen.noisy_batches, seed) for seed in chosen.stream_seeds[:3]]
    progress(0.1, "reading data sets")
    found, missing = problems({name: expected["data"][name] for name in chosen.data})
    found = found or [digits()]
    shapes = {one.name: (min(len(one.y), chosen.max_rows), one.X.shape[1], float(one.y.mean())) for one in found}
    points = precision_against_time.compare(found, chosen.splits, chosen.max_rows, part_of(progress, 0.12, 0.9))
    trained = generalisation.simulate(chosen.rows, chosen.row_seeds, part_of(progress, 0.9, 1.0))
    seconds = perf_counter() - start
    return AtK(chosen, expected, findings, separable, curves, shapes, missing, points, trained, seconds)
