"""Cuts that have had no say for long are dropped, however cuts are held, and the solution stays that of all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from riffler.records import BoolArray
from riffler.structured import n_slack
from riffler.structured.cutting_plane import minimise_by_planes
from riffler.structured.kernel_cuts import KernelCuts, KernelExamples
from riffler.structured.kernel_task import MulticlassKernel
from riffler.structured.n_slack import IDLE_ROUNDS, HeldCuts, LinearCuts, WorkingSet, generate_cuts
from tests.structured.tasks import class_examples, class_problem

C = 200.0


def by_weights() -> HeldCuts:
    return LinearCuts(class_problem(n=30))


def by_kernel() -> KernelCuts:
    X, y = class_examples(n=30)
    return KernelCuts(KernelExamples(MulticlassKernel("linear").for_data(X, y), X, y), "margin")


however_held = pytest.mark.parametrize("made", [by_weights, by_kernel])


@however_held
def test_idle_cuts_are_dropped_and_the_optimum_is_the_same(
    made: Callable[[], HeldCuts], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(n_slack, "IDLE_ROUNDS", 2)  # small problems have few rounds
    held, n_dropped = made(), 0
    keep = held.keep

    def watched(kept: BoolArray) -> None:
        nonlocal n_dropped
        n_dropped += int(np.count_nonzero(~kept))
        keep(kept)

    monkeypatch.setattr(held, "keep", watched)
    found = generate_cuts(held, C, 1000, tol=1e-4, rng=np.random.default_rng(0))
    problem = class_problem(n=30)
    planes = minimise_by_planes(problem.plane, problem.n_weights, C, tol=1e-4)
    assert found.converged
    assert found.turns[-1].primal == pytest.approx(planes.value, rel=3e-4)
    assert n_dropped > 10


@however_held
def test_only_cuts_without_a_share_are_dropped_and_not_at_once(made: Callable[[], HeldCuts]) -> None:
    held, rng = made(), np.random.default_rng(0)
    known = WorkingSet(held, C)
    held.ask()
    known.take(np.arange(30))
    for _ in range(IDLE_ROUNDS - 1):
        known.ascend(rng, 1e-9)
    dual, scores, n_before = known.dual, held.scores, n_cuts(held)
    known.ascend(rng, 1e-9)
    assert n_before == 30
    assert 0 < n_cuts(held) < 30
    assert known.dual == pytest.approx(dual, rel=1e-6)
    if made is by_weights:
        np.testing.assert_allclose(held.scores, scores, atol=1e-4)


def n_cuts(held: HeldCuts) -> int:
    return len(held.rows.indptr) - 1 if isinstance(held, LinearCuts) else len(held.scores)


def test_cuts_of_a_kernel_that_are_kept_keep_their_products() -> None:
    every, some = by_kernel(), by_kernel()
    kept = np.arange(30) % 3 == 0
    for cuts in (every, some):
        cuts.ask()
        cuts.take(np.arange(30))
    some.keep(kept)
    shares = np.random.default_rng(0).random(10)
    of_all = np.zeros(30)
    of_all[kept] = shares
    assert some.refresh(shares) == pytest.approx(every.refresh(of_all))
    np.testing.assert_allclose(some.scores, every.scores[kept])
    np.testing.assert_array_equal(some.weights(shares), of_all)
