"""``riffler rank``: learn to rank the top, measure it beside logistic regression, write what was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riffler.catalog import known_names
from riffler.cli import output, rank_tables, sources
from riffler.cli.engine_options import EngineChoice, EngineName, TlsCa, TlsCert, TlsKey, chosen_engine
from riffler.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from riffler.data.table import Table
    from riffler.evaluation.comparison import ScoredMethod
    from riffler.evaluation.query_report import QueryReport
    from riffler.evaluation.ranking_report import RankingReport

DEFAULT_K = "0.25"
MODEL_ENDINGS = (".joblib", ".pkl", "")


class Kernel(StrEnum):
    """How scores depend on the features."""

    linear = "linear"
    rbf = "rbf"


@dataclass(frozen=True, slots=True)
class Targets:
    """The files asked for."""

    model: Path | None
    ranked: Path | None
    charts: tuple[Path, ...]
    pairs_charts: tuple[Path, ...]
    json: Path | None

    def check(self) -> None:
        """Refuse what could not be written, before any work is done."""
        from riffler.evaluation.charts import chart_ending

        for option, charts in (("--chart", self.charts), ("--pairs-chart", self.pairs_charts)):
            for chart in charts:
                chart_ending(chart)
                output.check_target(chart, option)
        if self.model is not None:
            output.check_target(self.model, "--out", MODEL_ENDINGS)
        if self.ranked is not None:
            output.check_target(self.ranked, "--ranked", (".csv",))
        if self.json is not None:
            output.check_target(self.json, "--json")


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One finished run: what was learned from, what was scored, how good it is (None where test labels are unknown)."""

    train: Table
    test: Table
    split: str
    k: int | float
    kernels: tuple[str, ...]
    seed: int
    scored: list[ScoredMethod]
    report: RankingReport | QueryReport | None


