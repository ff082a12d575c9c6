"""The paper's figures 1 to 4: precision per batch and cumulative queries of the four schemes, linear and with RBF.

The data are "mean-normalized" in the paper. That may mean shifted columns or standardised ones: both are run. Nor does
the paper say what to do when sampling finds fewer positives than the top has mistakes: the figures are drawn with our
balance, and once without any, as its update is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from riffler.reproduction.active_at_k_cases import Case, Feed, Way, with_all_schemes

VARIANTS = {
    "standard": ("columns standardised", Way()),
    "center": ("columns shifted only", Way(scaling="center")),
    "unbalanced": ("no balance", Way(balance="none")),
}
"""Under which readings the figures are drawn: in words, and as a way of buying labels."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: which k, which kernel."""

    number: int
    k: int
    kernel: str

    @property
    def title(self) -> str:
        """Its number, k and kernel in words.

        >>> Figure(3, 50, "rbf").title
        'Figure 3: k = 50, RBF'
        """
        return f"Figure {self.number}: k = {self.k}, {'RBF' if self.kernel == 'rbf' else self.kernel}"


def figures(ks: tuple[int, int]) -> list[Figure]:
    """Give the four figures, for a small and a large k."""
    pairs = [(kernel, k) for kernel in ("linear", "rbf") for k in ks]
    return [Figure(number, k, kernel) for number, (kernel, k) in enumerate(pairs, start=1)]


def figure_cases(feed: Feed, figure: Figure, variant: str) -> list[Case]:
    """Give the four schemes of a figure."""
    return with_all_schemes(feed, figure.k, replace(VARIANTS[variant][1], kernel=figure.kernel))


def cases(feed: Feed, ks: tuple[int, int]) -> list[Case]:
    """Give all cases of all figures, in all variants."""
    return [case for variant in VARIANTS for figure in figures(ks) for case in figure_cases(feed, figure, variant)]
