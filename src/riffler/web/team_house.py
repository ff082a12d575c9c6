"""The house of a team: reviews, accounts and waiting files are in a database that any number of servers share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from riffler.review.desk import Desk
from riffler.review.intake import upload_ending
from riffler.review.store import Review
from riffler.review.tokens import Token
from riffler.team.desk import TeamDesk
from riffler.team.learners import Learners
from riffler.team.office import Office
from riffler.team.people import People
from riffler.team.waiting_uploads import UploadRoom
from riffler.web.access import OWNER
from riffler.web.house import Key, Keys, LearnerState, Room, Upload
from riffler.web.uploads import PrivateFolder
from riffler.web.visitor import Visitor


class TeamHouse:
    """The reviews of an office; each visitor has a desk of their own."""

    def __init__(self, office: Office, learners: Learners | None) -> None:
        self.office, self.learners = office, learners
        self.folder = PrivateFolder()

    def desk(self, visitor: Visitor) -> TeamDesk:
        """Return the desk of a member at the review that the gate let them in to."""
        assert visitor.account is not None
        assert visitor.role is not None
        review = self.office.review(visitor.identity)
        return TeamDesk(review, visitor.account.id, visitor.account.name, visitor.role)

    def is_open(self, visitor: Visitor) -> bool:
        """Tell whether a desk is ready without asking the database."""
        return self.office.is_open(visitor.identity)

    def keys(self, desk: Desk) -> Keys:
        """Return the keys of a member, or of all of them for an owner."""
        return TeamKeys(self.office.people, _of_team(desk))

    def room(self, desk: Desk) -> Room:
        """Return where the files of a review wait."""
        return TeamRoom(UploadRoom(self.office._engine), _of_team(desk), self.folder)

    def learner(self, review: Review) -> LearnerState:
        """Return whether some server learns for a review, and what went wrong on this one."""
        error = "" if self.learners is None else self.learners.last_error(review.id)
        return LearnerState(review.has_learner(), error)

    def reviewers(self, review: Review) -> list[str]:
        """Return the names of all who take part, or did."""
        return sorted(one.name for one in self.office.people.members(review.id))


class TeamKeys:
    """The keys of a member; an owner sees and revokes those of everybody."""

    def __init__(self, people: People, desk: TeamDesk) -> None:
        self._people, self._desk = people, desk
        self._whose = None if desk.role == OWNER else desk.person

    def list(self) -> list[Key]:
        """All that may be seen."""
        review_id = self._desk.review.id
        names = {one.id: one.name for one in self._people.members(review_id)}
        tokens = self._people.tokens(review_id, self._whose)
        return [Key(one, None if one.reviewer_id is None else names.get(one.reviewer_id)) for one in tokens]

    def make(self, name: str) -> tuple[Token, str]:
        """Make one of one's own."""
        return self._people.make_token(self._desk.review.id, self._desk.person, name)

    def revoke(self, token: int) -> None:
        """Revoke one's own, or as an owner anybody's."""
        self._people.revoke_token(self._desk.review.id, token, self._desk.person, self._whose)


class TeamRoom:
    """Files that wait in the database; while one is looked at a copy is in the private folder of this server."""

    def __init__(self, room: UploadRoom, desk: TeamDesk, folder: PrivateFolder) -> None:
        self._room, self._desk, self._folder = room, desk, folder

    def add(self, upload: Upload) -> str:
        """Let a file wait."""
        token = self._room.add(self._desk.review.id, self._desk.person, upload.name, upload.path)
        upload.path.unlink(missing_ok=True)
        return token

    @contextmanager
    def held(self, token: str) -> Iterator[Upload]:
        """Give what waits."""
        path = self._folder.new_path()
        try:
            with self._room.held(self._desk.review.id, token, path) as name:
                path = path.rename(path.with_name(path.name + upload_ending(name)))  # by which its format is known
                yield Upload(path, name)
        finally:
            path.unlink(missing_ok=True)

    def drop(self, token: str) -> None:
        """Throw a file away."""
        self._room.drop(self._desk.review.id, token)


def _of_team(desk: Desk) -> TeamDesk:
    assert isinstance(desk, TeamDesk)
    return desk
