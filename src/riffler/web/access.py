"""Who may do what: all addresses, each with the least role that it needs; what is not in these tables is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from starlette.routing import compile_path

from riffler.review.schema_team import ROLES
from riffler.web.visitor import Visitor

API = "/api/v1"
REVIEWS = "/reviews/{review}"
"""What the addresses of a review on a server have before them."""

UPLOAD = "POST /api/v1/imports"
"""The only one that takes a file."""

BY_PEOPLE = ("POST /api/v1/tokens", "POST /api/v1/members/invite", "PATCH /api/v1/members/{id}")
"""Not for programs: what a key that fell into wrong hands let in would stay after the key was revoked."""

NOBODY, ACCOUNT, ADMIN = "nobody", "account", "admin"
READER, REVIEWER, OWNER = ROLES

OF_REVIEW = {
    READER: """
        GET /
        GET /search
        GET /history
        GET /progress
        GET /progress/panel
        GET /data
        GET /api/v1/review
        GET /api/v1/document
        GET /api/v1/tags
        GET /api/v1/search
        GET /api/v1/history
        GET /api/v1/progress
        GET /api/v1/terms
        GET /api/v1/charts/{name}
        GET /api/v1/export
        GET /api/v1/history/export
        GET /api/v1/prisma
    """,
    REVIEWER: """
        GET /settings
        GET /api/v1/next
        POST /api/v1/suggestions/{suggestion}/shown
        POST /api/v1/answers
        POST /api/v1/undo
        POST /api/v1/notes
        POST /api/v1/tags
        POST /api/v1/untag
        GET /api/v1/tokens
        POST /api/v1/tokens
        DELETE /api/v1/tokens/{id}
    """,
    OWNER: """
        PATCH /api/v1/settings
        POST /api/v1/imports
        POST /api/v1/imports/{token}
        DELETE /api/v1/imports/{token}
        GET /api/v1/backup
        GET /api/v1/archive
    """,
}
"""What every review has."""

OF_TEAM = {
    READER: """
        GET /team
        GET /api/v1/members
        GET /api/v1/agreement
    """,
    REVIEWER: """
        GET /conflicts
        GET /api/v1/conflicts
        POST /api/v1/conflicts
        POST /api/v1/leave
    """,
    OWNER: """
        POST /api/v1/members/invite
        PATCH /api/v1/members/{id}
        DELETE /api/v1/members/{id}
        GET /api/v1/invitations
        DELETE /api/v1/invitations/{id}
        POST /api/v1/freeze
        POST /api/v1/thaw
        GET /api/v1/audit
        GET /api/v1/audit/export
    """,
}
"""What a review has beside it that several people read."""

OF_SERVER = {
    NOBODY: """
        GET /login
        GET /invitation
        POST /api/v1/login
        POST /api/v1/invitations/look
        POST /api/v1/invitations/accept
        GET /api/v1/health
        GET /api/v1/openapi.json
    """,
    ACCOUNT: """
        GET /
        GET /account
        POST /api/v1/logout
        GET /api/v1/me
        POST /api/v1/me/password
        POST /api/v1/invitations/join
        GET /api/v1/reviews
    """,
    ADMIN: """
        GET /people
        POST /api/v1/reviews
        GET /api/v1/accounts
        POST /api/v1/accounts/invite
        POST /api/v1/accounts/{id}/reset
        POST /api/v1/accounts/{id}/close
        POST /api/v1/accounts/{id}/reopen
        PUT /api/v1/accounts/{id}/admin
        GET /api/v1/invitations
        DELETE /api/v1/invitations/{id}
        GET /api/v1/acts
    """,
}
"""What a server of a team has beside its reviews."""

BELOW_REVIEW = re.compile(rf"(?:{API})?/reviews/([^/]+)(?:/.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """An address and the least role that it needs; ``route`` is as in the tables above."""

    method: str
    template: str
    least: str
    route: str

    @property
    def is_upload(self) -> bool:
        """Whether a file comes."""
        return self.route == UPLOAD

    @property
    def is_for_programs(self) -> bool:
        """Whether a key opens it, where the role of its owner does."""
        return self.route not in BY_PEOPLE


@dataclass(frozen=True)
class Access:
    """The rules of a server; ``has_reviews`` where it has several, each below an address of its own."""

    rules: tuple[Rule, ...]
    has_reviews: bool

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], Rule]]:
        return [(compile_path(rule.template)[0], rule) for rule in self.rules]

    def of_path(self, path: str) -> dict[str, Rule]:
        """Return the rules of an address, by method."""
        return {rule.method: rule for pattern, rule in self._patterns if pattern.fullmatch(path)}

    def review_in(self, path: str) -> str:
        """Return the identity of the review that an address is of, whether it leads anywhere there or not."""
        found = BELOW_REVIEW.fullmatch(path) if self.has_reviews else None
        return "" if found is None else found[1]


def of_one_review() -> Access:
    """Return the rules of the page of one reader, who is let in as an owner."""
    extra = [Rule("GET", f"{API}/openapi.json", READER, f"GET {API}/openapi.json")]
    return Access((*_rules(OF_REVIEW, ""), *extra), False)


def of_team() -> Access:
    """Return the rules of the server of a team."""
    return Access((*_rules(OF_SERVER, ""), *_rules(OF_REVIEW, REVIEWS), *_rules(OF_TEAM, REVIEWS)), True)


def may(visitor: Visitor | None, least: str) -> bool:
    """Tell whether somebody may what needs at least a role.

    >>> may(Visitor(role="reviewer"), "reader"), may(Visitor(role="reader"), "owner"), may(None, "nobody")
    (True, False, True)
    """
    if least == NOBODY:
        return True
    if visitor is None:
        return False
    if least == ACCOUNT:
        return visitor.account is not None and not visitor.is_program
    if least == ADMIN:
        return visitor.is_admin and not visitor.is_program
    return visitor.role is not None and ROLES.index(visitor.role) >= ROLES.index(least)


def _rules(table: dict[str, str], below: str) -> Iterator[Rule]:
    for least, routes in table.items():
        for route in (line.strip() for line in routes.strip().splitlines()):
            method, path = route.split()
            yield Rule(method, _below(path, below), least, route)


def _below(path: str, prefix: str) -> str:
    if path.startswith(API):
        return API + prefix + path.removeprefix(API)
    return (prefix + path).removesuffix("/") or "/"
