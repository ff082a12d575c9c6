"""How often a secret may be wrong: tries are counted in the database, so that it does not matter which server is asked.

A try counts from its beginning and is forgiven when it was right: many that come at once are no way around the limit.
One that has to wait is not written down, so waiting ends however often somebody tries meanwhile.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from riffler.errors import TooManyTries
from riffler.review.database import lock_review
from riffler.review.schema_team import TryRow

WINDOW = 15 * 60.0  # seconds
OF_NAME_AND_ADDRESS, OF_ADDRESS, OF_NAME = 5, 30, 50  # wrong tries in the window
TRIES = 2**31 - 1  # the lock of this table; no review has this number


@dataclass(frozen=True, slots=True)
class Limit:
    """How many tries of one kind there may be."""

    what: str
    n: int


def log_in_limits(name: str, address: str) -> list[Limit]:
    """Return the limits of one who gives a name, first that of this name from this address."""
    network = network_of(address)
    return [
        Limit(_digest("both", name, network), OF_NAME_AND_ADDRESS),
        Limit(_digest("address", network), OF_ADDRESS),
        Limit(_digest("name", name), OF_NAME),
    ]


def secret_limit(address: str) -> Limit:
    """Return the limit of wrong keys and invitations from an address; a program with an old key keeps nobody out."""
    return Limit(_digest("secret", network_of(address)), OF_ADDRESS)


def begin_tries(session: Session, limits: Iterable[Limit], at: float) -> list[int]:
    """Count a try for each limit, and return their numbers; where one is reached the caller has to wait."""
    limits = list(limits)
    lock_review(session, TRIES)
    if seconds := seconds_to_wait(session, limits, at):
        raise TooManyTries(seconds)
    session.execute(delete(TryRow).where(~_counts(at)))
    rows = [TryRow(what=limit.what, at=at) for limit in limits]
    session.add_all(rows)
    session.flush()
    return [row.id for row in rows]


def seconds_to_wait(session: Session, limits: Iterable[Limit], at: float) -> int:
    """Return how long it takes until none of the limits is reached; 0 where none is."""
    allowed = {limit.what: limit.n for limit in limits}
    found = session.execute(select(TryRow.what, TryRow.at).where(TryRow.what.in_(allowed), _counts(at)))
    moments: dict[str, list[float]] = {}
    for what, moment in found:
        moments.setdefault(what, []).append(moment)
    ends = [sorted(tried)[-allowed[what]] + WINDOW for what, tried in moments.items() if len(tried) >= allowed[what]]
    return max((math.ceil(end - at) for end in ends), default=0)


def forgive_tries(session: Session, tries: Iterable[int], limit: Limit) -> None:
    """Forget tries that were right after all, and all of one limit."""
    lock_review(session, TRIES)
    session.execute(delete(TryRow).where(or_(TryRow.id.in_(list(tries)), TryRow.what == limit.what)))


def network_of(address: str) -> str:
    """Return what one caller may have all addresses of: 64 bits of those of IPv6.

    >>> network_of("2001:db8::7:1"), network_of("::ffff:192.0.2.1"), network_of("192.0.2.1")
    ('2001:db8::/64', '192.0.2.1', '192.0.2.1')
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False))


def _counts(at: float) -> ColumnElement[bool]:
    # A try of the future is one from before the clock was set back.
    return func.abs(TryRow.at - at) < WINDOW


def _digest(*parts: str) -> str:
    """Hash what is counted: somebody may have typed a password where the name belongs."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
