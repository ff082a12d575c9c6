"""Walk down the ranking until enough positives were found: what the update needs, at the price of all rows walked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.samplers.base import Ask, Below


@dataclass(frozen=True, slots=True)
class Sequential:
    """Ask in the order of the scores until ``n_wanted`` positives were found; with it, Perceptron@k-max is exact.

    It always asks for as many rows at once as positives are missing: never more than a walk one by one would.
    """

    def sample(self, below: Below, ask: Ask) -> float:
        """Walk; which rows are asked depends on answers, so no inclusion probability is known."""
        # equal scores in random order
        order = np.lexsort((below.draws, below.gaps))
        missing, at = below.n_wanted, 0
        while missing > 0 and at < order.size:
            rows = order[at : at + missing]
            answers = ask(rows, np.ones(rows.size))
            missing -= int(np.count_nonzero(answers == 1))
            at += rows.size
            if answers.size < rows.size:
                break  # the budget has ended
        return 0.0
