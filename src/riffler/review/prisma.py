"""The counts of a PRISMA 2020 flow diagram, as far as a screening of titles and abstracts goes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import func, select

from riffler.data.opening import shown_name
from riffler.review.schema import Document, Stratum
from riffler.review.standing import standings
from riffler.review.store import LEFT_OUT, Review


@dataclass(frozen=True, slots=True)
class PrismaCounts:
    """How many records went which way; ``screened = included + excluded + unresolved``.

    identified : records of each import, by its source
    duplicates : removed before screening
    known : among the screened ones, those whose labels came with an import
    unresolved : answered "maybe" or skipped
    not_screened : still unread
    claim : what may be said about the relevant records that were not found; "" where nothing can be said
    """

    identified: tuple[tuple[str, int], ...]
    duplicates: int
    screened: int
    known: int
    excluded: int
    unresolved: int
    included: int
    not_screened: int
    claim: str

    def table(self) -> list[tuple[str, int]]:
        """Return the rows of a table: words and number, in the order of the diagram."""
        total = sum(n for _, n in self.identified)
        sources = [(f"Records identified from {source}", n) for source, n in self.identified]
        return [
            *(sources if len(sources) > 1 else []),
            ("Records identified", total),
            ("Duplicate records removed before screening", self.duplicates),
            ("Records to be screened", total - self.duplicates),
            ("Records screened", self.screened),
            ("Records screened before this review", self.known),
            ("Records not screened", self.not_screened),
            ("Records excluded", self.excluded),
            ("Records unresolved (maybe or skipped)", self.unresolved),
            ("Records included", self.included),
        ]


def prisma_counts(review: Review) -> PrismaCounts:
    """Count the records of a review; duplicates that an import brought and the review had already are counted too."""
    left_out = Counter[str]()
    for _, name, details in review.events():
        if name == LEFT_OUT:
            left_out[details["source"]] += details["n"]
    with review.moment() as session:
        imported = session.execute(
            select(Stratum.source, func.count(Document.id))
            .join(Document, Document.stratum_id == Stratum.id)
            .where(Stratum.review_id == review.id)
            .group_by(Stratum.id)
            .order_by(Stratum.id)
        ).all()
        is_twin = (Document.review_id == review.id) & Document.twin_of.is_not(None)
        n_twins = session.scalar(select(func.count(Document.id)).where(is_twin)) or 0
        n_asked = session.scalar(select(func.sum(Stratum.n_asked)).where(Stratum.review_id == review.id)) or 0
        held = standings(session, review.id)
        if review.folder is not None:  # only those that came up are in the database
            whole = select(Stratum.source, Stratum.n_asked).where(Stratum.review_id == review.id)
            imported = session.execute(whole).all()
    identified = Counter[str]()
    for source, n in (*imported, *left_out.items()):
        identified[shown_name(source)] += n
    verdicts = Counter(one.verdict for one in held)
    return PrismaCounts(
        identified=tuple(identified.items()),
        duplicates=n_twins + left_out.total(),
        screened=len(held),
        known=sum(one.origin == "prior" for one in held),
        excluded=verdicts["irrelevant"],
        unresolved=verdicts["maybe"] + verdicts["skip"],
        included=verdicts["relevant"],
        not_screened=n_asked - len(held),
        claim=_claim(review),
    )


def _claim(review: Review) -> str:
    progress = review.progress()
    return "" if progress is None or progress.stale else str(progress.values.get("sentence") or "")
