"""``riffler reindex``: weigh the documents of a collection anew, and find its clusters anew."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from riffler.cli import output
from riffler.cli.engine_options import EngineName, TlsCa, TlsCert, TlsKey, chosen_engine
from riffler.cli.index import summary

EXAMPLES = """Examples:

riffler reindex mails.collection

riffler reindex mails.collection --clusters 200
"""


def reindex(
    collection: Annotated[Path, typer.Argument(metavar="COLLECTION", help="The folder that `riffler index` made.")],
    clusters: Annotated[
        int | None, typer.Option(min=0, help="Find so many soft clusters; 0 for none (default: as many as there are).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31, help="Seed of the clusters (default: the one before).")
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Threads; 0 takes one a core.")] = 0,
    engine: EngineName = "local",
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Count how rare each word is in all documents of a collection, weigh their rows by it, and find clusters anew.

    Ids and order stay. The new rows are written beside the old ones and take their place at once, whole or not at all;
    started again after whatever ended it, the same command goes on.
    """
    from riffler.disk import reindex_collection
    from riffler.engine import pool_from

    choice = chosen_engine(engine, tls_ca, tls_cert, tls_key)
    start = time.perf_counter()
    with output.progress_bar() as tell, pool_from(choice.name, choice.tls, jobs or None) as pool:
        made = reindex_collection(collection, n_clusters=clusters, seed=seed, n_jobs=jobs or None, pool=pool, tell=tell)
    for line in summary(made, collection, time.perf_counter() - start)[:1]:
        output.console().print(line, soft_wrap=True)
