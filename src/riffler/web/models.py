"""What goes over the wire, typed and bounded; FastAPI makes the OpenAPI description of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["relevant", "irrelevant", "maybe", "skip"]
Kind = Literal["answer", "undo", "note", "tag", "untag", "opinion"]
Origin = Literal["prior", "policy", "control", "search", "correction"]
ExportName = Literal["csv", "xlsx", "ris", "parquet", "jsonl"]
Which = Literal["all", "relevant", "irrelevant", "maybe", "skip", "unread"]
ChartName = Literal["recall", "map", "pace"]
Term = Annotated[list[str | float], Field(min_length=2, max_length=2, description="A term and its weight.")]

MAX_ID, MAX_NOTE, MAX_TAG, MAX_SECONDS = 4000, 20_000, 200, 3600.0
NO_NUL = r"^[^\x00]*$"  # SQLite ends a text there

DocumentId = Annotated[
    str, Field(max_length=MAX_ID, pattern=NO_NUL, description="Id of a document, as it was imported.")
]
Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        pattern=NO_NUL,
        description="Made by the client, another one for each request; what is sent again with it is recorded once.",
    ),
]
Number = Annotated[int, Field(ge=1, le=2**63 - 1)]
Note = Annotated[str, Field(max_length=MAX_NOTE, pattern=NO_NUL)]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG, pattern=NO_NUL)]


class Given(BaseModel):
    """What a client sends: unknown fields are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class Counts(BaseModel):
    """How many documents hold which verdict now; those without one are unread."""

    relevant: int
    irrelevant: int
    maybe: int
    skip: int
    unread: int


class Twin(BaseModel):
    """A duplicate, which is shown with its document and not asked for."""

    id: str
    title: str
    abstract: str
    columns: dict[str, Any]
    source: str


class DocumentOut(BaseModel):
    """A document to be read, and what was said of it."""

    id: str
    title: str
    abstract: str
    columns: dict[str, Any] = Field(description="Every column of its file, by name.")
    source: str = Field(description="The file it came from.")
    twins: list[Twin]
    verdict: Verdict | None = Field(description="What holds now, null for unread.")
    answer: int | None = Field(description="Number of the answer that holds; send it as `expect`.")
    note: str
    tags: list[str]


class Suggested(BaseModel):
    """A document that is to be read next, and why."""

    suggestion: int = Field(description="Goes back with the answer.")
    why: str
    origin: str = Field(description='"policy", or "control" for one drawn at random.')
    score: float | None
    document: DocumentOut


class SuggestedAs(BaseModel):
    """How a document came to be shown."""

    suggestion: int = Field(description="Goes back with the answer.")
    why: str
    origin: str


class AnswerIn(Given):
    """One verdict."""

    document: DocumentId
    verdict: Verdict
    key: Key
    suggestion: Number | None = Field(default=None, description="What was on the screen, where it came from /next.")
    seconds: float | None = Field(
        default=None, ge=0, description=f"Spent reading; more than {MAX_SECONDS:g} count as that."
    )
    note: Note = ""
    expect: int | None = Field(
        default=None,
        ge=1,
        le=2**63 - 1,
        description="Number of the answer that held when the document was shown, null for none. "
        "Where another one holds now, nothing is written and the reply is 409. Leave it out to answer in any case.",
    )


class AnswersIn(Given):
    """Verdicts that are recorded together: all or none."""

    answers: list[AnswerIn] = Field(min_length=1, max_length=500)


class ReceiptOut(BaseModel):
    """What the ledger holds of a request; ``repeated`` where it was there before."""

    id: int
    document: str
    kind: str
    verdict: str | None
    origin: str | None
    repeated: bool


class Answered(BaseModel):
    """Receipts in the order of the answers; they are on the disk."""

    receipts: list[ReceiptOut]
    counts: Counts


class UndoIn(Given):
    """Which answer to take back."""

    key: Key
    answer: Number | None = Field(default=None, description="Number of the answer; without it, your last one.")


class Undone(BaseModel):
    """The document is as it was before the answer."""

    receipt: ReceiptOut
    document: DocumentOut
    counts: Counts
    suggestion: SuggestedAs | None = Field(description="How it came to be shown; answer with it again.")


class NoteIn(Given):
    """A note about a document."""

    document: DocumentId
    text: Note
    key: Key


