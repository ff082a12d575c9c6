"""The page of the reproduction of Shen and Lin (2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riffler.reproduction.active_pairs_claims import Duel, agreement, corrected, duels, shortfalls, totals
from riffler.reproduction.active_pairs_methods import OURS, PUBLISHED
from riffler.reproduction.markdown import table, with_spread
from riffler.reproduction.verdicts import verdict_table

if TYPE_CHECKING:
    from riffler.reproduction.active_pairs import ActivePairsAgain


def page(run: ActivePairsAgain) -> str:
    """Write the page."""
    same, of = agreement(run.duels, run.expected)
    cells = f"{same} of {of} cells have the paper's letter." if of else "The paper's sets are not here."
    parts = [
        "# Pairs and points: active sampling for bipartite ranking",
        "Shen and Lin (2013) learn to order all positives above all negatives from a few well-chosen pairs. The slides "
        f"tell neither their numbers nor their settings, only who won where. Here: {run.n_runs} runs, "
        f"{run.plan.n_pairs:,} pairs, settings chosen on a validation part; at most 16,000 rows to learn from and choose "
        "by, up to 100,000 others to measure on, drawn anew in each run.",
        _missing(run),
        "## What was found",
        verdict_table(run.verdicts),
        "## Who wins where",
        f"Soft-correct sampling as published against the others, paired t-tests at 95 %. {cells} Written *ours "
        "(theirs)*: W win, L loss, T tie.",
        _letters(run),
        "## AUC",
        f"`{OURS}` weighs pairs by the inverse of their chance to be drawn, and may take points as well.",
        _areas(run),
        _goals(run),
        "## AUC against pairs",
        "![AUC against the number of pairs](active-pairs-pairs.svg)",
        "## Pairs and points together",
        "![AUC against the share of points](active-pairs-points.svg)",
    ]
    return "\n\n".join(parts) + "\n"


def _missing(run: ActivePairsAgain) -> str:
    stand_ins = [
        f"{about['data']} for {name}" for name, about in run.expected["sets"].items() if about.get("stand-in", False)
    ]
    here = f"In place of sets that are not to be had: {', '.join(stand_ins)}."
    return here + (f" Not here and left out: {', '.join(run.missing)}." if run.missing else "")


def _letters(run: ActivePairsAgain) -> str:
    rivals = run.expected["rivals"]
    found = {(duel.data, duel.rival): duel for duel in run.duels}
    rows = []
    for name in run.names:
        theirs = run.expected["sets"].get(name, {}).get("cells", "-" * len(rivals))
        rows.append([name, *(f"{found[name, rival].letter} ({theirs[n]})" for n, rival in enumerate(rivals))])
    sums = ["/".join(map(str, totals(run.duels, rival))) + f" ({run.expected['totals'][rival]})" for rival in rivals]
    return table(["set", *rivals], [*rows, ["win/loss/tie", *sums]])


def _areas(run: ActivePairsAgain) -> str:
    methods = list(dict.fromkeys(method for _, method in run.cells))
    rows = [
        [name, *(with_spread([cell.auc for cell in run.cells[name, method]], ".4f") for method in methods)]
        for name in run.names
    ]
    seconds = [f"{np.mean([c.seconds for n in run.names for c in run.cells[n, method]]):.2f}" for method in methods]
    return table(["set", *methods], [*rows, ["CPU seconds of a fit", *seconds]])


def _goals(run: ActivePairsAgain) -> str:
    """What is wanted of our own variant: close to all pairs everywhere, and more wins than losses after Holm."""
    short = shortfalls(run.cells)
    far = {name: gap for name, gap in short.items() if gap > 0.002}
    rivals = ("WSVM", "CRR", "random")
    ours: list[Duel] = corrected(duels(run.cells, OURS, rivals))
    counts = "; ".join(f"{rival} {'/'.join(map(str, totals(ours, rival)))}" for rival in rivals)
    listed = ", ".join(f"{name} {gap:.4f}" for name, gap in far.items()) or "none"
    return (
        f"`{OURS}` is within 0.002 of RankSVM on all pairs on {len(short) - len(far)} of {len(short)} sets (further "
        f"below: {listed}). Wins/losses/ties of `{OURS}` after Holm's correction: {counts}. `{PUBLISHED}` is the "
        "published way."
    )
