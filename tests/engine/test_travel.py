"""Answers and errors that cannot be sent from a worker are told in words."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

from riffler.engine import DaskEngine
from riffler.errors import EngineError
from riffler.records import Matrix

pytest.importorskip("distributed")


class OfTwo(Exception):
    """An error that cannot be made again of its message."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other} do not go together")


def not_together(block: Matrix) -> float:
    raise OfTwo(1, 2)


def lock_of(block: Matrix) -> object:
    return threading.Lock()


def float_of(held: object, block: Matrix) -> float:
    return float(block.sum())


@pytest.fixture(params=["given", "own"])
def engine(request: pytest.FixtureRequest, cluster: Any) -> Any:  # noqa: ANN401
    with DaskEngine([np.eye(2)], cluster if request.param == "given" else None, n_workers=1) as made:
        yield made


def test_what_cannot_travel_is_told_in_words_and_the_engine_goes_on(engine: DaskEngine) -> None:
    with pytest.raises(EngineError, match=r"^OfTwo: 1 and 2 do not go together$"):
        engine.map(not_together)
    with pytest.raises(EngineError, match=r"lock|cannot travel"):
        engine.map(lock_of)
    with pytest.raises(EngineError, match=r"lock|cannot travel"):
        engine.map(partial(float_of, threading.Lock()))
    assert engine.scores(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
