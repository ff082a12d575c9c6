"""The control side of a search: documents drawn in a random order fixed in advance, and the rule they serve."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from riffler.ledger import Ledger
from riffler.records import FloatArray, IntArray
from riffler.search.answers import Answers
from riffler.stopping import Decision, Progress, StoppingRule, control_reach
from riffler.stopping.progress import all_read


class Controls:
    """Asks a stopping rule how many documents to draw at random, and whether it is enough.

    A batch is either drawn or proposed, never both: what the policy proposes, and when it learns, then does not depend
    on the answers to control documents, which is what the proof of a blind rule asks for.

    order : all items in the random order in which they are drawn
    """

    def __init__(self, rule: StoppingRule, order: IntArray, target: float, confidence: float) -> None:
        self.rule = rule
        self._order, self._target, self._confidence = order, target, confidence

    def draw(self, ledger: Ledger, answers: Answers, scores: FloatArray, n: int) -> IntArray:
        """Return the documents to draw now, at most n; none where the policy's turn has come."""
        progress = self._progress(ledger, answers, scores)
        n_draws = min(n, self.rule.controls(progress, n))
        rest = self._order[progress.control_reach :]
        return rest[~answers.answered[rest]][:n_draws]

    def decide(self, ledger: Ledger, answers: Answers, scores: FloatArray) -> Decision:
        """Ask the rule; where everything is read it is over, whatever the rule still waits for."""
        progress = self._progress(ledger, answers, scores)
        decision = self.rule.decide(progress)
        return decision if decision.stop else all_read(progress, progress.history()) or decision

    def _progress(self, ledger: Ledger, answers: Answers, scores: FloatArray) -> Progress:
        chances = expit(scores)
        first = np.array(answers.first, dtype=np.int64)
        return Progress(
            self._order.size,
            tuple(ledger),
            scores=chances[~answers.answered],
            target=self._target,
            confidence=self._confidence,
            control_reach=control_reach(self._order, answers.answered),
            known_scores=chances[first],
        )
