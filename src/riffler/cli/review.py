"""``riffler review``: read a collection in the browser, the most promising documents first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riffler.catalog import known_names
from riffler.cli import output
from riffler.cli.engine_options import EngineName, TlsCa, TlsCert, TlsKey, chosen_engine
from riffler.cli.review_source import Asked, check_engine_for, review_file
from riffler.cli.search_sources import Columns
from riffler.errors import InputError

EXAMPLES = """Examples:

riffler review papers.ris --description "nurses and burnout"

riffler review export.csv --title Titel --abstract Zusammenfassung --target 0.9

riffler review papers.riffler

riffler review papers.zip --file papers-of-anna.riffler

riffler review mails.collection --description "price of gas" --engine dask://localhost:8786
"""


def review(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Texts (CSV, TSV, XLSX, RIS, PubMed, Parquet, JSON lines, a folder), a collection on disk (`riffler "
            "index`), a review that was begun (.riffler), an archive of one (.zip), a name from `riffler datasets`, or "
            "`docstrings`.",
        ),
    ],
    file: Annotated[
        Path | None, typer.Option(help="The file of the review (default: beside SOURCE, with the ending .riffler).")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; if taken, the next free one.")] = 8765,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own lets others reach the page.")
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None, typer.Option(help="With --host: a name by which others call this machine; may be repeated.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    once: Annotated[
        bool, typer.Option("--once", help="Fetch the first document from the page, print its title, and end.")
    ] = False,
    title: Annotated[str | None, typer.Option(help="The column with the titles.")] = None,
    abstract: Annotated[str | None, typer.Option(help="The column with the abstracts.")] = None,
    text: Annotated[str | None, typer.Option(help="The column with the texts, where there are no abstracts.")] = None,
    id: Annotated[str | None, typer.Option(help="The column with the ids; `content` makes them of the texts.")] = None,
    label: Annotated[str | None, typer.Option(help="The column with labels that are known.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of a text file that is neither UTF-8, UTF-16 nor Windows-1252.")
    ] = None,
    ignore_labels: Annotated[
        bool, typer.Option("--ignore-labels", help="Begin without the labels of the file.")
    ] = False,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Ask for every copy of a document.")
    ] = False,
    description: Annotated[str | None, typer.Option(help="What is sought, in a sentence.")] = None,
    criteria: Annotated[str | None, typer.Option(help="When a document is relevant; the page shows it.")] = None,
    target: Annotated[float | None, typer.Option(help="Recall that is wanted (default: 0.95).")] = None,
    confidence: Annotated[float | None, typer.Option(help="How sure a certificate shall be (default: 0.95).")] = None,
    stop: Annotated[
        str | None, typer.Option(help=f"{', '.join(known_names('stopping rule'))} (default: control).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31, help="Of everything that is random (default: 0).")
    ] = None,
    rescore_every: Annotated[
        int | None,
        typer.Option(
            min=1, help="Score everything at every so many updates only, and the best of it between (default: 1)."
        ),
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="With --rescore-every: how many are scored between (default: 10000).")
    ] = None,
    engine: EngineName = "local",
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Review a collection in the browser: read, judge, and see when enough was found.

    Everything is kept in one file. Given again, a review goes on where it ended.
    """
    choice = chosen_engine(engine, tls_ca, tls_cert, tls_key)
    settings = {
        "description": description, "criteria": criteria, "target": target, "confidence": confidence,
        "stopping": stop, "seed": seed, "rescore_every": rescore_every, "candidates": candidates,
    }  # fmt: skip
    asked = Asked(
        Columns(title, abstract, text, id, label, encoding),
        {name: value for name, value in settings.items() if value is not None},
        keep_duplicates,
        ignore_labels,
    )
    if ignore_labels and label is not None:
        raise InputError("--label names labels, --ignore-labels leaves them out. Use one of them.")
    check_engine_for(source, choice)
    console = output.console()
    with output.progress_bar() as tell:
        made = review_file(source, file, asked, lambda words: console.print(words, soft_wrap=True, markup=False), tell)

    from riffler.cli.review_page import Page

    page = Page(made, host, port, tuple(name.lower() for name in allow_host or ()), choice.arguments())
    if once:
        page.show_once()
    elif browser:
        page.show_in_browser()
    else:
        page.show()