def rank(
    train: Annotated[
        str,
        typer.Argument(
            metavar="TRAIN",
            help="A file (CSV, TSV, Parquet, NPZ, svmlight), a collection on disk (`riffler index`), a name from "
            "`riffler datasets`, or `demo`.",
        ),
    ],
    test: Annotated[
        Path | None,
        typer.Option(
            help="A file to rank and measure on, one of texts for a collection on disk; without it 30 % of TRAIN is "
            "held out, stratified."
        ),
    ] = None,
    k: Annotated[
        str, typer.Option("-k", "--k", help="How long the top is: `50` items, or `0.25` of the positives.")
    ] = DEFAULT_K,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(known_names('ranker'))}; for the whole order: {', '.join(known_names('pair ranker'))}; "
            "logistic: the baseline alone. May be given several times (default: top-k)."
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(help="The column with the labels.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="The label value to find; all others are negative. Of earn|acq one is enough.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the first method's model (joblib; load it only from those you trust).")
    ] = None,
    ranked: Annotated[
        Path | None, typer.Option(help="Write the test items as the first method ranks them (.csv).")
    ] = None,
    chart: Annotated[
        list[Path] | None, typer.Option(help="Write the precision chart (.html, .json, .png, .svg); may be repeated.")
    ] = None,
    pairs_chart: Annotated[
        list[Path] | None,
        typer.Option(help="Write AUC against pairs and against time (.html, .json, .png, .svg); may be repeated."),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the results as JSON.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    kernel: Annotated[
        list[Kernel] | None,
        typer.Option(help="For methods that offer it; may be repeated to see both (default: linear)."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap resamples behind the intervals.")] = 500,
    engine: EngineName = "local",
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Learn a ranking whose top k is right, and measure it beside logistic regression in the same run.

    Dense columns are standardised on the train part; sparse ones are used as they are. In a file with query ids, rows
    are ranked and measured query by query: rankers of the whole order learn from pairs within queries. The rows of a
    collection on disk stay there: top-k, sgd-at-k and ranksvm learn from them a block at a time, and an engine fits the
    logistic regression.
    """
    choice = chosen_engine(engine, tls_ca, tls_cert, tls_key)
    wanted = parse_k(k)
    targets = Targets(out, ranked, tuple(chart or ()), tuple(pairs_chart or ()), json)
    targets.check()
    train_part, test_part, split, logistic = parts_of(train, test, label, positive, seed, choice, targets)
    if test_part.qid is not None:
        wanted = first_of_each_query(k)
    check_test(test_part, wanted, targets)
    kernels = tuple(dict.fromkeys(one.value for one in kernel or [Kernel.linear]))
    run = train_and_measure(
        train_part, test_part, split, method or ["top-k"], wanted, kernels, seed, resamples, logistic
    )
    print_run(run)
    write_files(run, targets, resamples)


def parts_of(
    train: str, test: Path | None, label: str | None, positive: str | None, seed: int, choice: EngineChoice,
    targets: Targets,
) -> tuple[Table, Table, str, Callable[[], ScoredMethod] | None]:  # fmt: skip
    """Give the train and the test part, in words where that is from, and for one on disk how its baseline is made."""
    from riffler.disk import is_collection
    from riffler.evaluation.folder_parts import folder_parts

    if not is_collection(train):
        choice.check_for_file(train)
        return *sources.train_and_test(train, test, label, positive, seed), None
    if targets.pairs_charts:
        raise InputError(f"{train} is a collection on disk, and --pairs-chart is for files. Leave it out.")
    parts = folder_parts(train, test, label, positive, seed)
    return parts.train, parts.test, parts.split, parts.logistic(choice.name, choice.tls)


def parse_k(text: str) -> int | float:
    """Read "50" as a number of items and "0.25" as a share of the positives.

    >>> parse_k("50"), parse_k("0.25"), parse_k("1"), parse_k("1.0")
    (50, 0.25, 1, 1.0)
    """
    from riffler.metrics.at_k import check_k

    try:
        k = int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise InputError(f"-k {text}: expected a number of items such as 50, or a share such as 0.25.") from None
    check_k(k)
    return k


def first_of_each_query(text: str) -> int:
    """How many of the first items of a query are looked at: a whole number, 10 where nothing was said.

    >>> first_of_each_query(DEFAULT_K), first_of_each_query("5")
    (10, 5)
    """
    from riffler.evaluation.query_report import FIRST

    k = FIRST if text == DEFAULT_K else parse_k(text)
    if not isinstance(k, int):
        raise InputError(f"-k {text}: in a file with query ids, k is the number of first items looked at, such as 10.")
    return k


def check_test(test: Table, k: int | float, targets: Targets) -> None:
    """Refuse a test part that could not be measured as asked, before any work is done."""
    from riffler.evaluation.comparison import binary_labels_of, grades_of
    from riffler.metrics import resolve_k

    if test.y is not None and test.qid is not None:
        grades_of(test)
    elif test.y is not None:
        n_top = resolve_k(k, int(binary_labels_of(test).sum()))
        if n_top > test.n_items:
            raise InputError(
                f"-k {k} asks for more items than the {test.n_items:,} of the test part. Pass a smaller k."
            )
    elif targets.charts or targets.pairs_charts:
        option = "--chart" if targets.charts else "--pairs-chart"
        raise InputError(f"{test.source}: a chart needs labels in the test part. Leave {option} out.")


def train_and_measure(
    train: Table,
    test: Table,
    split: str,
    methods: list[str],
    k: int | float,
    kernels: tuple[str, ...],
    seed: int,
    resamples: int,
    logistic: Callable[[], ScoredMethod] | None = None,
) -> Run:
    """Fit all methods, score the test part and measure the rankings where its labels are known."""
    from riffler.evaluation.comparison import BASELINE, compare
    from riffler.evaluation.query_report import query_report
    from riffler.evaluation.ranking_report import ranking_report

    with output.progress_bar() as progress:
        fitting, measuring = output.stretch(progress, 0.0, 0.8), output.stretch(progress, 0.8, 1.0)
        scored = compare(methods, train, test, k=k, kernels=kernels, seed=seed, logistic=logistic, progress=fitting)
        report: RankingReport | QueryReport | None = None
        scores = {one.method: one.scores for one in scored}
        if test.y is not None and test.qid is not None:
            measuring(0.0, "resampling")
            report = query_report(test.y, scores, test.qid, int(k), baseline=BASELINE, n_resamples=resamples, seed=seed)
        elif test.y is not None:
            report = ranking_report(
                test.y, scores, k, baseline=BASELINE, n_resamples=resamples, seed=seed, progress=measuring
            )
    return Run(train, test, split, k, kernels, seed, scored, report)


def print_run(run: Run) -> None:
    """Print what was done and the table of measures."""
    console = output.console()
    console.print(f"train  {in_words(run.train)}", soft_wrap=True)
    console.print(f"test   {in_words(run.test)} ({run.split})", soft_wrap=True)
    if run.report is None:
        console.print("       no labels in the test part: ranked, not measured", soft_wrap=True)
        return
    table, legend = rank_tables.of(run.report)
    console.print(table)
    for line in legend:
        console.print(line, soft_wrap=True)


def in_words(part: Table) -> str:
    """Say how many items, positives (or queries) and features a table has."""
    positives = "" if part.y is None else f", {int(part.y.sum()):,} positives"
    if part.qid is not None:
        positives = f" of {len(set(part.qid.tolist())):,} queries"
    return f"{part.source}: {part.n_items:,} items{positives}, {part.n_features:,} features"


def write_files(run: Run, targets: Targets, resamples: int) -> None:
    """Write every file that was asked for; each is whole or not there."""
    console = output.console()
    first = run.scored[0]
    if targets.model is not None:
        import joblib  # type: ignore[import-untyped]

        with output.written(targets.model) as draft:
            joblib.dump(first.model, draft)
        console.print(f"model of {first.method} written to {targets.model}", soft_wrap=True)
    if targets.ranked is not None:
        write_ranked(targets.ranked, run.test, first)
        console.print(
            f"{run.test.n_items:,} items as {first.method} ranks them written to {targets.ranked}", soft_wrap=True
        )
    if targets.charts:
        draw(run, targets.charts, resamples)
        console.print(f"chart written to {', '.join(map(str, targets.charts))}", soft_wrap=True)
    if targets.pairs_charts:
        draw_pairs(run, targets.pairs_charts)
        console.print(f"chart of pairs written to {', '.join(map(str, targets.pairs_charts))}", soft_wrap=True)
    if targets.json is not None:
        output.write_json(targets.json, as_json(run))
        console.print(f"results written to {targets.json}", soft_wrap=True)


def write_ranked(path: Path, test: Table, one: ScoredMethod) -> None:
    """Write rank, id, score and, where known, label; items of equal score are put in the order of their ids.

    Items of queries are ranked query by query.
    """
    import numpy as np
    import polars as pl

    qid = np.zeros(test.n_items, np.int64) if test.qid is None else test.qid
    ids = np.asarray(test.ids)
    order = np.lexsort((ids, -one.scores, qid))
    starts = np.flatnonzero(np.diff(qid[order], prepend=qid[order[0]] - 1))
    before = np.repeat(starts, np.diff(starts, append=len(order)))
    columns: dict[str, Any] = {} if test.qid is None else {"qid": qid[order]}
    columns |= {"rank": np.arange(1, len(order) + 1) - before, "id": ids[order], "score": one.scores[order]}
    if test.y is not None:
        columns["label"] = test.y[order]
    with output.written(path) as draft:
        pl.DataFrame(columns).write_csv(draft)


def draw(run: Run, paths: tuple[Path, ...], resamples: int) -> None:
    """Draw precision along the ranking of every method; of queries, NDCG along their first items."""
    from riffler.evaluation.charts import precision_at_k_chart, save_chart
    from riffler.evaluation.precision_curve import precision_curve
    from riffler.evaluation.query_charts import ndcg_chart

    if run.test.y is None or run.report is None:
        return
    if run.test.qid is not None:
        scores = {one.method: one.scores for one in run.scored}
        chart = ndcg_chart(run.test.y, scores, run.test.qid, run.report.n_top, f"NDCG of queries: {run.test.source}")
    else:
        curves = [
            precision_curve(one.method, run.test.y, one.scores, n_resamples=min(resamples, 200), seed=run.seed)
            for one in run.scored
        ]
        chart = precision_at_k_chart(curves, run.report.n_top, f"Precision along the ranking: {run.test.source}")
    for path in paths:
        save_chart(chart, path)


def draw_pairs(run: Run, paths: tuple[Path, ...]) -> None:
    """Draw AUC along the way of learning from pairs."""
    from riffler.evaluation.charts import save_chart
    from riffler.evaluation.pair_curve import pair_chart, pair_curves

    with output.progress_bar() as progress:
        curves = pair_curves(run.train, run.test, seed=run.seed, progress=progress)
    chart = pair_chart(curves, f"AUC from a few pairs: {run.test.source}")
    for path in paths:
        save_chart(chart, path)


def as_json(run: Run) -> dict[str, object]:
    """Give the run as plain values."""
    from riffler import __version__

    report = {} if run.report is None else asdict(run.report)
    rows = report.pop("rows", [{"method": one.method} for one in run.scored])
    methods = [{**row, "seconds": one.seconds} for row, one in zip(rows, run.scored, strict=True)]
    return {
        "riffler": __version__,
        "train": in_words(run.train),
        "test": in_words(run.test),
        "split": run.split,
        "k": run.k,
        "kernels": list(run.kernels),
        "seed": run.seed,
        **report,
        "methods": methods,
    }
