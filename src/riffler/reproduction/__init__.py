"""Published results run again: one module and one table of what is expected per result; ``riffler reproduce``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from riffler.errors import InputError, UnknownName

Progress = Callable[[float, str], None]
"""Called with the share done, from 0 to 1, and a word on what is going on."""


class Reproduced(Protocol):
    """A finished run: a page in Markdown, charts by name, plain values for JSON, and a summary of a few lines."""

    def page(self) -> str:
        """Give the page; it shows each chart as ``<result>-<chart>.svg`` beside it."""
        ...

    def charts(self) -> Mapping[str, Any]:
        """Give Altair charts by name."""
        ...

    def as_json(self) -> dict[str, object]:
        """Give all numbers as plain values."""
        ...

    def summary(self) -> list[str]:
        """Say in a few lines what agreed and what did not."""
        ...


REPRODUCTIONS: dict[str, tuple[str, str]] = {
    "at-k": (
        "Kar, Narasimhan and Jain (2015): surrogates, mistake bounds and precision against time",
        "riffler.reproduction.at_k",
    ),
    "active-at-k": (
        "Modi, Sekhari and Gupta (2017): precision at k while buying only the labels that matter",
        "riffler.reproduction.active_at_k",
    ),
    "active-pairs": (
        "Shen and Lin (2013): ranking from a few well-chosen pairs and points",
        "riffler.reproduction.active_pairs",
    ),
    "active-search": (
        "Renders (2017): active search for high recall by Thompson sampling over soft clusters",
        "riffler.reproduction.active_search",
    ),
    "structured": (
        "Smola (2007): structured estimation by column generation: solvers on chains, letters, ranking for NDCG",
        "riffler.reproduction.structured",
    ),
}
"""What each result is and the module whose ``reproduce(size, progress, folder)`` runs it; paths: listing is light."""

WITH_CHOICE = ("active-search",)
"""Results of which a part can be chosen: their ``reproduce`` takes a :class:`Choice` as well."""

WITH_RUNS = ("active-pairs",)
"""Results of which the number of runs can be chosen: their ``reproduce`` takes it as well."""

SIZES = ("full", "quick")
"""How thorough a run is: ``full`` takes minutes, ``quick`` seconds."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which part of a result to run; what is not said is as published.

    n_runs : runs from different starts
    topics : what is searched for
    policies : ways of searching, beside those that all are compared with
    """

    n_runs: int | None = None
    topics: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()


def reproduce(
    name: str,
    size: str = "full",
    progress: Progress = lambda share, doing: None,
    folder: Path | None = None,
    choice: Choice = Choice(),
) -> Reproduced:
    """Run the published result of that name again; a long one keeps in ``folder`` what is finished, and goes on there.

    >>> reproduce("at-j")
    Traceback (most recent call last):
    riffler.errors.UnknownName: No published result called 'at-j'. Known: active-at-k, active-pairs, ...
    """
    if name not in REPRODUCTIONS:
        raise UnknownName.among("published result", name, REPRODUCTIONS)
    if size not in SIZES:
        raise UnknownName.among("size", size, SIZES)
    run: Callable[..., Reproduced] = import_module(REPRODUCTIONS[name][1]).reproduce
    if name in WITH_CHOICE:
        return run(size, progress, folder, choice)
    if name in WITH_RUNS and choice == Choice(choice.n_runs):
        return run(size, progress, folder, choice.n_runs)
    if choice != Choice():
        raise InputError(
            f"Topics and policies can be chosen for {', '.join(WITH_CHOICE)} only, runs also for "
            f"{', '.join(WITH_RUNS)}; not for {name}. "
            "Leave --runs, --topics and --policies out."
        )
    return run(size, progress, folder)


def part_of(progress: Progress, start: float, stop: float) -> Progress:
    """Let a part of a run report its own share from 0 to 1.

    >>> part_of(lambda share, doing: print(share, doing), 0.5, 1.0)(0.5, "half of the second half")
    0.75 half of the second half
    """
    return lambda share, doing: progress(start + (stop - start) * share, doing)
