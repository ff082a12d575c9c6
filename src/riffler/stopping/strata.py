"""One certificate over several strata: documents that were added later have a random order and a sample of their own.

With f found by the policy in all, missing the target means at least k = floor(f / target) + 1 - f missed ones. The
k - 1 that may be missed are shared out in advance: stratum j may have a_j = floor((k - 1) w_j) of them, with weights
w_j = sqrt(n_j) / sum sqrt(n_i), which ask for the fewest draws. If k or more are missed, one stratum has more than its
share; so the target is proved when in each stratum the control sample rules out a_j + 1. Each is tested with its part
of the error, (1 - confidence) / S. The proof is on docs/methods/stopping.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riffler.ledger import RELEVANT
from riffler.records import FloatArray
from riffler.stopping.control import ControlSample, control_counts, control_design, trickle_of
from riffler.stopping.progress import Decision, Progress, StoppingRule, all_read, least_total, nothing_found
from riffler.stopping.words import per_cent


def part_confidence(confidence: float, n_strata: int) -> float:
    """Return how sure the claim about each stratum must be, so that all of them together are as sure as asked for.

    >>> round(part_confidence(0.95, 2), 3), part_confidence(0.95, 1)
    (0.975, 0.95)
    """
    return confidence if n_strata == 1 else 1.0 - (1.0 - confidence) / n_strata


def decide_strata(rule: StoppingRule, whole: Progress, parts: Sequence[Progress]) -> Decision:
    """Say whether to stop, from the progress of the whole and of each stratum, with the confidence of each."""
    if len(parts) == 1:
        return _decided(rule, parts[0])
    if (done := all_read(whole, whole.history())) is not None:
        return done
    if isinstance(rule, ControlSample):
        return _decide_shared(_plans(rule, whole, parts), whole)
    return _decide_each(rule, whole, parts)


def controls_strata(rule: StoppingRule, whole: Progress, parts: Sequence[Progress], n: int) -> list[int]:
    """Say how many of the next n documents are to be drawn at random, of each stratum."""
    if len(parts) == 1:
        return [min(n, rule.controls(parts[0], n))]
    if isinstance(rule, ControlSample):
        return _at_most(n, parts, _controls_shared(rule, whole, parts, n))
    return _at_most(n, parts, [0 if rule.decide(part).stop else rule.controls(part, n) for part in parts])


@dataclass(frozen=True, slots=True)
class StratumPlan:
    """What is needed of a stratum: draws of its random order, and misses among them that are allowed."""

    n_items: int
    reach: int
    n_missed: int
    draws: int
    allowed: int
    share: int  # of all misses that may remain: known for sure where everything of the stratum is read

    @property
    def blocked(self) -> bool:
        """Whether more are missed than allowed, so that drawing more proves nothing."""
        return self.n_missed > (self.share if self.reach == self.n_items else self.allowed)

    @property
    def n_more(self) -> int:
        """Documents still to be drawn."""
        return max(self.draws - self.reach, 0)


def _plans(rule: ControlSample, whole: Progress, parts: Sequence[Progress]) -> list[StratumPlan]:
    """Return a plan for each stratum; none while the policy has found nothing."""
    counts = [control_counts(part) for part in parts]
    n_met = sum(met for met, _ in counts)
    if n_met == 0:
        return []
    may_miss = least_total(n_met, whole.target) - n_met - 1
    plans = []
    for part, (_, n_missed), weight in zip(parts, counts, _weights(parts), strict=True):
        share = int(may_miss * weight + 1e-9)
        rule_out = min(share + 1, part.n_items)
        draws, allowed = control_design(part.n_items, part.confidence, rule.share).at(rule_out)
        plans.append(StratumPlan(part.n_items, part.control_reach, n_missed, draws, allowed, share))
    return plans


def _weights(parts: Sequence[Progress]) -> FloatArray:
    roots = np.sqrt([part.n_items for part in parts])
    weights: FloatArray = roots / roots.sum()
    return weights


def _decide_shared(plans: Sequence[StratumPlan], whole: Progress) -> Decision:
    if not plans:
        return nothing_found()
    still = [at for at, one in enumerate(plans) if one.n_more or one.blocked]
    if not still:
        reason = (
            f"In each of the {len(plans)} parts of the collection the control sample leaves few enough missed ones, "
            f"which together proves a recall of {per_cent(whole.target)}."
        )
        return Decision(True, reason, certificate=True, recall_low=whole.target, n_more=0)
    reason = " ".join(_waiting(plans[at], _named(at, len(plans), plans[at].n_items)) for at in still)
    return Decision(False, reason, certificate=True, n_more=sum(one.n_more for one in plans))


def _waiting(plan: StratumPlan, name: str) -> str:
    if plan.blocked:
        return (
            f"In {name} the policy missed {plan.n_missed} relevant documents of the first {plan.reach} in random "
            f"order, more than may be missed there: it must find more."
        )
    return f"In {name} the first {plan.draws} in random order must be labelled; {plan.reach} are."


def _named(at: int, n_strata: int, n_items: int) -> str:
    """Name a stratum as a person would."""
    if at == 0:
        return f"the {n_items} documents of the beginning"
    return f"the {n_items} documents added later ({at + 1} of {n_strata})"


def _controls_shared(rule: ControlSample, whole: Progress, parts: Sequence[Progress], n: int) -> list[int]:
    """Draw now and then at first; draw all once a draw is worth more than what the policy still finds anywhere."""
    trickle = [trickle_of(part.history(), n, rule.every) for part in parts]
    ranked = whole.history().ranked[-rule.window :]
    plans = _plans(rule, whole, parts)
    if not plans or ranked.size < rule.window:
        return trickle
    n_met = sum(control_counts(part)[0] for part in parts)
    n_draws = sum(one.draws for one in plans)
    if float(np.mean(ranked == RELEVANT)) + 0.5 / rule.window > n_met / n_draws:
        return trickle
    if any(one.blocked for one in plans):
        return [0] * len(plans)  # it cannot be proved before the policy meets some of the missed ones
    return [one.n_more for one in plans]


def _decide_each(rule: StoppingRule, whole: Progress, parts: Sequence[Progress]) -> Decision:
    """Ask the rule about each stratum; stop when it says so of all, and claim what all claims together come to."""
    decisions = [_decided(rule, part) for part in parts]
    still = [at for at, one in enumerate(decisions) if not one.stop]
    said = still or range(len(parts))
    reason = " ".join(f"Of {_named(at, len(parts), parts[at].n_items)}: {decisions[at].reason}" for at in said)
    more = [one.n_more for one in decisions if not one.stop]
    return Decision(
        not still,
        reason,
        certificate=all(one.certificate for one in decisions),
        recall_low=_pooled_low(parts, decisions),
        n_more=None if None in more else sum(one for one in more if one is not None),
    )


def _pooled_low(parts: Sequence[Progress], decisions: Sequence[Decision]) -> float | None:
    """Return the sum of what was found, divided by the sum of the most that there may be."""
    n_found, most = 0, 0.0
    for part, decision in zip(parts, decisions, strict=True):
        history = part.history()
        n_found += history.n_found
        if decision.recall_low and history.n_found:
            most += history.n_found / decision.recall_low
        elif history.answer.size < part.n_items:
            return None  # nothing is certain about this one
        else:
            most += int(np.sum(history.answer != 0))
    return n_found / most if most else 1.0


def _decided(rule: StoppingRule, part: Progress) -> Decision:
    """Ask the rule; where everything is read it is over, whatever the rule still waits for."""
    decision = rule.decide(part)
    return decision if decision.stop else all_read(part, part.history()) or decision


def _at_most(n: int, parts: Sequence[Progress], wanted: Sequence[int]) -> list[int]:
    """Serve the strata in turn until n are drawn, each with what it has left."""
    given = []
    for part, one in zip(parts, wanted, strict=True):
        given.append(min(one, n, part.n_items - part.history().answer.size))
        n -= given[-1]
    return given
