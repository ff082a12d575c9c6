"""Who answers: an array, a function, a person with a file. Each keeps the ledger of what it was asked."""

from __future__ import annotations

from riffler.oracles.array import ArrayOracle
from riffler.oracles.base import Oracle, checked_answer
from riffler.oracles.callable import CallableOracle
from riffler.oracles.file import FileOracle

__all__ = ["ArrayOracle", "CallableOracle", "FileOracle", "Oracle", "checked_answer"]
