"""Losses: value and slope. One file a family; the family's one name table is here."""

from __future__ import annotations

from riffler.errors import UnknownName
from riffler.losses.at_k import Avg, Max, Ramp, Struct, Surrogate

__all__ = ["SURROGATES", "Avg", "Max", "Ramp", "Struct", "Surrogate", "surrogate_from"]

SURROGATES: dict[str, type[Surrogate]] = {"avg": Avg, "max": Max, "ramp": Ramp, "struct": Struct}


def surrogate_from(name_or_object: str | Surrogate) -> Surrogate:
    """Turn a name into its surrogate; an object with ``value_and_slope`` passes through.

    >>> surrogate_from("avg")
    Avg()
    """
    if isinstance(name_or_object, str):
        if name_or_object not in SURROGATES:
            raise UnknownName.among("surrogate", name_or_object, SURROGATES)
        return SURROGATES[name_or_object]()
    if not isinstance(name_or_object, Surrogate):
        raise UnknownName.among("surrogate", name_or_object, SURROGATES)
    return name_or_object
