"""When to stop, and what may be claimed: one rule or claim a file. The family's one name table is here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from riffler.errors import InputError, UnknownName
from riffler.stopping.budget import Budget
from riffler.stopping.chao import Chao
from riffler.stopping.control import ControlSample, certifiable_recall, control_order, control_reach
from riffler.stopping.elusion import Elusion, required_sample
from riffler.stopping.fixed import FixedBudget
from riffler.stopping.half import Half
from riffler.stopping.horvitz_thompson import HorvitzThompson
from riffler.stopping.hypergeometric import HypergeometricRandom, HypergeometricRanked
from riffler.stopping.in_a_row import InARow
from riffler.stopping.knee import Knee
from riffler.stopping.open_control import OpenControl
from riffler.stopping.progress import Decision, Progress, StoppingRule
from riffler.stopping.qbcb import Qbcb
from riffler.stopping.quant import Quant
from riffler.stopping.target import Target
from riffler.stopping.top_claim import TopClaim, claim_path, claim_top

STOPPING_RULES: dict[str, Callable[..., StoppingRule]] = {
    "autostop": HorvitzThompson,
    "budget": Budget,
    "chao": Chao,
    "control": ControlSample,
    "elusion": Elusion,
    "fixed": FixedBudget,
    "half": Half,
    "hypergeometric": HypergeometricRanked,
    "hypergeometric-random": HypergeometricRandom,
    "in-a-row": InARow,
    "knee": Knee,
    "open-control": OpenControl,
    "qbcb": Qbcb,
    "quant": Quant,
    "quant-ci": partial(Quant, n_errors=2.0),
    "target": Target,
}

__all__ = [
    "STOPPING_RULES",
    "Budget",
    "Chao",
    "ControlSample",
    "Decision",
    "Elusion",
    "FixedBudget",
    "Half",
    "HorvitzThompson",
    "HypergeometricRandom",
    "HypergeometricRanked",
    "InARow",
    "Knee",
    "OpenControl",
    "Progress",
    "Qbcb",
    "Quant",
    "StoppingRule",
    "Target",
    "TopClaim",
    "certifiable_recall",
    "claim_path",
    "claim_top",
    "control_order",
    "control_reach",
    "required_sample",
    "rule_from_name",
]


def rule_from_name(name: str, **settings: object) -> StoppingRule:
    """Return the stopping rule of this name; ``settings`` are its own parameters.

    >>> rule_from_name("in-a-row", n=50)
    InARow(n=50)
    """
    if name not in STOPPING_RULES:
        raise UnknownName.among("stopping rule", name, STOPPING_RULES)
    try:
        return STOPPING_RULES[name](**settings)
    except TypeError as error:
        raise InputError(f"The stopping rule {name!r} does not take {settings!r}: {error}.") from error
