"""Scoring functions that grow by multiples of rows: linear and kernel ones. The family's one name table is here."""

from __future__ import annotations

from collections.abc import Callable

from riffler.errors import UnknownName
from riffler.scorers.base import Kernel, Scorer
from riffler.scorers.linear import Linear
from riffler.scorers.mapped import RbfFourier, RbfNystroem
from riffler.scorers.projectron import RbfProjectron
from riffler.scorers.rbf import Rbf, RbfRemoval

KERNELS: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "rbf": Rbf,
    "rbf-projectron": RbfProjectron,
    "rbf-removal": RbfRemoval,
    "rbf-fourier": RbfFourier,
    "rbf-nystroem": RbfNystroem,
}

__all__ = [
    "KERNELS",
    "Kernel",
    "Linear",
    "Rbf",
    "RbfFourier",
    "RbfNystroem",
    "RbfProjectron",
    "RbfRemoval",
    "Scorer",
    "kernel_from",
]


def kernel_from(given: str | Kernel) -> Kernel:
    """Return the kernel itself, or the one that has this name."""
    if not isinstance(given, str):
        return given
    if given not in KERNELS:
        raise UnknownName.among("kernel", given, KERNELS)
    return KERNELS[given]()
