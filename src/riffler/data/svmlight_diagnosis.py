"""The slow pass over svmlight text that finds the first faulty line and says what is wrong with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from riffler.data.labels import PASS_POSITIVE
from riffler.data.opening import open_bytes
from riffler.errors import DataFileError, FeatureMismatch


class SeveralLabels(DataFileError):
    """A line has several labels, though one was expected."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may hold: ``n_features`` as the caller set it, else up to ``max_features``."""

    n_features: int | None
    max_features: int
    dtype: np.dtype[Any]
    multilabel: bool = False


def diagnose(path: Path, limits: Limits) -> None:
    """Raise for the first faulty line; return if every line is sound."""
    with_queries: bool | None = None
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            where = f"{path}, line {number}"
            tokens = line.split(b"#", 1)[0].decode("utf-8", "replace").split()
            if not tokens:
                continue
            _check_label(tokens[0], where, limits)
            has_query = len(tokens) > 1 and tokens[1].startswith("qid")
            if has_query:
                _check_query(tokens[1], where)
            if with_queries is not None and has_query != with_queries:
                there = "has a qid, earlier lines have none" if has_query else "has no qid, earlier lines have one"
                raise DataFileError(f"{where}: this line {there}. Give every line a qid or none.")
            with_queries = has_query
            _check_features(tokens[1 + has_query :], where, limits)


def _check_label(token: str, where: str, limits: Limits) -> None:
    if ":" in token:
        if limits.multilabel:
            return
        raise DataFileError(f"{where}: a label was expected first, {token!r} came.")
    parts = token.split(",")
    if len(parts) > 1 and not limits.multilabel:
        raise SeveralLabels(
            f"{where}: several labels ({token!r}) where one was expected. {PASS_POSITIVE} with the one to find."
        )
    for part in parts:
        value = _number(part)
        if value is None or not math.isfinite(value):
            raise DataFileError(f"{where}: the label must be a finite number, {part!r} came.")


def _check_query(token: str, where: str) -> None:
    head, _, value = token.partition(":")
    if head != "qid" or _whole(value) is None:
        raise DataFileError(f"{where}: `qid:` and a whole number was expected, {token!r} came.")


def _check_features(tokens: list[str], where: str, limits: Limits) -> None:
    previous = 0
    for token in tokens:
        head, colon, tail = token.partition(":")
        index = _whole(head)
        if not colon or index is None:
            raise DataFileError(f"{where}: `index:value` was expected, {token!r} came.")
        _check_index(index, previous, where, limits)
        _check_value(tail, index, where, limits)
        previous = index


def _check_index(index: int, previous: int, where: str, limits: Limits) -> None:
    if index < 1:
        raise DataFileError(f"{where}: index {index}; indices count from 1. Add 1 to every index of a 0-based file.")
    if index == previous:
        raise DataFileError(f"{where}: index {index} comes twice; keep one of them.")
    if index < previous:
        raise DataFileError(f"{where}: index {index} comes after {previous}; indices must rise along a line.")
    if limits.n_features is None:
        if index > limits.max_features:
            raise DataFileError(
                f"{where}: index {index} is above the limit of {limits.max_features} features. "
                f"If it is meant, pass n_features={index} or more."
            )
    elif index > limits.n_features:
        raise FeatureMismatch(
            f"{where}: index {index}, but only {limits.n_features} features are expected. "
            "Use a file made the same way as the training file, or a larger n_features."
        )


def _check_value(text: str, index: int, where: str, limits: Limits) -> None:
    value = _number(text)
    if value is None:
        _bad_value(where, index, f"a number was expected, {text!r} came")
    if not math.isfinite(value):
        _bad_value(where, index, f"{text} is not a finite number; leave the feature out or fill it in")
    if abs(value) > float(np.finfo(limits.dtype).max):
        _bad_value(where, index, f"{text} does not fit {limits.dtype}; pass dtype='float64' or scale the feature")


def _bad_value(where: str, index: int, what: str) -> NoReturn:
    raise DataFileError(f"{where}, feature {index}: {what}.")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
