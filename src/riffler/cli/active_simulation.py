"""The simulation of ``riffler active``: all schemes side by side, batch by batch, run by run."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riffler.cli import output
from riffler.cli.active_schemes import Scheme, schemes_of
from riffler.errors import NoClaim

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from riffler.data.table import Table
    from riffler.evaluation.active_runs import ActiveRun, BatchResult
    from riffler.ledger import Ledger
    from riffler.records import IntArray
    from riffler.stopping import TopClaim


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What is to be simulated, every choice made."""

    table: Table
    labels: IntArray
    schemes: list[Scheme]
    k: int
    kernel: str | None  # None: each method's own
    floor: float
    budget: int | None
    n_batches: int
    held_out: float
    seed: int
    n_runs: int

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        k: int | None,
        methods: list[str] | None,
        samplers: list[str] | None,
        budget: int | None,
        kernel: str | None,
        floor: float | None,
        batches: int | None,
        seed: int | None,
        runs: int | None,
        held_out: float | None,
    ) -> Simulation:
        """Fill in the defaults, and refuse what cannot be run before anything is."""
        from riffler.evaluation.comparison import binary_labels_of

        labels = binary_labels_of(table)
        k, floor = 50 if k is None else k, floor or 0.0
        held_out = 0.1 if held_out is None else held_out
        if batches is None:
            batches = usual_batches((1 - held_out) * len(labels), (1 - held_out) * float(labels.sum()), k)
        schemes = schemes_of(methods or [], samplers or [])
        for scheme in schemes:
            scheme.learner(k, kernel, floor, 0)
        return cls(
            table, labels, schemes, k, kernel, floor, budget, batches, held_out, seed or 0, 10 if runs is None else runs
        )


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A finished simulation: the runs of each scheme by its name, and what may be claimed from its first run."""

    wanted: Simulation
    runs: dict[str, list[ActiveRun]]
    claims: dict[str, TopClaim | str]  # a text says why nothing may be claimed


def usual_batches(n_rows: float, n_positive: float, k: int) -> int:
    """Number of batches: ``round(ln n)``, or fewer so that a batch expects 2 k positives; at least 2.

    >>> usual_batches(300_000, 100_000, k=50), usual_batches(1600, 160, k=10), usual_batches(1600, 160, k=50)
    (13, 7, 2)
    """
    return max(2, min(round(math.log(max(n_rows, 2))), int(n_positive / (2 * k))))


def simulate(wanted: Simulation) -> Simulated:
    """Run every scheme through the same streams, and show how it goes."""
    from riffler.evaluation.active_runs import run_stream
    from riffler.evaluation.active_stream import random_stream
    from riffler.oracles import ArrayOracle

    runs: dict[str, list[ActiveRun]] = {scheme.name: [] for scheme in wanted.schemes}
    claims: dict[str, TopClaim | str] = {}
    with shown(Board([scheme.name for scheme in wanted.schemes], wanted)) as tell:
        for scheme in wanted.schemes:
            for number in range(wanted.n_runs):
                seed = wanted.seed + number
                stream = random_stream(wanted.table.X, wanted.labels, seed, wanted.n_batches, wanted.held_out)
                oracle = ArrayOracle(wanted.labels, budget=wanted.budget)
                learner = scheme.learner(wanted.k, wanted.kernel, wanted.floor, seed)

                def watch(batch: int, result: BatchResult, name: str = scheme.name, run: int = number) -> None:
                    tell(name, run, batch, result)

                runs[scheme.name].append(run_stream(learner, stream, oracle, watch))
                if number == 0 and wanted.floor > 0:
                    claims[scheme.name] = claim_of(oracle.ledger)
    return Simulated(wanted, runs, claims)


def claim_of(ledger: Ledger) -> TopClaim | str:
    """What may be claimed from a ledger, or why nothing may."""
    from riffler.stopping import claim_top

    try:
        return claim_top(ledger)
    except NoClaim as error:
        return str(error)


@dataclass(eq=False)
class Board:
    """Precision and labels of every batch, as the runs go on."""

    schemes: Sequence[str]
    wanted: Simulation
    results: dict[tuple[str, int], list[BatchResult]] = field(default_factory=dict)  # by scheme and batch, over runs
    doing: str = "starting"

    def add(self, scheme: str, run: int, batch: int, result: BatchResult) -> None:
        """Take in one batch."""
        self.results.setdefault((scheme, batch), []).append(result)
        self.doing = f"{scheme}, run {run + 1} of {self.wanted.n_runs}"

    def means(self, scheme: str, batch: int) -> tuple[float, float] | None:
        """Mean precision and mean labels bought over the runs that have got to this batch."""
        those = self.results.get((scheme, batch))
        if not those:
            return None
        return sum(one.precision for one in those) / len(those), sum(one.n_asked for one in those) / len(those)

    def table(self) -> RichTable:
        """Draw a row a batch, a column a scheme."""
        made = output.table(
            f"Precision at {self.wanted.k}, labels bought so far ({self.doing})",
            "batch", *(f"{scheme}\nprec.  labels" for scheme in self.schemes),
        )  # fmt: skip
        for batch in range(self.wanted.n_batches):
            cells = (self.means(scheme, batch) for scheme in self.schemes)
            made.add_row(str(batch + 1), *("" if cell is None else f"{cell[0]:.3f} {cell[1]:>7,.0f}" for cell in cells))
        return made


@contextmanager
def shown(board: Board) -> Iterator[Callable[[str, int, int, BatchResult], None]]:
    """Show the board while it fills: a live table in a terminal, else a line a batch in the last run of a scheme."""
    console = output.console()
    if sys.stdout.isatty():
        from rich.live import Live

        with Live(console=console, get_renderable=board.table, refresh_per_second=4):
            yield board.add
            board.doing = "one run" if board.wanted.n_runs == 1 else f"means of {board.wanted.n_runs} runs"
        return

    def tell(scheme: str, run: int, batch: int, result: BatchResult) -> None:
        board.add(scheme, run, batch, result)
        means = board.means(scheme, batch)
        if run + 1 == board.wanted.n_runs and means is not None:
            words = f"{scheme:<24} batch {batch + 1:>3}  precision at k {means[0]:.3f}  labels bought {means[1]:>9,.0f}"
            console.print(words, soft_wrap=True)

    yield tell


def print_simulation(done: Simulated) -> None:
    """Print the schemes side by side, what the columns mean, and what may be claimed."""
    wanted, console = done.wanted, output.console()
    table = output.table(
        f"What precision at {wanted.k} costs: {wanted.n_runs} run{'s' * (wanted.n_runs > 1)} of each scheme",
        "scheme", "precision\nat k", "held-out\nprecision", "labels\nbought", "below\nthe top", "seconds\na run",
    )  # fmt: skip
    for name, runs in done.runs.items():
        table.add_row(
            name,
            spread([run.mean_precision for run in runs], ".3f"),
            spread([run.held_out_precision for run in runs], ".3f"),
            spread([run.n_labels for run in runs], ",.0f"),
            spread([run.n_asked_below[-1] for run in runs], ",.0f"),
            f"{sum(run.seconds.sum() for run in runs) / len(runs):.2f}",
        )
    console.print()
    console.print(table)
    for line in legend(wanted):
        console.print(line, soft_wrap=True)
    for name, claim in done.claims.items():
        words = claim if isinstance(claim, str) else claim.in_words()
        console.print(f"{name}, first run, from its ledger alone: {words}", soft_wrap=True)


def legend(wanted: Simulation) -> Iterator[str]:
    """Say in a few lines how the table is read."""
    n_arriving = wanted.table.n_items - round(wanted.held_out * wanted.table.n_items)
    positives = float(wanted.labels.mean()) * n_arriving / wanted.n_batches
    yield (
        f"{wanted.table.source}: {wanted.table.n_items:,} items, {int(wanted.labels.sum()):,} positives; "
        f"{wanted.n_batches} batches of about {n_arriving // wanted.n_batches:,} rows and {positives:,.0f} positives"
    )
    n_predicted = min(wanted.k, n_arriving // wanted.n_batches)
    chance, best = float(wanted.labels.mean()), min(1.0, positives / n_predicted)
    yield f"precision at k   share of positives among the {n_predicted} rows predicted, mean over the batches from 2 on"
    yield f"                 (random choice: {chance:.3f}; at best about {best:.3f})"
    yield "held-out         the same for the last state, on rows that never arrived"
    budget = "no budget" if wanted.budget is None else f"budget {wanted.budget:,}"
    yield f"labels bought    of rows predicted and of rows below the top ({budget}); ± standard deviation over the runs"


def spread(values: Sequence[float], form: str) -> str:
    """Write mean and standard deviation; a dash where nothing could be measured.

    >>> spread([1.0, 3.0], ".1f"), spread([2.0], ".1f"), spread([float("nan")], ".1f")
    ('2.0 ± 1.0', '2.0', '-')
    """
    known = [float(value) for value in values if not math.isnan(value)]
    if not known:
        return "-"
    mean = sum(known) / len(known)
    if len(known) == 1:
        return f"{mean:{form}}"
    deviation = math.sqrt(sum((value - mean) ** 2 for value in known) / len(known))
    return f"{mean:{form}} ± {deviation:{form}}"


def write_simulation(done: Simulated, charts: tuple[Path, ...], json: Path | None) -> None:
    """Write every file that was asked for; each is whole or not there."""
    console = output.console()
    if charts:
        from riffler.evaluation.active_charts import active_runs_chart
        from riffler.evaluation.charts import save_chart

        title = f"Precision at {done.wanted.k} and its price: {done.wanted.table.source}"
        chart = active_runs_chart(done.runs, title, float(done.wanted.labels.mean()))
        for path in charts:
            save_chart(chart, path)
        console.print(f"chart written to {', '.join(map(str, charts))}", soft_wrap=True)
    if json is not None:
        output.write_json(json, as_json(done))
        console.print(f"results written to {json}", soft_wrap=True)


def as_json(done: Simulated) -> dict[str, object]:
    """Give the simulation as plain values."""
    from riffler import __version__

    wanted = done.wanted
    return {
        "riffler": __version__,
        "data": wanted.table.source,
        "n_items": wanted.table.n_items,
        "n_positive": int(wanted.labels.sum()),
        "k": wanted.k,
        "kernel": wanted.kernel,
        "floor": wanted.floor,
        "budget": wanted.budget,
        "n_batches": wanted.n_batches,
        "held_out": wanted.held_out,
        "seed": wanted.seed,
        "schemes": [
            {
                "scheme": scheme.name,
                "method": scheme.method,
                "sampler": scheme.sampler,
                "claim": _claim_as_json(done.claims.get(scheme.name)),
                "runs": [_run_as_json(wanted.seed + at, run) for at, run in enumerate(done.runs[scheme.name])],
            }
            for scheme in wanted.schemes
        ],
    }


def _run_as_json(seed: int, run: ActiveRun) -> dict[str, Any]:
    return {
        "seed": seed,
        "mean_precision": None if math.isnan(run.mean_precision) else run.mean_precision,
        "held_out_precision": None if math.isnan(run.held_out_precision) else run.held_out_precision,
        "precision": run.precision.tolist(),
        "n_asked": run.n_asked.tolist(),
        "n_asked_below": run.n_asked_below.tolist(),
        "seconds": run.seconds.tolist(),
    }


def _claim_as_json(claim: TopClaim | str | None) -> object:
    return claim if claim is None or isinstance(claim, str) else asdict(claim)
