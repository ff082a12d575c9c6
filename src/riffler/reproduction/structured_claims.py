"""What the runs say of each claim about structured estimation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from riffler.metrics.resampling import draws
from riffler.records import FloatArray
from riffler.reproduction.structured_errata import sorting
from riffler.reproduction.structured_letters import ALONE, CHAIN, ROWS, Read
from riffler.reproduction.structured_ranking import ASSIGNED, NDCG_ALONE, OURS, PAIRS, SORTED, TREES, Ranked
from riffler.reproduction.structured_solvers import AS_PUBLISHED, Solved
from riffler.reproduction.verdicts import Verdict, word

if TYPE_CHECKING:
    from riffler.reproduction.structured import StructuredAgain

FRANK_WOLFE, ONE_SLACK = "frank-wolfe", "one-slack"
ROUNDING = 1e-9


def verdicts(run: StructuredAgain) -> list[Verdict]:
    """Judge each claim, and the example on sorting."""
    judged = {
        "same objective": _same_objective,
        "fewer calls": lambda run: _fewer_calls(run, AS_PUBLISHED),
        "fewer calls than ours": lambda run: _fewer_calls(run, ONE_SLACK),
        "chain": _chain,
        "training loss": _training_loss,
        "whole orders": _whole_orders,
        "test NDCG": _test_ndcg,
    }
    found = [
        Verdict(claim["name"], claim["text"], claim["source"], *judged[claim["name"]](run))
        for claim in run.expected["claims"]
    ]
    return [*found, sorting()]


def of_solver(solved: Sequence[Solved], data: str, solver: str, tol: float) -> list[Solved]:
    """The runs of one solver on one set to one tolerance, fold by fold."""
    return [one for one in solved if (one.data, one.solver, one.tol) == (data, solver, tol)]


def accuracies(read: Sequence[Read], columns: str, method: str) -> list[float]:
    """Shares of letters read rightly, fold by fold."""
    return [one.accuracy for one in read if (one.columns, one.method) == (columns, method)]


def of_method(ranked: Sequence[Ranked], data: str, method: str) -> list[Ranked]:
    """The runs of one ranker on one set, fold by fold."""
    return [one for one in ranked if (one.data, one.method) == (data, method)]


def by_query(ranked: Sequence[Ranked], data: str, method: str, n: int = 10) -> FloatArray:
    """NDCG of every test query of all folds."""
    return np.concatenate([np.array(one.ndcg[n - 1]) for one in of_method(ranked, data, method)])


def difference(ours: FloatArray, theirs: FloatArray, n_resamples: int = 2000) -> tuple[float, float, float]:
    """Mean difference over queries, and the 95 % interval over resampled queries.

    >>> difference(np.array([0.5, 0.5]), np.array([0.25, 0.25]))
    (0.25, 0.25, 0.25)
    """
    gaps = ours - theirs
    means = [float(gaps[rows].mean()) for rows in draws(len(gaps), n_resamples, 0)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(gaps.mean()), float(low), float(high)


def _same_objective(run: StructuredAgain) -> tuple[str, str]:
    """No bound may be above an objective of the same problem."""
    n_good = n_all = 0
    furthest = 0.0
    for one, other in product(run.solved, run.solved):
        if (one.data, one.fold, one.C) == (other.data, other.fold, other.C) and one is not other:
            n_all += 1
            n_good += one.last.dual <= other.last.primal * (1.0 + ROUNDING)
            if one.tol == other.tol == min(run.plan.tols) and one.reached and other.reached:
                furthest = max(furthest, abs(one.last.primal - other.last.primal) / other.last.primal)
    n_missed = sum(not one.reached for one in run.solved)
    evidence = (
        f"no bound of a solver is above an objective of another in {n_good} of {n_all} pairs of runs; at a gap of "
        f"{min(run.plan.tols):.1%} objectives differ by {furthest:.2%} at most; {n_missed} of {len(run.solved)} runs "
        "ended before their gap"
    )
    return word(n_good, n_all), evidence


def _fewer_calls(run: StructuredAgain, rival: str) -> tuple[str, str]:
    told, n_good, n_all = [], 0, 0
    for data, tol in product(run.labelled, run.plan.tols):
        pairs = list(
            zip(of_solver(run.solved, data, FRANK_WOLFE, tol), of_solver(run.solved, data, rival, tol), strict=False)
        )
        if not pairs:
            continue
        n_all += len(pairs)
        n_good += sum(mine.last.oracle_calls < other.last.oracle_calls for mine, other in pairs)
        mine, without, other = (
            np.mean(values)
            for values in zip(*((m.last.oracle_calls, m.n_steps, o.last.oracle_calls) for m, o in pairs), strict=True)
        )
        told.append(f"{data} to {tol:.1%}: {mine:,.0f} ({without:,.0f} without measuring the gap) against {other:,.0f}")
    return word(n_good, n_all) if n_all else "not shown", f"fewer in {n_good} of {n_all} runs; " + "; ".join(told)


def _chain(run: StructuredAgain) -> tuple[str, str]:
    chain, alone = (np.array(accuracies(run.read, ROWS, method)) for method in (CHAIN, ALONE))
    goal = run.expected["accuracy"]
    higher, enough = int((chain > alone).sum()), bool(chain.mean() >= goal)
    verdict = "agrees" if higher == len(chain) and enough else "in part" if higher or enough else "disagrees"
    return (
        verdict,
        f"{chain.mean():.4f} against {alone.mean():.4f} from pixels; higher on {higher} of {len(chain)} folds",
    )


def _training_loss(run: StructuredAgain) -> tuple[str, str]:
    """The least loss over the values of C: of the hinge of NDCG alone, which the claim is about, and of NdcgRanker."""
    told, n_good, n_all = [], 0, 0
    for data in run.graded:
        alone, ours, pairs = (
            np.array([one.least_train_loss for one in of_method(run.ranked, data, method)])
            for method in (NDCG_ALONE, OURS, PAIRS)
        )
        n_all, n_good = n_all + len(alone), n_good + int((alone < pairs).sum())
        told.append(f"{data}: {alone.mean():.4f} against {pairs.mean():.4f}; {OURS}, which has both, {ours.mean():.4f}")
    return word(n_good, n_all), f"with the best C for it, lower on {n_good} of {n_all} folds; " + "; ".join(told)


def _whole_orders(run: StructuredAgain) -> tuple[str, str]:
    """Whether the hinge over permutations comes near pairs on the queries learned from."""
    told, n_good, n_all = [], 0, 0
    for data in run.graded:
        pairs = float(np.mean([one.train_loss for one in of_method(run.ranked, data, PAIRS)]))
        for method in (SORTED, ASSIGNED):
            loss = float(np.mean([one.least_train_loss for one in of_method(run.ranked, data, method)]))
            n_all, n_good = n_all + 1, n_good + (loss < pairs + 0.05)
            told.append(f"{data}, {method}: NDCG loss {loss:.3f} on the queries learned from, pairs {pairs:.3f}")
    return word(n_good, n_all), "; ".join(told)


def _test_ndcg(run: StructuredAgain) -> tuple[str, str]:
    told, lows, means = [], [], []
    for data in run.graded:
        ours = by_query(run.ranked, data, OURS)
        rivals = [method for method in (PAIRS, TREES) if of_method(run.ranked, data, method)]
        best = max(rivals, key=lambda method: float(by_query(run.ranked, data, method).mean()))
        mean, low, high = difference(ours, by_query(run.ranked, data, best))
        lows.append(low)
        means.append(mean)
        told.append(f"{data}: {ours.mean():.4f}, {mean:+.4f} [{low:+.4f}, {high:+.4f}] on {best}")
    missing = "" if any(one.method == TREES for one in run.ranked) else "; LightGBM is not installed"
    return not_below(means, lows, run.expected["margin"]), "; ".join(told) + missing


def not_below(means: Sequence[float], lows: Sequence[float], margin: float) -> str:
    """Judge differences by their means, and by the lower ends of their intervals: these must be within the margin too.

    >>> not_below([0.0], [-0.005], 0.01), not_below([0.0], [-0.02], 0.01), not_below([-0.02], [-0.03], 0.01)
    ('agrees', 'not shown', 'disagrees')
    """
    if min(means) < -margin:
        return "disagrees"
    return "agrees" if min(lows) >= -margin else "not shown"
