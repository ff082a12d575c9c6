"""What a review looks for and how: everything that its search is rebuilt with, and what its page shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from riffler.errors import InputError, ReviewFileError
from riffler.search import WITH_CLUSTERS, policy_from
from riffler.stopping import rule_from_name
from riffler.stopping.progress import check_goal


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """Settings of a review.

    Parameters
    ----------
    policy, stopping, clusters : names, as in ``ActiveSearch``; a policy that uses clusters gets "kmeans" where none are
        named
    description : what is sought, in a sentence
    target, confidence : recall that is wanted, and how sure a certificate shall be
    seed : int of at least 0
    criteria : when a document is relevant, for the reviewers' eyes
    highlight : words that the page marks

    >>> ReviewSettings(description="snow", seed=3).for_search()["seed"]
    3
    """

    policy: str = "default"
    stopping: str | None = "control"
    clusters: str | None = None
    description: str | None = None
    target: float = 0.95
    confidence: float = 0.95
    seed: int = 0
    criteria: str = ""
    highlight: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_goal(self.target, self.confidence)
        if self.seed < 0:
            raise InputError(f"seed must be at least 0, got {self.seed!r}.")
        policy_from(self.policy)  # a name that nobody knows is found now, not by the first suggestion
        if self.stopping is not None:
            rule_from_name(self.stopping)

    def for_search(self) -> dict[str, Any]:
        """Return the arguments of ``ActiveSearch`` beside the collection."""
        names = ("policy", "stopping", "clusters", "description", "target", "confidence", "seed")
        given = {name: getattr(self, name) for name in names}
        if self.policy in WITH_CLUSTERS and self.clusters is None:  # without any it would be another policy
            given["clusters"] = "kmeans"
        return given

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON knows them."""
        return {**asdict(self), "highlight": list(self.highlight)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ReviewSettings:
        """Read settings that :meth:`as_json` gave."""
        strange = sorted(set(values) - {one.name for one in fields(cls)})
        if strange:
            raise ReviewFileError(f"The review has settings that this version does not know: {', '.join(strange)}.")
        return cls(**{**values, "highlight": tuple(values.get("highlight", ()))})
