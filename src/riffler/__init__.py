"""Riffler finds the relevant few in a large collection with the fewest labels.

Public names resolve on first use (PEP 562), so that ``import riffler`` stays light: neither scikit-learn nor numba
nor Altair is loaded before something that needs them is touched.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from riffler.errors import (
        DataFileError,
        DataSetMissing,
        FeatureMismatch,
        InputError,
        KClippedWarning,
        LabelError,
        RifflerError,
        UnknownName,
    )

_HOMES = {
    "riffler.errors": (
        "DataFileError",
        "DataSetMissing",
        "FeatureMismatch",
        "InputError",
        "KClippedWarning",
        "LabelError",
        "RifflerError",
        "UnknownName",
    ),
}
"""Which module defines which public names; one test compares it with ``__all__`` and with the typed imports above."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DataFileError",
    "DataSetMissing",
    "FeatureMismatch",
    "InputError",
    "KClippedWarning",
    "LabelError",
    "RifflerError",
    "UnknownName",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type of each name is given above
    if name not in _HOME_OF:
        raise AttributeError(f"module 'riffler' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
