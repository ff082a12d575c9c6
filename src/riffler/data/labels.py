"""From labels as files write them to 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.data.table import LabelValue
from riffler.errors import LabelError
from riffler.records import IntArray

POSITIVE_WORDS = frozenset({"1", "+1", "1.0", "yes", "y", "true", "t", "positive", "pos", "relevant", "included"})
"""Texts that name the positive one of two classes, whatever their case."""

PASS_POSITIVE = "Pass positive= (--positive or --relevant-classes on the command line)"
"""What to do, in the words of both doors: the library and the command line show the same errors."""

SEPARATOR = "|"
"""Stands between the topics of an item that has several."""

SHOWN_VALUES, SHOWN_LETTERS = 10, 40
"""How many label values an error shows, and how much of each."""

Positive = LabelValue | Sequence[LabelValue] | None
Sides = tuple[tuple[LabelValue, ...], tuple[LabelValue, ...] | None]
"""Label values that become 1, and those that become 0 (None: all others)."""


def choose_sides(labels: NDArray[Any], positive: Positive, source: str) -> Sides:
    """Decide which label values are positive.

    ``positive`` names them; a text of several topics, joined by ``|``, has each of them as a value. Without it there
    may be only two values: of two numbers the larger is positive, of two texts the one in ``POSITIVE_WORDS``.

    >>> choose_sides(np.array([1, 2, 2]), None, "toy")
    ((2,), (1,))
    >>> choose_sides(np.array(["no", "yes"]), None, "toy")
    (('yes',), ('no',))
    """
    values, counts = np.unique(labels, return_counts=True)
    if positive is not None:
        chosen = _matching(values, positive)
        if not chosen:
            raise LabelError(
                f"{source}: no label equals {positive!r}, the positive value asked for. "
                f"Labels: {_listing(values, counts)}."
            )
        return chosen, None
    known = values.tolist()
    if len(known) == 1:
        return ((known[0],), ()) if _sounds_positive(known[0]) else ((), (known[0],))
    if len(known) != 2:
        raise LabelError(
            f"{source}: two label values were expected, {len(known):,} came: {_listing(values, counts)}. "
            f"{PASS_POSITIVE} with the value to find; all others become negative."
        )
    if isinstance(known[0], str):
        spoken = [_sounds_positive(value) for value in known]
        if sum(spoken) != 1:
            raise LabelError(
                f"{source}: which label is the positive one? {_listing(values, counts)}. "
                f"{PASS_POSITIVE} with its value."
            )
        return ((known[1],), (known[0],)) if spoken[1] else ((known[0],), (known[1],))
    return (known[1],), (known[0],)


def check_labels(labels: NDArray[Any], source: str) -> None:
    """Raise a LabelError for the first label that is not a finite number or a text."""
    if labels.dtype.kind not in "iufbU":
        raise LabelError(f"{source}: labels must be numbers or text, they are {labels.dtype}.")
    strange: list[int] = np.flatnonzero(~np.isfinite(labels)).tolist() if labels.dtype.kind == "f" else []
    if len(strange):
        row = strange[0]
        raise LabelError(f"{source}: row {row + 1} has label {labels[row]}; fill it in or leave the row out.")


def to_binary(labels: NDArray[Any], sides: Sides, source: str) -> IntArray:
    """Turn labels into 0 and 1; a value on neither side is an error that names its row.

    >>> to_binary(np.array([-1, 1, 1]), ((1,), (-1,)), "toy")
    array([0, 1, 1])
    >>> to_binary(np.array(["earn|acq", "acq", "earnings"]), (("earn",), None), "toy")
    array([1, 0, 0])
    """
    positive, negative = sides
    wanted = _values(labels, positive)
    if negative is None and labels.dtype.kind in "US":
        return _any_topic(labels, wanted)
    y: IntArray = np.isin(labels, wanted).astype(np.int64)
    if negative is not None:
        strange = np.flatnonzero((y == 0) & ~np.isin(labels, _values(labels, negative)))
        if len(strange):
            row = int(strange[0])
            expected = ", ".join(str(value) for value in (*negative, *positive))
            raise LabelError(f"{source}: row {row + 1} has label {labels[row].item()!r}, expected one of {expected}.")
    return y


def as_grades(labels: NDArray[Any], source: str) -> NDArray[Any]:
    """Keep graded relevance as it is: whole numbers as integers, others as floats."""
    if labels.dtype.kind not in "iufb":
        row = 0
        raise LabelError(f"{source}: row {row + 1} has label {labels[row].item()!r}; grades must be numbers.")
    return whole_if_possible(labels)


def whole_if_possible(labels: NDArray[Any]) -> NDArray[Any]:
    """Numbers as integers if all are whole, else as floats.

    >>> whole_if_possible(np.array([1.0, 2.0])), whole_if_possible(np.array([0.5, 2.0]))
    (array([1, 2]), array([0.5, 2. ]))
    """
    floats = labels.astype(np.float64)
    if np.isfinite(floats).all() and np.array_equal(floats, np.rint(floats)) and np.abs(floats).max(initial=0) < 2**53:
        return floats.astype(np.int64)
    return floats


def any_of_columns(labels: NDArray[Any], positive: Positive, source: str) -> IntArray:
    """Labels as a 0/1 table, one column a label: 1 where any of the columns in ``positive`` (from 0) is set.

    >>> any_of_columns(np.array([[0, 1], [1, 0]]), 1, "toy")
    array([1, 0])
    """
    columns = [int(float(value)) for value in as_values(positive) if as_number(value) in range(labels.shape[1])]
    if not columns:
        raise LabelError(
            f"{source}: labels come as a table of {labels.shape[1]} columns. {PASS_POSITIVE} with the number of one, "
            f"0 to {labels.shape[1] - 1}; {positive!r} came."
        )
    y: IntArray = (labels[:, np.array(columns)] != 0).any(axis=1).astype(np.int64)
    return y


def topics_of(value: str) -> frozenset[str]:
    """What a label value stands for: itself, and each of its topics where it joins several.

    >>> sorted(topics_of("earn|acq")), sorted(topics_of("earn"))
    (['acq', 'earn', 'earn|acq'], ['earn'])
    """
    return frozenset((value, *value.split(SEPARATOR)))


def cut_short(value: object) -> str:
    """A label value as an error shows it.

    >>> cut_short("owl"), len(cut_short("owl " * 1000))
    ('owl', 41)
    """
    shown = " ".join(str(value).split())
    return shown if len(shown) <= SHOWN_LETTERS else shown[:SHOWN_LETTERS] + "…"


def as_values(positive: Positive) -> tuple[LabelValue, ...]:
    """One value or several as a tuple.

    >>> as_values("yes"), as_values([1, 2]), as_values(None)
    (('yes',), (1, 2), ())
    """
    if positive is None:
        return ()
    return (positive,) if isinstance(positive, str | int | float | np.generic) else tuple(positive)


def _values(labels: NDArray[Any], wanted: tuple[LabelValue, ...]) -> NDArray[Any]:
    """``wanted`` in the type of ``labels``; values that cannot be of that type match nothing."""
    if labels.dtype.kind in "US":
        return np.array([str(value) for value in wanted], dtype=np.str_)
    words = {"true": 1.0, "false": 0.0}  # a column of these words is read as numbers
    spoken = [words.get(value.lower(), value) if isinstance(value, str) else value for value in wanted]
    numbers = [number for value in spoken if (number := as_number(value)) is not None]
    return np.array(numbers, dtype=np.float64)


def _matching(values: NDArray[Any], positive: Positive) -> tuple[LabelValue, ...]:
    """The values that are asked for and there; of texts also those that are only there as one of several topics."""
    wanted = _values(values, as_values(positive))
    if values.dtype.kind in "US":
        there: frozenset[str] = frozenset().union(*map(topics_of, values.tolist()))
        return tuple(sorted(there.intersection(wanted.tolist())))
    found: list[LabelValue] = values[np.isin(values, wanted)].tolist()
    return tuple(found)


def _any_topic(labels: NDArray[Any], wanted: NDArray[Any]) -> IntArray:
    values, places = np.unique(labels, return_inverse=True)
    names = frozenset(wanted.tolist())
    has_one = np.array([not names.isdisjoint(topics_of(value)) for value in values.tolist()], dtype=np.int64)
    y: IntArray = has_one[places]
    return y


def as_number(value: LabelValue) -> float | None:
    """Give the value as a number, None if it is none.

    >>> as_number("+1"), as_number("yes")
    (1.0, None)
    """
    try:
        return float(value)
    except ValueError:
        return None


def _sounds_positive(value: LabelValue) -> bool:
    return value.strip().lower() in POSITIVE_WORDS if isinstance(value, str) else value > 0


def _listing(values: NDArray[Any], counts: IntArray, at_most: int = SHOWN_VALUES) -> str:
    """Each value with its count, the most frequent where there are too many.

    >>> _listing(np.array([1, 2]), np.array([5, 1200]))
    '1 (5 rows), 2 (1,200 rows)'
    """
    shown = np.sort(np.argsort(-counts, kind="stable")[:at_most])
    parts = [f"{cut_short(values[i].item())} ({int(counts[i]):,} rows)" for i in shown]
    rest = len(values) - len(shown)
    return ", ".join(parts) + (f" and {rest:,} more" if rest else "")
