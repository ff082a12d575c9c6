"""What the authors left for later: a harder data set, and positives that are rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riffler.reproduction.active_at_k_cases import Case, Feed, Way, with_all_schemes, with_our_own
from riffler.reproduction.active_at_k_feeds import n_batches_of
from riffler.reproduction.problems import Problem

KERNELS = ("linear", "rbf")


@dataclass(frozen=True, slots=True)
class Setting:
    """A data set, its share of positives, and k."""

    title: str
    feed: Feed
    k: int

    def cases(self, kernel: str) -> list[Case]:
        """Give the paper's schemes, and our own learner where there is one."""
        return [*with_all_schemes(self.feed, self.k, Way(kernel=kernel)), *with_our_own(self.feed, self.k, kernel)]


def settings(feeds: Sequence[Feed], found: Mapping[str, Problem], ks: tuple[int, int]) -> list[Setting]:
    """Give each feed both k, the larger no larger than half of the positives that a batch expects."""
    return [
        Setting(_title(feed), feed, k)
        for feed in feeds
        for k in dict.fromkeys((ks[0], large_k(feed, found[feed.data], ks[1])))
    ]


def large_k(feed: Feed, problem: Problem, wanted: int) -> int:
    """Give the wanted k, or half of the positives that a batch expects where that is less, in tens; at least 10."""
    share = float(problem.y.mean()) if feed.share is None else feed.share
    n_rows = len(problem.y) if feed.share is None else float((problem.y == 0).sum()) / (1 - share)
    n_rows = min(n_rows, feed.n_rows or n_rows)
    half = share * n_rows * (1 - feed.held_out) / n_batches_of(round(n_rows), feed) / 2
    return wanted if half >= wanted else max(10, int(half) // 10 * 10)


def _title(feed: Feed) -> str:
    return feed.data if feed.share is None else f"{feed.data}, {feed.share:.0%} positive"
