"""``riffler simulate``: what a search would have cost, from labels that are known."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riffler.catalog import known_names
from riffler.cli import output
from riffler.cli.engine_options import EngineChoice, EngineName, TlsCa, TlsCert, TlsKey, chosen_engine
from riffler.cli.search_sources import Columns, Wanted, check_folder_options, problems_of
from riffler.cores import n_cores
from riffler.errors import EngineError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from riffler.evaluation.search_problem import Problem
    from riffler.evaluation.simulate import Plan, SearchRun
    from riffler.evaluation.stopping_replay import RuleSummary

EXAMPLES = """Examples:

riffler simulate review.csv --label label_included --runs 10 --report out.html

riffler simulate review.csv --policy greedy --policy thompson --stop control --stop knee --out runs --json results.json

riffler simulate reuters21578 --label-column labels --labels grain,crude --batch autotar

riffler simulate docstrings --label-column topic --labels numpy.linalg,scipy.stats --batch autotar --runs 3

riffler simulate demo --relevant-classes 3,5,8 --batch 10

riffler simulate mails.collection --batch autotar --budget 0.01 --runs 1 --engine dask://localhost:8786
"""

ALL = "all"
FILES_ONLY = "Not for a collection on disk."


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A finished simulation."""

    problems: Sequence[Problem]
    plan: Plan
    runs: Sequence[SearchRun]
    stopping: Mapping[str, Sequence[RuleSummary]]
    confidence: float


def simulate(
    docs: Annotated[
        str,
        typer.Argument(
            metavar="DOCS",
            help="Texts (CSV, TSV, XLSX, RIS, Parquet, JSON lines, a folder), a collection on disk (`riffler index`), "
            "rows of numbers (CSV, NPZ, svmlight), a name from `riffler datasets`, `docstrings` (texts) or `demo` "
            "(digits).",
        ),
    ],
    label: Annotated[
        str | None, typer.Option(help=f"The column with the labels (default: found by its name). {FILES_ONLY}")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="A column with several topics an item, joined by |: one search a topic.")
    ] = None,
    labels: Annotated[str, typer.Option(help="With --label-column: topics, separated by commas, or `all`.")] = ALL,
    min_relevant: Annotated[
        int, typer.Option(min=1, help="With --labels all: items that a topic must have at least.")
    ] = 50,
    relevant_classes: Annotated[
        str | None,
        typer.Option(help=f"Label values that are relevant, separated by commas; all others are not. {FILES_ONLY}"),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(help=f"COLUMN=VALUE: only rows with this value; may be repeated. {FILES_ONLY}")
    ] = None,
    title: Annotated[str | None, typer.Option(help=f"The column with the titles. {FILES_ONLY}")] = None,
    abstract: Annotated[str | None, typer.Option(help=f"The column with the abstracts. {FILES_ONLY}")] = None,
    text: Annotated[
        str | None, typer.Option(help=f"The column with the texts, where there are no abstracts. {FILES_ONLY}")
    ] = None,
    id: Annotated[
        str | None, typer.Option(help=f"The column with the ids; `content` makes them of the texts. {FILES_ONLY}")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help=f"Of a text file that is neither UTF-8, UTF-16 nor Windows-1252. {FILES_ONLY}")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(known_names('search policy'))}; may be repeated. Without it `default` runs, "
            "which is `greedy` where every item has usable words and something relevant is known."
        ),
    ] = None,
    stop: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(known_names('replayed stopping rule'))}, or `all` of them; may be repeated. The "
            "other rules need more than recorded answers. Not with --budget."
        ),
    ] = None,
    target: Annotated[
        list[float] | None, typer.Option(help="Recall that the stopping rules aim at; may be repeated (default: 0.95).")
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure a certificate shall be.")] = 0.95,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each policy, with seeds one after the other.")] = 10,
    batch: Annotated[str, typer.Option(help="Labels between two updates; `autotar` starts at 1 and grows.")] = "1",
    prior_relevant: Annotated[int, typer.Option(min=0, help="Relevant items known from the start.")] = 1,
    prior_irrelevant: Annotated[int, typer.Option(min=0, help="Irrelevant items known from the start.")] = 1,
    description: Annotated[str | None, typer.Option(help="What is sought, in a sentence.")] = None,
    budget: Annotated[
        float,
        typer.Option(
            help="Share of the collection after which a run ends, if it has not found everything. Not with --stop, "
            "whose rules need runs that did."
        ),
    ] = 1.0,
    clusters: Annotated[
        str | None,
        typer.Option(
            help=f"Soft clusters for `thompson`: lda, nmf or kmeans (default: lda, numbers kmeans). {FILES_ONLY}"
        ),
    ] = None,
    rescore_every: Annotated[
        int, typer.Option(min=1, help="Score everything at every so many updates only, and the best of it between.")
    ] = 1,
    candidates: Annotated[int, typer.Option(min=1, help="With --rescore-every: how many are scored between.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the first run.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=0, help="Processes that share the runs; 0 takes one a core, or 1 for one on disk.")
    ] = 0,
    engine: EngineName = "local",
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the runs: a killed simulation goes on there, a finished run is kept."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write tables and charts as one page (.html).")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the results as JSON; `-` prints them.")] = None,
) -> None:
    """Simulate searches on labelled data: what each recall costs, and where stopping rules would have ended.

    The live search is answered by the recorded labels and goes on until everything relevant is found. Labels count
    from the first prior on. Stopping rules are replayed over the finished runs.
    """
    from riffler.disk import is_collection
    from riffler.search.rescoring import Rescoring

    choice = chosen_engine(engine, tls_ca, tls_cert, tls_key)
    _check_targets(out, report, json)
    targets = tuple(dict.fromkeys(target or [0.95]))
    rules = _rules(stop or [], targets, confidence, budget)
    plan = replace(
        _plan(batch, prior_relevant, prior_irrelevant, description, budget),
        rescoring=Rescoring(rescore_every, candidates),
    )
    policies = _policies(policy or [])
    wanted = Wanted(
        classes=_listed("--relevant-classes", relevant_classes),
        topic_column=label_column,
        topics=None if labels == ALL else _listed("--labels", labels),
        min_relevant=min_relevant,
        where=tuple(_pair(one) for one in where or []),
    )
    if label_column is None and labels != ALL:
        raise InputError("--labels names topics of a column. Name the column as well (--label-column).")
    columns = Columns(title, abstract, text, id, label, encoding)
    with output.progress_bar() as tell, _folder(out) as folder, ExitStack() as stack:
        tell(0.0, "reading")
        if is_collection(docs):
            n_jobs = _jobs_on_disk(docs, jobs)
            problems = _problems_on_disk(docs, columns, wanted, policies, clusters, choice, stack)
        else:
            choice.check_for_file(docs)
            n_jobs = jobs or n_cores()
            found = problems_of(docs, columns, wanted)
            tell(0.0, "finding clusters")
            problems = _prepared(found, policies, clusters)
        try:
            done = _simulated(problems, policies, plan, folder, runs, seed, n_jobs, rules, targets, confidence, tell)
        except EngineError as error:
            raise EngineError(f"{error} {_what_is_left(out)}") from error
    _show(done, out, report, json)


