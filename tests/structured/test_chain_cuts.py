"""Many cuts of chains at once, and steps over them, are those of one sequence after the other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from riffler.structured.chain import Chain
from riffler.structured.chain_problem import ChainProblem
from riffler.structured.cuts import ManyCuts, cuts_of
from riffler.structured.subgradient import SteppingProblem, step_over
from tests.structured.tasks import tag_examples


def chains(storage: str, rescaling: str) -> ChainProblem:
    X, Y = tag_examples(n=12)
    X, Y = [*X, np.empty((0, 3))], [*Y, ()]
    rows = [csr_matrix(x) for x in X] if storage == "sparse" else X
    return Chain(labels=(0, 1, 2), n_columns=3).problem(rows, Y, rescaling)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_cuts_of_many_are_the_cuts_of_each(storage: str, rescaling: str) -> None:
    problem, rng = chains(storage, rescaling), np.random.default_rng(0)
    assert isinstance(problem, ManyCuts)
    for scale in (0.0, 0.3, 3.0):
        weights = scale * rng.normal(size=problem.n_weights)
        examples = np.array([12, 3, 0, 7, 11])
        many, probe = cuts_of(problem, examples, weights), rng.normal(size=problem.n_weights)
        alone = [problem.cut(int(example), weights) for example in examples]
        np.testing.assert_allclose(many.offsets, [cut.offset for cut in alone])
        np.testing.assert_allclose(many.heights(probe), [cut.height(probe) for cut in alone], atol=1e-12)
        assert all(
            len(np.unique(row)) == len(row) for row in np.split(many.indices, many.starts[1:-1])
        )  # no index stands twice


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_steps_over_many_are_steps_on_each(storage: str, rescaling: str) -> None:
    problem, rng = chains(storage, rescaling), np.random.default_rng(1)
    assert isinstance(problem, SteppingProblem)
    weights = 0.2 * rng.normal(size=problem.n_weights)
    slow, order = weights.copy(), rng.permutation(problem.n_examples)
    offset = 0.0
    for example in order:
        cut = problem.cut(int(example), slow)
        if cut.height(slow) > 0:
            cut.add_to(slow, 0.05)
            offset += cut.offset
    assert step_over(problem, order, weights, 0.05) == pytest.approx(offset)
    np.testing.assert_allclose(weights, slow, atol=1e-12)
