"""``riffler tag``: learn to tag tokens from a CoNLL file, measure the chunks found, write what was learned."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riffler.cli import output, tag_sources
from riffler.cli.tag_tables import chunk_table, counted, in_words, measures, why_no_chunks
from riffler.errors import InputError

if TYPE_CHECKING:
    from riffler.cli.tag_sources import Parts
    from riffler.evaluation.tagging_report import TaggingReport, Tried
    from riffler.learners.chain_tagger import ChainTagger
    from riffler.structured.convergence import Turn

EXAMPLES = """Examples:

riffler tag train.conll --test test.conll --json results.json

riffler tag train.conll --columns word,pos --c auto --out tagger.joblib

riffler tag conll2000 --chart convergence.html
"""
MODEL_ENDINGS = (".joblib", ".pkl", "")
AUTO, DEFAULT_C = "auto", "500"


@dataclass(frozen=True, slots=True)
class Targets:
    """The files asked for."""

    model: Path | None
    predictions: Path | None
    charts: tuple[Path, ...]
    json: Path | None

    def check(self) -> None:
        """Refuse what could not be written, before any work is done."""
        from riffler.evaluation.charts import chart_ending

        for chart in self.charts:
            chart_ending(chart)
            output.check_target(chart, "--chart")
        if self.model is not None:
            output.check_target(self.model, "--out", MODEL_ENDINGS)
        if self.predictions is not None:
            output.check_target(self.predictions, "--predictions")
        if self.json is not None:
            output.check_target(self.json, "--json")


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One finished run: what was learned from, what was tagged, how good it is (None where test tags are unknown)."""

    parts: Parts
    seed: int
    tagger: ChainTagger
    tried: list[Tried]
    predicted: list[list[str]]
    report: TaggingReport | None
    seconds: float


