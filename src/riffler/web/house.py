"""What differs between the page of one reader and the server of a team, for the handlers that serve both."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from riffler.review.desk import Desk
from riffler.review.store import Review
from riffler.review.tokens import Token
from riffler.web.settings import Keeper
from riffler.web.uploads import PrivateFolder, WaitingRoom
from riffler.web.visitor import Visitor


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that waits to be added: where it is kept, and what its owner calls it."""

    path: Path
    name: str


class Key(NamedTuple):
    """A key for programs, and whose it is, where several have some."""

    token: Token
    reviewer: str | None


class LearnerState(NamedTuple):
    """Whether a learner runs, and why the last one that failed did; "" for none."""

    alive: bool
    error: str


class Keys(Protocol):
    """The keys for programs that somebody may see."""

    def list(self) -> list[Key]:
        """All of them, revoked ones too."""

    def make(self, name: str) -> tuple[Token, str]:
        """Make one, and return it with its secret, which nobody can read again."""

    def revoke(self, token: int) -> None:
        """Let one open nothing from now on."""


class Room(Protocol):
    """Where files wait for a second request, by a token."""

    def add(self, upload: Upload) -> str:
        """Let a file wait, and return its token; the room looks after the file from now on."""

    def held(self, token: str) -> AbstractContextManager[Upload]:
        """Give what waits, to nobody else meanwhile; it waits on where the block fails, and is gone otherwise."""

    def drop(self, token: str) -> None:
        """Throw a file away."""


class House(Protocol):
    """Where reviews are, and what people find at them."""

    folder: PrivateFolder

    def desk(self, visitor: Visitor) -> Desk:
        """Return the desk of somebody at the review that they ask for."""

    def is_open(self, visitor: Visitor) -> bool:
        """Tell whether that desk is ready without asking the database."""

    def keys(self, desk: Desk) -> Keys:
        """Return the keys that somebody may see."""

    def room(self, desk: Desk) -> Room:
        """Return where the files wait that somebody uploads."""

    def learner(self, review: Review) -> LearnerState:
        """Return how the learner of a review is."""

    def reviewers(self, review: Review) -> list[str]:
        """Return the names of those who take part; none where there is only one."""


class SoloHouse:
    """One review and one reader, to whom everything belongs."""

    def __init__(self, review: Review, keeper: Keeper | None) -> None:
        self.review, self.keeper = review, keeper
        self.folder = PrivateFolder()
        self._room = SoloRoom()

    def desk(self, visitor: Visitor) -> Desk:
        """Return the only desk."""
        return Desk(self.review)

    def is_open(self, visitor: Visitor) -> bool:
        """Tell that it always is."""
        return True

    def keys(self, desk: Desk) -> Keys:
        """Return all keys."""
        return SoloKeys(self.review)

    def room(self, desk: Desk) -> Room:
        """Return the only room."""
        return self._room

    def learner(self, review: Review) -> LearnerState:
        """Return how the learner that this server keeps is."""
        alive = self.keeper is not None and self.keeper.alive
        return LearnerState(alive, getattr(self.keeper, "last_error", None) or "")

    def reviewers(self, review: Review) -> list[str]:
        """Return nobody: there is one reader."""
        return []


class SoloKeys:
    """The keys of a review that one person reads."""

    def __init__(self, review: Review) -> None:
        self._review = review

    def list(self) -> list[Key]:
        """All of them."""
        return [Key(one, None) for one in self._review.tokens()]

    def make(self, name: str) -> tuple[Token, str]:
        """Make one."""
        return self._review.make_token(name)

    def revoke(self, token: int) -> None:
        """Revoke one."""
        self._review.revoke_token(token)


class SoloRoom:
    """Files that wait in the private folder of the server."""

    def __init__(self) -> None:
        self._waiting = WaitingRoom[Upload]()

    def add(self, upload: Upload) -> str:
        """Let a file wait; the oldest has to go for it."""
        token, gone = self._waiting.add(upload)
        for one in gone:
            one.path.unlink(missing_ok=True)
        return token

    def held(self, token: str) -> AbstractContextManager[Upload]:
        """Give what waits."""
        return self._waiting.held(token)

    def drop(self, token: str) -> None:
        """Throw a file away."""
        with self._waiting.held(token) as upload:
            upload.path.unlink(missing_ok=True)
