"""``riffler index``: make a collection on disk, or add documents to one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riffler.cli import output
from riffler.cli.engine_options import EngineName, TlsCa, TlsCert, TlsKey, chosen_engine
from riffler.errors import InputError

if TYPE_CHECKING:
    from riffler.disk.manifest import Manifest
    from riffler.disk.settings import VectoriserSettings

LOOKED_AT = 1_000  # documents whose columns are looked at for labels that were not taken

EXAMPLES = """Examples:

riffler index mails/*.jsonl.gz --out mails.collection

riffler index export1.ris export2.ris --out review.collection --clusters 200

riffler index more.csv --out review.collection
"""


def index(
    docs: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCS",
            help="Texts: CSV, TSV, RIS, PubMed or JSON lines (also compressed), Parquet, XLSX, folders of text files, "
            "patterns such as 'mails/*.jsonl.gz', names from `riffler datasets`.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the collection; documents are added to one that is there.")],
    title: Annotated[str | None, typer.Option(help="The column with the titles.")] = None,
    abstract: Annotated[str | None, typer.Option(help="The column with the abstracts.")] = None,
    text: Annotated[str | None, typer.Option(help="The column with the texts, where there are no abstracts.")] = None,
    id: Annotated[str | None, typer.Option(help="The column with the ids; `content` makes them of the texts.")] = None,
    label: Annotated[str | None, typer.Option(help="The column with the labels (default: found by its name).")] = None,
    relevant_classes: Annotated[
        str | None,
        typer.Option(
            help="Label values that are relevant, separated by commas; all others are not. Of a field of several "
            "topics, such as earn|acq, one is enough."
        ),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of text files that are neither UTF-8, UTF-16 nor Windows-1252.")
    ] = None,
    bits: Annotated[
        int | None, typer.Option(help="Words are hashed into 2^BITS columns, from 8 to 24 (default: 18).")
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Pairs of neighbouring words count as well.")] = False,
    stop_words: Annotated[str | None, typer.Option(help="Words left out: english or none (default: english).")] = None,
    clusters: Annotated[int | None, typer.Option(min=0, help="Find so many soft clusters.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the clusters.")] = 0,
    partition: Annotated[int, typer.Option(min=1, help="Documents of a partition, at most.")] = 100_000,
    jobs: Annotated[int, typer.Option(min=0, help="Threads; 0 takes one a core.")] = 0,
    engine: EngineName = "local",
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Index documents into a collection on disk, in bounded memory: 10 million of them on one machine.

    Started again after whatever ended it, the same command goes on. Documents that are added are weighed as those that
    are there; `riffler reindex` counts anew. All of them are seen at the end, or none. Texts are read and counted here;
    with --engine dask://host:port its workers, which must see the folder, weigh partitions and put them into clusters.
    """
    from riffler.data.folder import MANIFEST
    from riffler.disk import IndexOptions, WantedColumns, index_collection
    from riffler.disk.manifest import read_manifest
    from riffler.engine import pool_from

    classes = None
    if relevant_classes is not None:
        classes = tuple(one.strip() for one in relevant_classes.split(",") if one.strip())
        if not classes:
            raise InputError(
                f"--relevant-classes names no value, got {relevant_classes!r}. Separate several by commas."
            )
    options = IndexOptions(
        columns=WantedColumns(title, abstract, text, id, label, classes),
        vectoriser=_vectoriser(bits, pairs, stop_words),
        encoding=encoding,
        n_clusters=clusters,
        seed=seed,
        n_items=partition,
    )
    choice = chosen_engine(engine, tls_ca, tls_cert, tls_key)
    before = read_manifest(out) if (out / MANIFEST).exists() else None
    start = time.perf_counter()
    with output.progress_bar() as tell, pool_from(choice.name, choice.tls, jobs or None) as pool:
        made = index_collection(
            [_file_of(name) for name in docs], out, options, n_jobs=jobs or None, pool=pool, tell=tell
        )
    for line in summary(made, out, time.perf_counter() - start, before):
        output.console().print(line, soft_wrap=True)
    if before is None and not made.has_labels:
        for line in labels_not_taken(out):
            output.console().print(line, soft_wrap=True, markup=False)


def labels_not_taken(folder: Path) -> list[str]:
    """Say which columns look like labels, by the first documents: they could be taken from the start only."""
    import numpy as np

    from riffler.data.likely_labels import likely_labels
    from riffler.disk import open_collection

    collection = open_collection(folder)
    n = min(LOOKED_AT, collection.n_items)
    found = likely_labels(collection.columns(np.arange(n)))
    return [
        f"  {name}: {n_values:,} different values in the first {n:,} documents, not taken as labels; index into a new "
        f"folder with --label {name} --relevant-classes ... to take them"
        for name, n_values in found.items()
    ]


def summary(made: Manifest, folder: Path, seconds: float, before: Manifest | None = None) -> list[str]:
    """Say what a collection holds now, what came to it, and which column was taken for what."""
    n_bytes, n_parts = sum(entry.n_bytes for entry in made.all_files()), len(made.partitions)
    kind = f"{made.clusters['n_clusters']:,} clusters, " if made.clusters else ""
    lines = [
        f"{folder}: {made.n_items:,} documents in {n_parts:,} partition{'s' * (n_parts != 1)}, "
        f"{made.vectoriser.n_columns:,} columns, {kind}{n_bytes / 1e6:,.1f} MB ({seconds:,.1f} s)."
    ]
    if before is not None and made.generation == before.generation:
        return [
            *lines,
            "  Nothing is new: all documents of what was named are there already, with the columns taken then.",
        ]
    if before is not None:
        lines.append(f"  {made.n_items - before.n_items:,} documents are new")
    new = made.sources[0 if before is None else len(before.sources) :]
    taken: dict[str, list[str]] = {}
    for source in new:
        parts = source["parts"]
        told = "no rows" if parts is None else ", ".join(f"{part}: {name}" for part, name in parts.items() if name)
        taken.setdefault(told, []).append(str(source["path"]))
    for told, paths in taken.items():
        more = f" and {len(paths) - 3:,} more" if len(paths) > 3 else ""
        lines.append(f"  {', '.join(paths[:3])}{more}: {told}")
    lines += [
        f"  {source['path']}: documents that were there before and stay as they were: {source['n_known']:,}"
        for source in new
        if source.get("n_known")
    ]
    if not any(partition.n_entries for partition in made.partitions):
        lines.append(
            "  No document has a word that counts. Were the right columns taken (--title, --abstract, --text)?"
        )
    if n_cut := sum(partition.n_cut for partition in made.partitions):
        most = f"{made.vectoriser.most_bytes / 1e6:g} MB"
        told = "1 document is" if n_cut == 1 else f"{n_cut:,} documents are"
        lines.append(f"  {told} longer than {most}: of such a one the first {most} count, and all of it is kept")
    if made.has_labels:
        relevant, irrelevant, unknown = (sum(one.labels[kind] for one in made.partitions) for kind in range(3))
        lines.append(f"  labels: {relevant:,} relevant, {irrelevant:,} irrelevant, {unknown:,} not known")
    return lines


def _vectoriser(bits: int | None, pairs: bool, stop_words: str | None) -> VectoriserSettings | None:
    from riffler.disk.settings import N_BITS, VectoriserSettings

    if bits is None and not pairs and stop_words is None:
        return None
    return VectoriserSettings(N_BITS if bits is None else bits, pairs, stop_words or "english")


def _file_of(name: str) -> str:
    """The file of a public data set, or the name itself."""
    from riffler.data.known import dataset, find_parts
    from riffler.data.public import names

    if Path(name).exists() or name not in names() or dataset(name).task != "text":
        return name
    return str(find_parts(dataset(name), ("all",), None)["all"])
