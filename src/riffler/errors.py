"""The exceptions and warnings of Riffler, drawn as a tree.

RifflerError
├── InputError (also a ValueError)      what the caller passed cannot be used
│   ├── DataFileError                   a data file is empty, cut short or malformed
│   ├── FeatureMismatch                 X has other columns than the model was fitted on
│   ├── AnswerConflict                  what was said does not fit what holds now, such as after an answer elsewhere
│   ├── AnswerError                     an oracle answered something else than relevant, irrelevant or unknown
│   ├── LabelError                      labels are missing, not binary, or of one class only
│   ├── LogInRefused                    a name and a password that do not open an account
│   ├── NotAllowed                      somebody's role, or the way of a review, does not allow it
│   ├── NoClaim                         what was asked does not allow the estimate that is wanted
│   ├── ReviewFrozen                    an owner has frozen the review: nothing is changed any more
│   ├── ReviewFileError                 a file is no review, or one of a newer version
│   └── UnknownName                     no loss, method, data set or document has that name
├── AnswersPending                      questions wait for a person's answers
├── BudgetExhausted                     a question would cost more than is left
├── DataSetMissing (also a FileNotFoundError)   a known public data set is not on this machine
├── EngineError                         a cluster cannot be reached, went away, or may not be trusted
├── LeaseLost                           another learner has taken over the review
├── OracleError                         a task of structured prediction contradicts itself
├── StorageError                        the storage is busy or read-only: nothing of the change was written
│   ├── ConnectionLost                  the database went away; whether it wrote the change is not known
│   └── DiskFull                        there is no room left
└── TooManyTries                        so many secrets were wrong that the caller has to wait

KClippedWarning (a UserWarning)         fewer positives than k: k was lowered

Every message says what was expected, what came, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable


class RifflerError(Exception):
    """Base of everything Riffler raises on purpose."""


class InputError(RifflerError, ValueError):
    """What the caller passed cannot be used."""


class DataFileError(InputError):
    """A data file is empty, cut short or malformed; the message names the file and the row or column."""


class FeatureMismatch(InputError):
    """X has other columns than the model was fitted on."""


class AnswerConflict(InputError):
    """What was said does not fit what holds now, such as after an answer in another tab; nothing was written."""


class AnswerError(InputError):
    """An oracle answered something else than relevant, irrelevant or unknown; the message names the item."""


class LabelError(InputError):
    """Labels are missing, not binary, or of one class only."""


class LogInRefused(InputError):
    """A name and a password do not open an account; the message does not say which of them is wrong."""


class NoClaim(InputError):
    """What was asked does not allow the estimate that is wanted; the message says why and what would."""


class NotAllowed(InputError):
    """Somebody's role, or the way that a review is set up, does not allow it; nothing was written."""


class ReviewFrozen(InputError):
    """An owner has frozen the review: nothing is changed any more, until an owner thaws it."""


class ReviewFileError(InputError):
    """A file is no review, is damaged, or was written by a newer version; the message says which."""


class UnknownName(InputError):
    """No loss, method, data set or document has that name."""

    @classmethod
    def among(cls, kind: str, name: object, known: Iterable[str]) -> UnknownName:
        """Build the message that lists every known name.

        >>> print(UnknownName.among("surrogate", "mex", ["max", "avg"]))
        No surrogate called 'mex'. Known: avg, max.
        """
        return cls(f"No {kind} called {name!r}. Known: {', '.join(sorted(known))}.")


class AnswersPending(RifflerError):
    """Questions wait for a person's answers; the message says how many and where. Answer them, then step again."""


class BudgetExhausted(RifflerError):
    """A question would cost more than is left of the budget; nothing was asked."""


class DataSetMissing(RifflerError, FileNotFoundError):
    """A known public data set is not on this machine; the message says what to download and where to put it."""


class EngineError(RifflerError):
    """A cluster of workers cannot be reached, went away, or may not be trusted; a ledger loses nothing by it."""


class LeaseLost(RifflerError):
    """Another learner has taken over the review; nothing of the change was written."""


class OracleError(RifflerError):
    """A task of structured prediction contradicts itself: an answer is worse than the truth, a loss impossible."""


class StorageError(RifflerError):
    """The disk is full, busy or read-only: nothing of the change was written; what was there before is kept."""


class ConnectionLost(StorageError):
    """The database went away: whether it wrote the change is not known; what was acknowledged before is kept."""


class DiskFull(StorageError):
    """There is no room left on the disk; nothing of the change was written."""


class TooManyTries(RifflerError):
    """So many secrets were wrong that the caller has to wait; nothing was looked at."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"Too many tries were wrong. Wait {self.seconds} seconds, then try again."


class KClippedWarning(UserWarning):
    """Fewer positives than k: the top was made as long as there are positives."""
