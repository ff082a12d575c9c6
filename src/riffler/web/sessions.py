"""Who was let in: addresses that work once, and the browsers that used one; all of it ends with the server."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

MAX_INVITATIONS, INVITATION_MINUTES = 8, 10
MAX_SESSIONS = 100
BAD_TRIES, WINDOW_SECONDS = 20, 60.0


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser that was let in; ``csrf`` is what its pages send back with every change."""

    csrf: str


class Sessions:
    """Invitations and browser sessions, in memory; only digests are kept, so that nothing here opens a door.

    >>> sessions = Sessions()
    >>> invitation = sessions.invite()
    >>> sessions.spend(invitation), sessions.spend(invitation)
    (True, False)
    >>> sessions.find(sessions.begin()) is not None
    True
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._invitations: deque[tuple[str, float]] = deque(maxlen=MAX_INVITATIONS)
        self._sessions: dict[str, BrowserSession] = {}

    def invite(self) -> str:
        """Return a new secret that lets one browser in, once and soon."""
        secret = secrets.token_urlsafe(32)
        with self._lock:
            self._invitations.append((_digest(secret), self._clock()))
        return secret

    def spend(self, invitation: str) -> bool:
        """Use an invitation up; False where it is unknown, too old or spent."""
        wanted = _digest(invitation)
        with self._lock:
            found = [one for one in self._invitations if hmac.compare_digest(one[0], wanted)]
            if not found:
                return False
            self._invitations.remove(found[0])
            return self._clock() - found[0][1] < 60 * INVITATION_MINUTES

    def begin(self) -> str:
        """Begin a session and return its cookie."""
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            if len(self._sessions) >= MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[_digest(cookie)] = BrowserSession(secrets.token_urlsafe(32))
        return cookie

    def find(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie, if it is one of ours; the lookup is by digest and tells no timing."""
        return self._sessions.get(_digest(cookie))


class BadTries:
    """Counts wrong secrets by where they came from, and says when there were too many of late."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._tries: dict[str, deque[float]] = {}

    def note(self, address: str) -> None:
        """Remember a wrong secret."""
        with self._lock:
            self._tries.setdefault(address, deque(maxlen=BAD_TRIES)).append(self._clock())
            for other in [one for one, times in self._tries.items() if self._is_over(times[-1])]:
                del self._tries[other]

    def wait_seconds(self, address: str) -> int:
        """Return for how long wrong secrets are only told to wait, 0 where there were few."""
        with self._lock:
            times = self._tries.get(address)
            if times is None or len(times) < BAD_TRIES or self._is_over(times[0]):
                return 0
            return 1 + int(times[0] + WINDOW_SECONDS - self._clock())

    def _is_over(self, moment: float) -> bool:
        return self._clock() - moment >= WINDOW_SECONDS


def same_secret(given: str, expected: str) -> bool:
    """Compare two secrets in a time that does not depend on where they differ.

    >>> same_secret("ä", "ä"), same_secret("a", "b")
    (True, False)
    """
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