def _what_is_left(out: Path | None) -> str:
    """Say what a simulation has that was ended in the midst of it."""
    if out is None:
        return "Nothing of this simulation was kept; with --out FOLDER one that was ended goes on where it was."
    return f"What was simulated is in {out}: the same command goes on there."


def _jobs_on_disk(docs: str, jobs: int) -> int:
    if jobs > 1:
        raise InputError(
            f"{docs} is a collection on disk, whose engine uses all cores: its runs go one after the other. Leave out "
            "--jobs."
        )
    return 1


def _problems_on_disk(
    docs: str, columns: Columns, wanted: Wanted, policies: list[str], clusters: str | None, choice: EngineChoice,
    stack: ExitStack,
) -> list[Problem]:  # fmt: skip
    """Open a collection on disk, and the engine that its runs share."""
    from riffler.disk import open_collection
    from riffler.engine import engine_from, rows_on_disk
    from riffler.evaluation.search_problem import disk_problems
    from riffler.search import policy_from
    from riffler.search.ground import check_clusters_on_disk

    check_folder_options(docs, columns, wanted)
    if clusters is not None:
        raise InputError(
            f"{docs} is a collection on disk, and its clusters are those that it was indexed with. Leave out "
            f"--clusters; `riffler reindex {docs} --clusters 200` finds others."
        )
    collection = open_collection(docs)
    for name in policies:
        check_clusters_on_disk(collection, policy_from(name))
    made = engine_from(choice.name, rows_on_disk(collection), choice.tls)
    stack.callback(made.close)
    return disk_problems(collection, made, wanted.topic_column, wanted.topics, wanted.min_relevant)


def _simulated(
    problems: Sequence[Problem], policies: list[str], plan: Plan, folder: Path, n_runs: int, seed: int, n_jobs: int,
    rules: list[str], targets: tuple[float, ...], confidence: float, tell: Callable[[float, str], None],
) -> Simulated:  # fmt: skip
    from riffler.evaluation import simulate as simulation
    from riffler.evaluation.search_report import recorded_orders
    from riffler.evaluation.stopping_replay import replay_rules

    end = 0.7 if rules else 1.0
    made = simulation.simulate(
        problems, policies, plan, folder, n_runs=n_runs, seed=seed, n_jobs=n_jobs, tell=output.stretch(tell, 0.0, end)
    )
    stopping: dict[str, list[RuleSummary]] = {}
    if rules:
        stopping = replay_rules(
            recorded_orders(made), rules, targets, confidence, n_jobs=n_jobs, tell=output.stretch(tell, end, 1.0)
        )
    return Simulated(problems, plan, made, stopping, confidence)


