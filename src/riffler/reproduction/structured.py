"""Structured estimation run again: solvers on chains, letters beside a linear SVM, and ranking for NDCG.

Smola (2007), "Structured Estimation", gives the frame and the examples, but no numbers. What is claimed is in
``expected_structured.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from riffler.reproduction import Progress, part_of
from riffler.reproduction.structured_claims import verdicts
from riffler.reproduction.structured_data import CHUNKED, LabellingProblem, chunked, letters, made_up_words
from riffler.reproduction.structured_errata import errata
from riffler.reproduction.structured_letters import Read, read_letters
from riffler.reproduction.structured_ranking import SETS, Fold, Ranked, folds, made_up_folds, rank_all
from riffler.reproduction.structured_solvers import AS_PUBLISHED, C_GRID, SOLVERS, Solved, solve_all
from riffler.reproduction.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is run: gaps to solve to, one that is tried on the first fold of the letters only, and values of C."""

    tols: tuple[float, ...] = (0.1, 0.01)
    finest: float = 0.001
    c_grid: tuple[float, ...] = C_GRID
    quick: bool = False


SIZES = {"full": Plan(), "quick": Plan(c_grid=(3.0, 30.0), quick=True)}


@dataclass(frozen=True, eq=False)
class StructuredAgain:
    """A finished run."""

    plan: Plan
    expected: Mapping[str, Any]
    solved: Sequence[Solved]
    read: Sequence[Read]
    ranked: Sequence[Ranked]
    sizes: Mapping[str, str]  # of each set, in words
    missing: Sequence[str] = field(default_factory=list)

    @property
    def quick(self) -> bool:
        """Whether this was the small version."""
        return self.plan.quick

    @property
    def labelled(self) -> list[str]:
        """Names of the sets of sequences."""
        return list(dict.fromkeys(one.data for one in self.solved))

    @property
    def graded(self) -> list[str]:
        """Names of the sets of queries."""
        return list(dict.fromkeys(one.data for one in self.ranked))

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What was found of each claim."""
        return verdicts(self)

    @cached_property
    def errata(self) -> list[Verdict]:
        """What was found of the statements that the slides print."""
        return errata()

    def page(self) -> str:
        """Give the page in Markdown."""
        from riffler.reproduction.structured_page import page

        return page(self)

    def charts(self) -> dict[str, Any]:
        """Give the charts by name."""
        from riffler.reproduction import structured_charts as draw

        return {"convergence": draw.convergence(self), "ndcg": draw.ndcg(self)}

    def as_json(self) -> dict[str, object]:
        """Give all numbers as plain values."""
        from riffler import __version__

        return {
            "riffler": __version__,
            "result": "structured",
            "plan": asdict(self.plan),
            "missing": list(self.missing),
            "solved": [asdict(one) for one in self.solved],
            "letters": [asdict(one) for one in self.read],
            "ranking": [asdict(one) for one in self.ranked],
            "claims": [asdict(verdict) for verdict in self.verdicts],
            "errata": [asdict(verdict) for verdict in self.errata],
        }

    def summary(self) -> list[str]:
        """Say in a line a claim what was found."""
        skipped = [f"not here, skipped: {', '.join(self.missing)}"] if self.missing else []
        return [*(f"{verdict.verdict:9}  {verdict.claim}" for verdict in self.verdicts), *skipped]


def reproduce(size: str, progress: Progress, folder: Path | None = None) -> StructuredAgain:
    """Run all parts; what is finished is kept in ``folder``, and gone on with from there."""
    plan = SIZES[size]
    text = files("riffler.reproduction").joinpath("expected_structured.toml").read_text(encoding="utf-8")
    progress(0.0, "reading the data")
    words, sentences, queries, missing = _data(plan)
    solved = solve_all(words, plan.tols, part_of(progress, 0.02, 0.4), folder, plan.c_grid)
    solved += solve_all(words[:1], (plan.finest,), part_of(progress, 0.4, 0.45), folder, plan.c_grid)
    others = [name for name in SOLVERS if name != AS_PUBLISHED]
    solved += solve_all(sentences, plan.tols, part_of(progress, 0.45, 0.7), folder, plan.c_grid, others)
    read = read_letters(words, part_of(progress, 0.7, 0.85), folder, plan.c_grid)
    ranked = rank_all(queries, part_of(progress, 0.85, 1.0), folder)
    return StructuredAgain(plan, tomllib.loads(text), solved, read, ranked, _sizes([*words, *sentences]), missing)


def _data(plan: Plan) -> tuple[list[LabellingProblem], list[LabellingProblem], list[Fold], list[str]]:
    """Words, sentences, queries, and what is not here; made-up ones where words or queries are not here."""
    if plan.quick:
        return made_up_words(), [], made_up_folds(), []
    words, queries = letters(), {name: folds(name) for name in SETS}
    sentences = {name: chunked(name) for name in CHUNKED}
    missing = [] if words else ["ocr-letters"]
    missing += [name for name, found in (*sentences.items(), *queries.items()) if not found]
    ranked = [fold for own in queries.values() for fold in own]
    here = [problem for problem in sentences.values() if problem is not None]
    return words or made_up_words(), here, ranked or made_up_folds(), missing


def _sizes(problems: Sequence[LabellingProblem]) -> dict[str, str]:
    """Say how large each set is, by its first fold."""
    found: dict[str, str] = {}
    for one in problems:
        n_rows, n_columns = one.train.X.rows.shape
        n_labels = one.task.for_data(one.train.X, one.train.Y).n_labels
        found.setdefault(
            one.data,
            f"{len(one.train.Y):,} sequences to learn from ({n_rows:,} rows, {n_columns:,} columns, {n_labels} labels) "
            f"and {len(one.test.Y):,} to test on",
        )
    return found