class TagIn(Given):
    """A tag of a document."""

    document: DocumentId
    tag: Tag
    key: Key


class Settings(BaseModel):
    """What is sought, and how."""

    policy: str
    stopping: str | None
    clusters: str | None
    description: str | None
    target: float
    confidence: float
    seed: int
    criteria: str
    highlight: list[str]
    screening: str = Field(description='Which documents several people read: "single", "all", "share", "control".')
    readers: int = Field(description="How many read such a document.")
    screening_share: float = Field(description='How much of the collection, with "share".')
    resolution: str = Field(description='Who settles a disagreement: a "third" person, or the readers by "consensus".')
    rescore_every: int = Field(description="Everything is scored at every so many updates of the search.")
    candidates: int = Field(description="How many documents are scored at the updates between.")


class SettingsSaved(Settings):
    """Settings as they are now."""

    settings_version: int = Field(description="Send it as `expect` with the next change.")


def _without_defaults(schema: dict[str, Any]) -> None:
    for one in schema["properties"].values():
        one.pop("default", None)


class SettingsIn(Given):
    """Settings that change; those left out stay. All but criteria and highlight make the search start anew."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)  # what is left out is not set to a default

    criteria: str = Field(default="", max_length=MAX_NOTE, pattern=NO_NUL, description="When a document is relevant.")
    highlight: list[Tag] = Field(default=[], max_length=500, description="Words that the page marks.")
    description: str | None = Field(default=None, max_length=MAX_NOTE, pattern=NO_NUL, description="What is sought.")
    target: float = Field(default=0.95, gt=0, lt=1, description="Recall that is wanted.")
    confidence: float = Field(default=0.95, gt=0, lt=1, description="How sure a certificate shall be.")
    stopping: str | None = Field(default=None, max_length=100, description="Name of a stopping rule; null for none.")
    policy: str = Field(default="", max_length=100, description="Name of a search policy.")
    screening: Literal["single", "all", "share", "control"] = Field(
        default="single", description="Which documents several people read, each without knowing what the others say."
    )
    readers: int = Field(default=2, ge=2, le=5, description="How many read such a document.")
    screening_share: float = Field(default=0.1, gt=0, lt=1, description='How much of the collection, with "share".')
    resolution: Literal["third", "consensus"] = Field(
        default="third", description="Who settles it where they disagree: somebody else, or they themselves."
    )
    rescore_every: int = Field(
        default=1, ge=1, le=2**31, description="Score everything at every so many updates of the search only."
    )
    candidates: int = Field(
        default=10_000, ge=1, le=2**31, description="How many documents are scored at the updates between."
    )
    expect: int | None = Field(
        default=None,
        ge=0,
        le=2**31,
        description="`settings_version` that the change was decided on; 409 where somebody has changed them since.",
    )


class StratumOut(BaseModel):
    """Documents that were imported together."""

    id: int
    source: str
    n: int = Field(description="How many of them are asked for.")


class LearnerOut(BaseModel):
    """The process that learns from the answers."""

    alive: bool
    behind: int = Field(description="Answers that it has not taken in.")
    error: str | None = Field(description="Why it stopped the last time, if it did.")


class OpenOut(BaseModel):
    """Documents without an answer that some have read, or read now."""

    waiting: int = Field(description="For one more reader.")
    conflicts: int = Field(description="For a decision between those who disagree.")
    held: int = Field(description="That others read now, and one person is enough for.")


class ReviewOut(BaseModel):
    """The review at a glance."""

    name: str
    identity: str = Field(description="Its name in addresses, which no other review has.")
    role: str = Field(description='What you are in it: "reader", "reviewer" or "owner".')
    frozen_at: str | None = Field(description="Since when nothing can be changed; null where it can.")
    settings_version: int = Field(description="Send it as `expect` when you change settings.")
    open: OpenOut
    version: str = Field(description="Version of Riffler.")
    settings: Settings
    counts: Counts
    strata: list[StratumOut]
    learner: LearnerOut


class Piece(BaseModel):
    """Part of a text; ``hit`` where it is a word that was looked for."""

    text: str
    hit: bool


class HitOut(BaseModel):
    """A document that was found, and what holds for it."""

    id: str
    title: str
    snippet: list[Piece]
    verdict: Verdict | None
    answer: int | None = Field(description="Number of the answer that holds; send it as `expect`.")


class Found(BaseModel):
    """Hits, the best first, and whether there are more."""

    hits: list[HitOut]
    more: bool
    in_folder: int | None = Field(
        description="In a review of a collection on disk: how many documents of all have these words. Those that fit "
        "best are found; more words find fewer."
    )


class Line(BaseModel):
    """One thing that was said."""

    id: int
    document: str
    title: str
    reviewer: str
    kind: Kind
    verdict: Verdict | None
    origin: Origin | None
    undoes: int | None
    why: str
    note: str
    answered_at: str
    seconds: float | None
    holds: bool = Field(description="An answer that was neither undone nor corrected.")
    decided: str | None = Field(
        description='How it followed from several opinions: "agreement", "third", "consensus", "owner".'
    )


class ProgressOut(BaseModel):
    """How far the review is; with the further numbers of the progress panel."""

    model_config = ConfigDict(extra="allow")

    advice: str = Field(description='"go on", "may stop", "heuristic: probably enough" or "unknown".')
    sentence: str = Field(description="The advice in words; it claims no more than the certificate allows.")
    decision: dict[str, Any] | None = Field(default=None, description="What the stopping rule says.")
    recall: dict[str, Any] | None = Field(
        default=None, description="Found, estimated total and recall, with intervals."
    )
    curve: list[list[int]] = Field(default=[], description="Documents read, relevant ones found.")
    counts: Counts
    stale: bool = Field(description="Something was changed since: the claims are being made anew.")
    behind: int = Field(description="Answers that these numbers do not know.")
    made_at: str | None


class MappingOut(BaseModel):
    """Which column plays which part; null where none was found by its name."""

    title: str | None
    abstract: str | None
    text: str | None
    id: str | None
    label: str | None


class MappingIn(Given):
    """Which column plays which part; null lets it be found by its name."""

    title: str | None = Field(default=None, max_length=MAX_ID)
    abstract: str | None = Field(default=None, max_length=MAX_ID)
    text: str | None = Field(default=None, max_length=MAX_ID, description="Where there is no abstract.")
    id: str | None = Field(default=None, max_length=MAX_ID, description="`content` makes ids of the texts.")
    label: str | None = Field(default=None, max_length=MAX_ID, description="Labels that are known; empty takes none.")


class ImportIn(Given):
    """The columns to take; what is left out is found by its name."""

    mapping: MappingIn = MappingIn()
    positive: list[Annotated[str, Field(max_length=MAX_ID)]] = Field(
        default=[],
        max_length=100,
        description="Values of the label column that are relevant; without: 1, yes, include ...",
    )


class ArrivalOut(BaseModel):
    """What documents of a file are to the review."""

    n_new: int = Field(description="New documents, which will be asked for.")
    n_known: int = Field(description="Left out: the review has their ids.")
    n_twins: int = Field(description="Duplicates of documents of the review, shown with them.")
    n_repeated: int = Field(description="Duplicates of each other, shown together.")
    sentence: str


class PreviewOut(BaseModel):
    """What an uploaded file holds; nothing of it was added yet."""

    token: str = Field(description="Names the upload in the next request.")
    name: str
    format: str
    n_rows: int
    columns: list[str]
    mapping: MappingOut = Field(description="The columns that were found.")
    sample: list[dict[str, str]] = Field(description="The first rows.")
    problem: str = Field(description="Why it cannot be added with these columns, empty if it can.")
    arrival: ArrivalOut | None = Field(description="What adding it would bring, null where there is a problem.")


class CountRow(BaseModel):
    """One line of a table of counts."""

    words: str
    n: int


class TokenIn(Given):
    """What a token is for."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL, description="Such as `my script`.")]


class TokenOut(BaseModel):
    """A token, without its secret."""

    id: int
    name: str
    made_at: str
    last_used_at: str | None
    revoked_at: str | None
    reviewer: str | None = Field(default=None, description="Whose it is, in a team.")


class TokenMade(TokenOut):
    """A new token; keep its secret, it is not shown again."""

    token: str


class ErrorDetail(BaseModel):
    """What went wrong."""

    code: str = Field(description="For programs, such as `conflict`.")
    message: str = Field(description="For people: what was expected, what came, what to do.")


class ErrorOut(BaseModel):
    """The body of every error."""

    error: ErrorDetail
