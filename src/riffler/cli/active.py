"""``riffler active``: buy only the labels that matter, in a simulation or from a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from riffler.catalog import known_names
from riffler.cli import output, sources
from riffler.cli.active_ask import AskRequest, ask_a_person
from riffler.cli.active_simulation import Simulation, print_simulation, simulate, write_simulation
from riffler.errors import InputError

EXAMPLES = """Examples:

riffler active demo -k 10 --chart active.html

riffler active cod-rna -k 50 --sampler exponential --sampler uniform --budget 2000

riffler active papers.csv -k 20 --ask questions.csv --ranked ranked.csv
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the options say; None where they say nothing."""

    data: str
    label: str | None
    positive: str | None
    k: int | None
    methods: list[str] | None
    samplers: list[str] | None
    budget: int | None
    kernel: str | None
    floor: float | None
    batches: int | None
    seed: int | None
    runs: int | None
    held_out: float | None
    charts: tuple[Path, ...]


def active(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A file (CSV, TSV, Parquet, NPZ, svmlight), a name from `riffler datasets`, or `demo`.",
        ),
    ],
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="How many rows of each batch are predicted (default: 50).")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(known_names('active ranker'))}; may be repeated (default: the recommended ones)."
        ),
    ] = None,
    sampler: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(known_names('sampler'))}; may be repeated (default: all, side by side)."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=0, help="Most labels that may be bought (default: no limit).")
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(help="How scores depend on features: linear, rbf, ... (default: each method's own).")
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Least chance of every row to be asked; above 0 allows a claim (default: 0)."),
    ] = None,
    batches: Annotated[
        int | None, typer.Option(min=1, help="How many batches the rows come in (default: by their number).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**31, help="Seed of everything random (default: 0).")] = None,
    label: Annotated[str | None, typer.Option(help="The column with the labels.")] = None,
    positive: Annotated[str | None, typer.Option(help="The label value to find; all others are negative.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Simulated runs of each scheme (default: 10).")] = None,
    held_out: Annotated[
        float | None, typer.Option(min=0, max=0.9, help="Share of the rows that only measures (default: 0.1).")
    ] = None,
    chart: Annotated[
        list[Path] | None, typer.Option(help="Write the chart (.html, .json, .png, .svg); may be repeated.")
    ] = None,
    ask: Annotated[
        Path | None,
        typer.Option(help="Ask a person: write questions here, read the answers, go on where the last run stopped."),
    ] = None,
    ranked: Annotated[
        Path | None, typer.Option(help="With --ask: write all items as they rank in the end (.csv).")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the results as JSON.")] = None,
) -> None:
    """Buy only the labels that matter for a right top k.

    On labelled data it simulates: rows come in batches; each scheme predicts the top k of a batch, buys some labels
    and learns. Precision and labels bought are shown side by side.

    With --ask a person answers: fill in the column `answer` (1, 0, or ? for don't know) and run the same command again;
    it goes on where it stopped. Only DATA, --ask and, if there was one, --label need to be repeated.
    """
    if json is not None:
        output.check_target(json, "--json")
    options = Options(
        data=data, label=label, positive=positive, k=k, methods=method, samplers=sampler, budget=budget, kernel=kernel,
        floor=floor, batches=batches, seed=seed, runs=runs, held_out=held_out, charts=tuple(chart or ()),
    )  # fmt: skip
    if ask is None:
        _simulate(options, ranked, json)
    else:
        _ask(options, ask, ranked, json)


def _simulate(options: Options, ranked: Path | None, json: Path | None) -> None:
    if ranked is not None:
        raise InputError("--ranked belongs to --ask: a simulation has no list of its own. Leave it out.")
    check_charts(options.charts)
    wanted = Simulation.of(
        sources.train_table(options.data, options.label, options.positive), k=options.k, methods=options.methods,
        samplers=options.samplers, budget=options.budget, kernel=options.kernel, floor=options.floor,
        batches=options.batches, seed=options.seed, runs=options.runs, held_out=options.held_out,
    )  # fmt: skip
    done = simulate(wanted)
    print_simulation(done)
    write_simulation(done, options.charts, json)


def _ask(options: Options, questions: Path, ranked: Path | None, json: Path | None) -> None:
    for option, value in (("--runs", options.runs), ("--held-out", options.held_out), ("--chart", options.charts)):
        if value is not None and value != ():
            raise InputError(f"{option} belongs to simulations; a person is asked once. Leave it out with --ask.")
    output.check_target(questions, "--ask", (".csv",))
    if ranked is not None:
        output.check_target(ranked, "--ranked", (".csv",))
    request = AskRequest(
        k=options.k, method=only("--method", options.methods), sampler=only("--sampler", options.samplers),
        kernel=options.kernel, floor=options.floor, seed=options.seed, batches=options.batches, budget=options.budget,
    )  # fmt: skip
    table = sources.train_table(options.data, options.label, options.positive)
    ask_a_person(table, questions, request, ranked, json)


def only(option: str, given: list[str] | None) -> str | None:
    """Give the one value of an option that may be repeated elsewhere."""
    if not given:
        return None
    if len(given) > 1:
        raise InputError(f"{option} came {len(given)} times; with --ask there is one scheme. Name one.")
    return given[0]


def check_charts(paths: tuple[Path, ...]) -> None:
    """Refuse charts that could not be written, before any work is done."""
    from riffler.evaluation.charts import chart_ending

    for path in paths:
        chart_ending(path)
        output.check_target(path, "--chart")