def _show(done: Simulated, out: Path | None, report: Path | None, json: Path | None) -> None:
    from riffler.cli.simulate_tables import print_simulation
    from riffler.evaluation.search_report import simulation_json

    found = simulation_json(done.problems, done.runs, done.plan, done.stopping, done.confidence)
    if out is None:  # the runs are gone with the folder they were in
        for row in _every_policy(found):
            row["ledgers"] = []
    if json == Path("-"):
        import json as plain

        typer.echo(plain.dumps(found, indent=2, allow_nan=False, ensure_ascii=False))
    else:
        print_simulation(done.problems, done.runs, done.plan, done.stopping)
    console = output.console()
    written = []
    if report is not None:
        from riffler.evaluation.search_page import write_page

        write_page(report, done.problems, done.runs, done.plan, done.stopping)
        written.append(f"report written to {report}")
    if json is not None and json != Path("-"):
        output.write_json(json, found)
        written.append(f"results written to {json}")
    if out is not None:
        written.append(f"runs kept in {out}")
    if json != Path("-"):
        for line in written:
            console.print(line, soft_wrap=True)


def _every_policy(found: dict[str, object]) -> Iterator[dict[str, object]]:
    groups = [found, *found["topics"].values()]  # type: ignore[attr-defined]
    for group in groups:
        yield from group["policies"].values()


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Give the folder of the runs: the one named, or one that goes away."""
    from tempfile import TemporaryDirectory

    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="riffler-") as folder:
        yield Path(folder)


def _prepared(problems: list[Problem], policies: list[str], clusters: str | None) -> list[Problem]:
    """Add soft clusters where a policy uses them."""
    from riffler.evaluation.search_problem import with_clusters
    from riffler.records import is_sparse
    from riffler.search import WITH_CLUSTERS

    if not any(one in WITH_CLUSTERS for one in policies):
        if clusters is not None:
            raise InputError(
                f"--clusters is for {', '.join(WITH_CLUSTERS)}, and no such policy is to run. Leave it out."
            )
        return problems
    return with_clusters(problems, clusters or ("lda" if is_sparse(problems[0].features) else "kmeans"))


def _policies(given: list[str]) -> list[str]:
    from riffler.search import POLICIES, policy_from

    names = list(dict.fromkeys(given or ["default" if "default" in POLICIES else "greedy"]))
    for name in names:
        policy_from(name)
    return names


def _rules(given: list[str], targets: tuple[float, ...], confidence: float, budget: float) -> list[str]:
    from riffler.evaluation.stopping_replay import REPLAYED, replayable

    for option, values in (("--target", targets), ("--confidence", (confidence,))):
        for value in values:
            if not 0 < value < 1:
                raise InputError(f"{option} must lie between 0 and 1, both excluded, got {value!r}.")
    names = list(dict.fromkeys(name for one in given for name in (REPLAYED if one == ALL else [one])))
    for name in names:
        replayable(name)
    if names and budget < 1:
        raise InputError("Stopping rules are replayed over runs that found everything. Leave out --budget or --stop.")
    return names


def _plan(batch: str, relevant: int, irrelevant: int, description: str | None, budget: float) -> Plan:
    from riffler.evaluation.simulate import AUTOTAR, Plan

    if batch != AUTOTAR and not batch.isdecimal():
        raise InputError(f"--batch must be a number of at least 1, or {AUTOTAR}, got {batch!r}.")
    return Plan(batch if batch == AUTOTAR else int(batch), relevant, irrelevant, description, budget)


def _listed(option: str, given: str | None) -> tuple[str, ...] | None:
    """Values separated by commas.

    >>> _listed("--labels", "grain, crude")
    ('grain', 'crude')
    """
    if given is None:
        return None
    values = tuple(one.strip() for one in given.split(",") if one.strip())
    if not values:
        raise InputError(f"{option} names no value, got {given!r}. Separate several by commas.")
    return values


def _pair(given: str) -> tuple[str, str]:
    column, equals, value = given.partition("=")
    if not equals or not column:
        raise InputError(f"--where must be COLUMN=VALUE, got {given!r}.")
    return column, value


def _check_targets(out: Path | None, report: Path | None, json: Path | None) -> None:
    """Refuse what could not be written, before any work is done."""
    if out is not None:
        output.check_target(out / "a run", "--out")
    if report is not None:
        output.check_target(report, "--report", (".html", ".htm"))
    if json is not None and json != Path("-"):
        output.check_target(json, "--json")
