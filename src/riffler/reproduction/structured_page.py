"""The page of the reproduction of structured estimation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.reproduction.markdown import table, with_spread
from riffler.reproduction.structured_claims import accuracies, by_query, difference, of_method, of_solver
from riffler.reproduction.structured_letters import ALONE, CHAIN, ROWS, WITH_ENDS
from riffler.reproduction.structured_ranking import OURS, PLACES, TREES
from riffler.reproduction.structured_solvers import Solved
from riffler.reproduction.verdicts import verdict_table

if TYPE_CHECKING:
    from riffler.reproduction.structured import StructuredAgain


def page(run: StructuredAgain) -> str:
    """Write the page."""
    parts = [
        "# Structured estimation",
        "Smola (2007) introduces structured estimation in slides: joint features of inputs and outputs, a loss between "
        "outputs, and column generation that asks only for the most violated constraint; chains and ranking are his "
        "examples. The slides have no numbers but those of the example on sorting. Here: solvers against one another "
        "on chains, a chain beside a linear SVM on handwritten letters, ranking for NDCG beside pairs and boosted "
        "trees, and what the slides misprint.",
        "    RIFFLER_DATA=<folder of the data sets> riffler reproduce structured",
        "The page, its charts and all numbers as JSON are written to `out/reproduce`. Finished runs are kept there.",
        "## What was found",
        verdict_table(run.verdicts),
        "## Solvers",
        "All minimise |w|² / 2 + C · mean structured hinge. `one-slack, as published` asks at the optimum of the "
        "planes found so far (Joachims, Finley and Yu 2009); `one-slack` is Riffler's, which asks between there and "
        "the best weights; `frank-wolfe` is block-coordinate Frank-Wolfe with line search and averaging "
        "(Lacoste-Julien et al. 2013); `block-descent`, Riffler's default, keeps for each example the outputs that "
        "mattered. A call is "
        "one example asked for its most violating output; those without measuring leave out the questions that only "
        "measure the gap. Seconds are CPU seconds of one thread, features made beforehand.",
        f"C is chosen from {', '.join(f'{C:g}' for C in run.plan.c_grid)} on a quarter of the training sequences, held "
        "out.",
        _solvers(run),
        "![How the gap closes](structured-convergence.svg)",
        "## Letters",
        "Trained on one fold of the words and tested on the others, each fold in turn. Means and standard deviations "
        "over the folds, of the share of letters read rightly. The linear SVM sees the same columns of one letter at a "
        "time; its C is chosen on the same words. The second line adds to the pixels whether a letter is the first or "
        "the last of its word, and a constant.",
        _letters(run),
        "## Ranking",
        "NDCG on the test queries, means over all of them. Settings are chosen on validation queries for all methods: "
        "C for linear ones; leaves and least rows of a leaf for LightGBM, which is stopped early there too. `sort "
        "shortcut` and `linear assignment` are the hinge over whole orders of the slides, with weights of places as in "
        "NDCG or falling evenly: it is convex, and weights of 0 can be its optimum, as the best of many irrelevant "
        f"documents is hard to beat. `{OURS}` has features of pairs instead, and the share of pairs in the wrong order "
        "beside NDCG in its loss; with `pairs=0` it has NDCG alone.",
        _ranking(run),
        "![NDCG against the number of places](structured-ndcg.svg)",
        "## What the slides print",
        "Statements as printed, judged by computing both sides for five documents and all their orders.",
        verdict_table(run.errata),
        "## Data",
        _data(run),
    ]
    return "\n\n".join(parts) + "\n"


def _solvers(run: StructuredAgain) -> str:
    tols = (*run.plan.tols, run.plan.finest)
    solvers = list(dict.fromkeys(one.solver for one in run.solved))
    rows = [
        _solver_row(found)
        for data in run.labelled
        for tol in tols
        for solver in solvers
        if (found := of_solver(run.solved, data, solver, tol))
    ]
    head = ["data", "gap", "solver", "folds", "C", "objective", "bound", "calls", "without measuring", "seconds"]
    return table([*head, "accuracy or chunk F1"], rows)


def _solver_row(found: Sequence[Solved]) -> list[str]:
    first = found[0]
    reached = "" if all(one.reached for one in found) else f" (reached: {_mean_gap(found):.2%})"
    return [
        first.data,
        f"{first.tol:.1%}{reached}",
        first.solver,
        str(len(found)),
        ", ".join(f"{C:g}" for C in sorted({one.C for one in found})),
        f"{np.mean([one.last.primal for one in found]):.2f}",
        f"{np.mean([one.last.dual for one in found]):.2f}",
        f"{np.mean([one.last.oracle_calls for one in found]):,.0f}",
        f"{np.mean([one.n_steps for one in found]):,.0f}",
        f"{np.mean([one.seconds for one in found]):.2f}",
        f"{np.mean([one.quality for one in found]):.4f}",
    ]


def _mean_gap(found: Sequence[Solved]) -> float:
    return float(np.mean([one.last.gap / one.last.primal for one in found]))


def _letters(run: StructuredAgain) -> str:
    rows = []
    for columns in (ROWS, WITH_ENDS):
        chosen = sorted({one.C for one in run.read if (one.columns, one.method) == (columns, CHAIN)})
        cells = [with_spread(accuracies(run.read, columns, method), ".4f") for method in (CHAIN, ALONE)]
        rows.append([columns, *cells, ", ".join(f"{C:g}" for C in chosen)])
    return table(["columns", CHAIN, ALONE, "C of the chain"], rows)


def _ranking(run: StructuredAgain) -> str:
    rows = []
    for data in run.graded:
        ours = by_query(run.ranked, data, OURS)
        for method in dict.fromkeys(one.method for one in run.ranked):
            if not (runs := of_method(run.ranked, data, method)):
                continue
            mean, low, high = difference(ours, by_query(run.ranked, data, method))
            less = "" if method == OURS else f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"
            values = [f"{by_query(run.ranked, data, method, n).mean():.4f}" for n in PLACES]
            loss = f"{np.mean([one.train_loss for one in runs]):.4f}"
            rows.append([data, method, *values, less, loss, f"{np.mean([one.seconds for one in runs]):.1f}"])
    places = [f"@{n}" for n in PLACES]
    head = ["data", "method", *places, f"{OURS} less it, @10", "loss on learned queries, @10", "seconds a fold"]
    trees = any(one.method == TREES for one in run.ranked)
    missing = "" if trees else "\n\nLightGBM is not installed (`pip install lightgbm`): the others stand without it."
    return table(head, rows) + missing


def _data(run: StructuredAgain) -> str:
    lines = [f"- {data}: {size}" for data, size in run.sizes.items()]
    lines += [
        f"- {data}: {len(of_method(run.ranked, data, OURS))} folds, {len(by_query(run.ranked, data, OURS)):,} test "
        "queries with a relevant document in all"
        for data in run.graded
    ]
    missing = [f"\nNot here and left out: {', '.join(run.missing)}."] if run.missing else []
    return "\n".join([*lines, *missing])