def tag(
    train: Annotated[
        str,
        typer.Argument(
            metavar="TRAIN",
            help="A CoNLL file: a token a line, its tag last, a blank line after each sentence (also compressed); "
            "or a name from `riffler datasets` such as conll2000.",
        ),
    ],
    test: Annotated[
        Path | None, typer.Option(help="A file to tag and measure on; without it a tenth of TRAIN is held out.")
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(help="A file with the features of a token, a line each, such as `word[-1] + word[0]`."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Names of the columns before the tag, such as word,pos, of letters, digits and _ (default: "
            "word,pos,chunk,...)."
        ),
    ] = None,
    c: Annotated[
        str,
        typer.Option(
            "--c", help="Weight of the mean loss of a sentence; `auto` tries several on a tenth of TRAIN, held out."
        ),
    ] = DEFAULT_C,
    tol: Annotated[float, typer.Option(help="Stop when the gap is this share of the objective.")] = 0.01,
    miss_cost: Annotated[
        str,
        typer.Option(
            help="What it costs to say O where another tag is true (other mistakes: 1); `auto` is the root of the O "
            "tokens for one other, from 1 to 4."
        ),
    ] = AUTO,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out features of fewer tokens.")] = 1,
    comment: Annotated[
        str | None, typer.Option(help="Pass over lines that begin so before a sentence, such as '# '.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the tagger (joblib; load it only from those you trust).")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Write the sentences of the test file with the predicted tags as an extra last column."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the results as JSON; chunk_f1 and the other shares are from 0 to 1.")
    ] = None,
    chart: Annotated[
        list[Path] | None,
        typer.Option(help="Write how the gap closed while learning (.html, .json, .png, .svg); may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    resamples: Annotated[int, typer.Option(min=20, help="Bootstrap resamples behind the intervals.")] = 1000,
) -> None:
    """Learn to tag tokens (named entities, phrases, parts of speech); measure precision, recall and F1 of the chunks.

    A structural SVM on chains: features of each token by a template, and the tag before. Chunks of B-, I- and O are
    counted as conlleval counts them (BIOES and BILOU are read too); intervals are over resampled sentences.
    """
    from riffler.learners.chain_tagger import ChainTagger

    targets = Targets(out, predictions, tuple(chart or ()), json)
    targets.check()
    C, cost = number_or_auto("--c", c), number_or_auto("--miss-cost", miss_cost)
    lines = None if template is None else tag_sources.read_template(template)
    names = tag_sources.parse_columns(columns)
    parts = tag_sources.train_and_test(train, test, names, comment, seed)
    tagger = ChainTagger(
        lines,
        tol=tol,
        miss_cost=AUTO if cost is None else cost,
        min_count=min_count,
        columns=parts.train.columns,
        random_state=seed,
    )
    run = learn_and_measure(tagger, C, parts, seed, resamples)
    print_run(run)
    write_files(run, targets)


def number_or_auto(option: str, text: str) -> float | None:
    """Read a number above 0; None stands for auto.

    >>> number_or_auto("--c", "100"), number_or_auto("--c", "auto")
    (100.0, None)
    """
    if text == AUTO:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(f"{option} {text}: expected a number above 0, or {AUTO}.")
    return number


def learn_and_measure(tagger: ChainTagger, C: float | None, parts: Parts, seed: int, resamples: int) -> Run:
    """Choose C if it is to be chosen, fit, tag the test part, and measure where its tags are known."""
    from riffler.evaluation.tagging_report import choose_c, tagging_report

    tried: list[Tried] = []
    with output.progress_bar() as progress:
        if C is None:
            C, tried = choose_c(tagger, parts.train, seed=seed, tell=output.stretch(progress, 0.0, 0.6))
        fitting = output.stretch(progress, 0.6 if tried else 0.0, 0.95)
        fitting(0.0, "making features")
        tagger.set_params(C=C, progress=closing_gap(fitting, tagger.tol))
        start = time.perf_counter()
        tagger.fit(parts.train.sentences, parts.train.tags or [])
        seconds = time.perf_counter() - start
        tagger.set_params(progress=None)
        progress(0.95, "tagging")
        tag_sources.warn_of_tags_as_columns(parts.test, tagger.labels_)
        predicted = tagger.predict(parts.test.sentences)
        true = parts.test.tags
        report = (
            None if true is None else tagging_report(true, predicted, tagger.labels_, n_resamples=resamples, seed=seed)
        )
    return Run(parts, seed, tagger, tried, predicted, report, seconds)


def closing_gap(tell: Callable[[float, str], None], tol: float) -> Callable[[Turn], None]:
    """Give a function that shows the gap of each turn; the bar goes by its order of magnitude.

    >>> from riffler.structured.convergence import Turn
    >>> closing_gap(lambda share, doing: print(f"{share:.2f}", doing), 0.01)(Turn(50, 0.1, primal=1.0, dual=0.9))
    0.50 gap 10.00 % of the objective, after 50 visits of sentences
    """

    def show(turn: Turn) -> None:
        gap = turn.gap / max(turn.primal, 1e-300)
        share = math.log(min(1.0, max(gap, tol))) / math.log(tol) if tol < 1 else 1.0
        tell(share, f"gap {100 * gap:.2f} % of the objective, after {turn.oracle_calls:,} visits of sentences")

    return show


def print_run(run: Run) -> None:
    """Print what was done and the table of chunks."""
    console = output.console()
    train, test = run.parts.train, run.parts.test
    features = counted(run.tagger.features_.n_features_, "feature")
    console.print(f"train  {in_words(train)}, {tag_sources.columns_in_words(train)}, {features}", soft_wrap=True)
    console.print(f"test   {in_words(test)}, {tag_sources.columns_in_words(test)} ({run.parts.split})", soft_wrap=True)
    last = run.tagger.turns_[-1]
    gap = f"gap {100 * last.gap / max(last.primal, 1e-300):.2f} % of the objective"
    settings = f"C = {run.tagger.C:g}, a miss costs {run.tagger.miss_cost_:.3g}"
    console.print(f"       {settings}, {gap}, {run.seconds:.1f} s", soft_wrap=True)
    for trial in run.tried:
        console.print(
            f"       C = {trial.C:g}: {trial.score:.4f} on a tenth of the sentences, held out", soft_wrap=True
        )
    if run.report is None:
        console.print("       no tags in the test part: tagged, not measured", soft_wrap=True)
        return
    if run.report.overall is not None:
        console.print(chunk_table([run.report.overall, *run.report.by_type]))
    if (reason := why_no_chunks(run.report, run.tagger.labels_)) is not None:
        console.print(reason, soft_wrap=True)
    console.print(f"token accuracy {run.report.token_accuracy:.4f}")


def write_files(run: Run, targets: Targets) -> None:
    """Write every file that was asked for; each is whole or not there."""
    from riffler.data.conll import write_conll

    console = output.console()
    if targets.model is not None:
        import joblib  # type: ignore[import-untyped]

        with output.written(targets.model) as draft:
            joblib.dump(run.tagger, draft, compress=1)  # most weights are 0
        console.print(f"tagger written to {targets.model}", soft_wrap=True)
    if targets.predictions is not None:
        targets.predictions.parent.mkdir(parents=True, exist_ok=True)
        write_conll(targets.predictions, run.parts.test, run.predicted)
        console.print(f"predicted tags written to {targets.predictions}", soft_wrap=True)
    if targets.charts:
        draw(run, targets.charts)
        console.print(f"chart written to {', '.join(map(str, targets.charts))}", soft_wrap=True)
    if targets.json is not None:
        output.write_json(targets.json, as_json(run))
        console.print(f"results written to {targets.json}", soft_wrap=True)


def draw(run: Run, paths: tuple[Path, ...]) -> None:
    """Draw how the gap closed."""
    from riffler.evaluation.charts import save_chart
    from riffler.evaluation.convergence_chart import convergence_chart

    title = f"Gap while learning: {Path(run.parts.train.source).name}"
    chart = convergence_chart({"block descent": run.tagger.turns_}, title, tol=run.tagger.tol)
    for path in paths:
        save_chart(chart, path)


def as_json(run: Run) -> dict[str, object]:
    """Give the run as plain values; all shares are from 0 to 1."""
    from riffler import __version__

    last = run.tagger.turns_[-1]
    return {
        "riffler": __version__,
        "train": in_words(run.parts.train),
        "test": in_words(run.parts.test),
        "split": run.parts.split,
        "columns": list(run.parts.train.columns),
        "n_features": run.tagger.features_.n_features_,
        "n_labels": len(run.tagger.labels_),
        "C": run.tagger.C,
        "miss_cost": run.tagger.miss_cost_,
        "tried": [asdict(trial) for trial in run.tried],
        "seed": run.seed,
        **measures(run.report),
        "seconds": run.seconds,
        "gap": last.gap / max(last.primal, 1e-300),
        "primal": last.primal,
        "dual": last.dual,
        "oracle_calls": last.oracle_calls,
        "turns": [asdict(turn) for turn in run.tagger.turns_],
    }
