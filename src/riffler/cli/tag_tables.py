"""How ``riffler tag`` says what was found: numbers in words, the table of chunks, plain values for JSON."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from riffler.cli import output

if TYPE_CHECKING:
    from rich.table import Table

    from riffler.data.conll import TaggedText
    from riffler.evaluation.tagging_report import ChunkRow, TaggingReport

TABLE_COLUMNS = ("true", "found", "precision", "recall", "F1", "95 % of F1")


def chunk_table(rows: list[ChunkRow]) -> Table:
    """Make the table of chunks."""
    table = output.table("Chunks, with the middle 95 % over resampled sentences", "type", *TABLE_COLUMNS)
    for row in rows:
        interval = f"{row.f1.low:.4f} to {row.f1.high:.4f}"
        shares = f"{row.precision:.4f}", f"{row.recall:.4f}", f"{row.f1.value:.4f}"
        table.add_row(row.type or "(none)", f"{row.n_true:,}", f"{row.n_predicted:,}", *shares, interval)
    return table


def why_no_chunks(report: TaggingReport, labels: Sequence[Hashable]) -> str | None:
    """Say why no chunk was counted; None where some were."""
    from riffler.metrics.chunks import is_chunk_tag

    if report.overall is None:
        other = next(label for label in labels if not is_chunk_tag(label))
        return f"chunks are not counted: {other!r} in TRAIN is no tag of chunks (O, or B-, I-, E-, S-, L-, U-)"
    if report.overall.n_true == 0:
        return "there is no chunk in the test part: F1 is 0, whatever was said"
    return None


def measures(report: TaggingReport | None) -> dict[str, Any]:
    """Give the measures as plain values: nothing where test tags are unknown, no chunks where none were learned."""
    if report is None:
        return {}
    found: dict[str, Any] = {"token_accuracy": report.token_accuracy}
    if report.overall is not None:
        own = asdict(report.overall)
        found |= {"chunk_f1": own["f1"]["value"], "chunk_f1_interval": [own["f1"]["low"], own["f1"]["high"]]}
        found |= {name: own[name] for name in ("precision", "recall", "n_true", "n_predicted", "n_correct")}
        found["by_type"] = {row.type: asdict(row) for row in report.by_type}
    return found


def in_words(part: TaggedText) -> str:
    """Say how many sentences and tokens a text has."""
    return f"{part.source}: {counted(len(part.sentences), 'sentence')}, {counted(part.n_tokens, 'token')}"


def counted(n: int, thing: str) -> str:
    """Say a number of things.

    >>> counted(1, "token"), counted(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
