"""Which ways of buying labels ``riffler active`` runs: a method, and for those that have one, its sampler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from riffler.catalog import known_names
from riffler.errors import InputError, UnknownName

PERCEPTRON = "active-perceptron-at-k"
"""The method whose samplers are compared; a scheme of it is called by its sampler alone."""

RECOMMENDED = "active-top-k"
"""The method to use where nothing is asked for; shown first."""

DEFAULT_SAMPLER = "exponential"


@dataclass(frozen=True, slots=True)
class Scheme:
    """One way of buying labels."""

    method: str
    sampler: str | None = None

    @property
    def name(self) -> str:
        """What it is called in tables and charts."""
        if self.sampler is None:
            return self.method
        return self.sampler if self.method == PERCEPTRON else f"{self.method} ({self.sampler})"

    def learner(self, k: int, kernel: str | None, floor: float, seed: int) -> Any:  # noqa: ANN401 - an estimator, by name
        """Build the learner, with its own kernel for None; what was asked for and it does not have is an error."""
        from riffler.learners import active_ranker_from_name

        params: dict[str, Any] = {"k": k, "floor": floor, "random_state": seed}
        params |= {name: value for name, value in (("sampler", self.sampler), ("kernel", kernel)) if value is not None}
        learner = active_ranker_from_name(self.method, **params)
        learner._check_settings()  # now, and not after others have run for minutes
        known = learner.get_params()
        if kernel not in (None, "linear") and "kernel" not in known:
            raise InputError(f"{self.method} has no kernel {kernel!r}: it is linear. Leave --kernel out.")
        if floor > 0 and "floor" not in known:
            raise InputError(f"{self.method} has no floor. Leave --floor out, or use --method {PERCEPTRON}.")
        return learner


def schemes_of(methods: Sequence[str], samplers: Sequence[str]) -> list[Scheme]:
    """All schemes asked for, each once; nothing asked for means the recommended method and all samplers.

    >>> [scheme.name for scheme in schemes_of([], ["uniform", "inverse"])]
    ['uniform', 'inverse']
    >>> [scheme.name for scheme in schemes_of(["selective-sampling"], [])]
    ['selective-sampling']
    """
    for kind, given in (("active ranker", methods), ("sampler", samplers)):
        for name in given:
            if name not in known_names(kind):
                raise UnknownName.among(kind, name, known_names(kind))
    chosen = list(methods)
    if not methods:
        chosen = (
            [PERCEPTRON] if samplers or RECOMMENDED not in known_names("active ranker") else [RECOMMENDED, PERCEPTRON]
        )
    found = [scheme for method in chosen for scheme in _schemes_of_method(method, samplers)]
    if samplers and not any(scheme.sampler for scheme in found):
        raise InputError(f"{chosen[0]} has no sampler. Leave --sampler out, or use --method {PERCEPTRON}.")
    return list(dict.fromkeys(found))


def scheme_for_a_person(method: str | None, sampler: str | None) -> Scheme:
    """The one scheme that asks a person: as named, or the recommended one."""
    found = schemes_of([] if method is None else [method], [] if sampler is None else [sampler])
    usual = [scheme for scheme in found if scheme.sampler in (None, DEFAULT_SAMPLER)]
    return (usual or found)[0]


def _schemes_of_method(method: str, samplers: Sequence[str]) -> list[Scheme]:
    from riffler.learners import active_ranker_from_name

    if "sampler" not in active_ranker_from_name(method).get_params():
        return [Scheme(method)]
    return [Scheme(method, sampler) for sampler in samplers or known_names("sampler")]
