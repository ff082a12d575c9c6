"""What a review looks for and how: everything that its search is rebuilt with, and what its page shows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from riffler.errors import InputError, ReviewFileError, UnknownName
from riffler.search import WITH_CLUSTERS, policy_from
from riffler.search.rescoring import Rescoring
from riffler.stopping import rule_from_name
from riffler.stopping.progress import check_goal

SCREENINGS, RESOLUTIONS = ("single", "all", "share", "control"), ("third", "consensus")
MOST_READERS = 5


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
    screening : which documents several people read, each without knowing what the others say: "single" (none), "all",
        "share" (of all, drawn at random) or "control" (those of the control sample)
    readers : how many read such a document
    screening_share : how much of the collection, with "share"
    resolution : who settles it where they disagree: "third" (somebody who has not read it) or "consensus" (they, or an
        owner, write down what they agreed on)
    rescore_every, candidates : turns of the policy between two times that everything is scored, and how many documents
        are scored between, as in ``Rescoring``

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
    screening: str = "single"
    readers: int = 2
    screening_share: float = 0.1
    resolution: str = "third"
    rescore_every: int = 1
    candidates: int = 10_000

    def __post_init__(self) -> None:
        check_goal(self.target, self.confidence)
        if self.seed < 0:
            raise InputError(f"seed must be at least 0, got {self.seed!r}.")
        policy_from(self.policy)  # a name that nobody knows is found now, not by the first suggestion
        if self.stopping is not None:
            rule_from_name(self.stopping)
        if self.screening not in SCREENINGS:
            raise UnknownName.among("way of screening", self.screening, SCREENINGS)
        if self.resolution not in RESOLUTIONS:
            raise UnknownName.among("resolution", self.resolution, RESOLUTIONS)
        if not 2 <= self.readers <= MOST_READERS:
            raise InputError(f"readers must be between 2 and {MOST_READERS}, got {self.readers!r}.")
        if not 0 < self.screening_share < 1:
            raise InputError(f"screening_share must be above 0 and below 1, got {self.screening_share!r}.")
        if self.rescore_every < 1 or self.candidates < 1:
            raise InputError(
                f"rescore_every and candidates must be at least 1, got {self.rescore_every!r} and {self.candidates!r}."
            )

    def readers_of(self, document: str, origin: str) -> int:
        """Return how many shall read a document, which came up in some way.

        >>> ReviewSettings(screening="control", readers=3).readers_of("d7", "control")
        3
        """
        drawn = {
            "single": False,
            "all": True,
            "control": origin == "control",
            "share": self.screening == "share" and is_drawn(document, f"{self.seed}/screening", self.screening_share),
        }
        return self.readers if drawn[self.screening] else 1

    def for_search(self) -> dict[str, Any]:
        """Return the arguments of ``ActiveSearch`` beside the collection."""
        names = ("policy", "stopping", "clusters", "description", "target", "confidence", "seed")
        given = {name: getattr(self, name) for name in names}
        given["rescoring"] = Rescoring(self.rescore_every, self.candidates)
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


def is_drawn(document: str, seed: str, share: float) -> bool:
    """Tell whether a document belongs to a share that is drawn at random, the same one wherever it is asked."""
    digest = hashlib.blake2b(document.encode(), digest_size=8, key=seed.encode()).digest()
    return int.from_bytes(digest) < share * 2**64
