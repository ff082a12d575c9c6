"""What a user may name as a review: a collection, a review that was begun, an archive; it ends up as one file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riffler.cli import output
from riffler.cli.search_sources import Columns, documents_of
from riffler.data.opening import shown_name
from riffler.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from riffler.cli.engine_options import EngineChoice
    from riffler.data.collection import Collection
    from riffler.data.duplicates import Duplicates

ENDING = ".riffler"
PARTS = ("title", "abstract", "text", "id", "label")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for.

    columns : which columns hold what
    settings : of the review, those that were given
    keep_duplicates : ask for each copy of a document
    ignore_labels : begin without what the file knows
    """

    columns: Columns
    settings: Mapping[str, Any]
    keep_duplicates: bool
    ignore_labels: bool

    def check_for_folder(self, source: str) -> None:
        """Refuse what can only be said of files."""
        given = [f"--{part}" for part in (*PARTS, "encoding") if getattr(self.columns, part) is not None]
        given += ["--keep-duplicates"] * self.keep_duplicates
        if given:
            raise InputError(
                f"{source} is a collection on disk: {', '.join(given)} can only be said of files. Leave it out. (Its "
                "columns were chosen by `riffler index`, and duplicates are not looked for in it.)"
            )

    def check_for_existing(self, path: Path) -> None:
        """Refuse what only a new review can take."""
        given = [f"--{part}" for part in (*PARTS, "encoding") if getattr(self.columns, part) is not None]
        given += ["--keep-duplicates"] * self.keep_duplicates + ["--ignore-labels"] * self.ignore_labels
        given += ["--seed"] * ("seed" in self.settings)
        if given:
            raise InputError(
                f"{path} is a review that was begun: {', '.join(given)} can only be said of a new one. Leave it out, "
                "or name another file with --file."
            )


def review_file(
    source: str, file: Path | None, asked: Asked, say: Callable[[str], None], tell: Callable[[float, str], None]
) -> Path:
    """Return the file of the review that SOURCE names; it is made where there is none yet."""
    from riffler.disk import is_collection

    path = Path(source)
    target = file or _beside(path)
    on_disk = is_collection(path)
    if on_disk:
        asked.check_for_folder(source)
    if path.suffix == ENDING and path.exists() and target != path:
        raise InputError(f"{path} is a review already. Leave out --file, or copy it with `riffler backup {path}`.")
    output.check_target(target, "--file")
    if target.exists():
        if _is_archive(path):
            raise InputError(
                f"{target} is there already, and may be another review than the one in {path}. Go on with it by "
                f"`riffler review {target}`, or open the archive under another name with --file."
            )
        asked.check_for_existing(target)
        if on_disk:
            _follow(target, source)
        elif path.suffix != ENDING:
            _check_made_of(target, source)
        _open_again(target, asked, say)
        return target
    if path.suffix == ENDING:
        raise InputError(f"{path}: there is no such file. Name the collection that it shall be made of.")
    target.parent.mkdir(parents=True, exist_ok=True)
    if _is_archive(path):
        from riffler.review.archive import open_archive
        from riffler.review.settings import ReviewSettings

        asked.check_for_existing(path)
        ReviewSettings(**asked.settings)  # what is wrong here is found before the work, not after it
        open_archive(path, target)
        say(f"{path} is an archive of a review. It is opened as {target}.")
        _open_again(target, asked, say)
    elif on_disk:
        _make_of_folder(source, target, asked, say)
    else:
        _make(source, target, asked, say, tell)
    return target


def check_engine_for(source: str, choice: EngineChoice) -> None:
    """Refuse an engine for a review whose documents are in its file, before anything is made."""
    from riffler.disk import is_collection
    from riffler.review.store import open_review

    if choice.is_default or is_collection(source):
        return
    if Path(source).suffix != ENDING or not Path(source).exists():
        choice.check_for_file(source)
    with open_review(source) as review:
        if review.folder is None:
            choice.check_for_file(source)


def _make_of_folder(source: str, target: Path, asked: Asked, say: Callable[[str], None]) -> None:
    """Make a review of a collection on disk; the documents stay there."""
    import numpy as np

    from riffler.disk import open_collection
    from riffler.review.creating import create_folder_review
    from riffler.review.settings import ReviewSettings

    settings = ReviewSettings(**asked.settings)
    collection = open_collection(source)
    labels = None if asked.ignore_labels else collection.labels
    if labels is not None and (labels >= 0).all():
        raise InputError(
            f"{source}: all {collection.n_items:,} documents have a label already, there is nothing to review. Use "
            "--ignore-labels to begin without them, or `riffler simulate` to see what a review would have cost."
        )
    known = np.empty(0, dtype=np.int64) if labels is None else np.flatnonzero(labels >= 0)
    create_folder_review(target, collection, settings, known=known).close()
    say(f"{source}: {collection.n_items:,} documents, which stay in the collection on disk.")
    if known.size and labels is not None:
        n_relevant = int((labels == 1).sum())
        say(f"  {n_relevant:,} relevant and {known.size - n_relevant:,} irrelevant ones are known")
    say(f"The review is in {target}.")


def _follow(target: Path, source: str) -> None:
    """Go on with a review of a collection on disk, which may have been moved."""
    from riffler.disk import open_collection
    from riffler.review.store import open_review

    with open_review(target) as review:
        if review.folder is None:
            _check_made_of(target, source)
        review.follow_folder(open_collection(source))


def _make(
    source: str, target: Path, asked: Asked, say: Callable[[str], None], tell: Callable[[float, str], None]
) -> None:
    """Make a review of a collection, and say what was taken for what."""
    from riffler.data.duplicates import find_duplicates
    from riffler.review.creating import create_review
    from riffler.review.settings import ReviewSettings

    settings = ReviewSettings(**asked.settings)  # what is wrong here is found before the work, not after it
    tell(0.0, "reading")
    frame = documents_of(source, asked.columns)
    if frame is None:
        raise InputError(f"{source!r} holds numbers and no texts. A review needs titles, abstracts or texts.")
    collection = _collection(frame, source, asked)
    duplicates = None
    if not asked.keep_duplicates:
        tell(0.3, "looking for duplicates")
        duplicates = find_duplicates(collection)
    tell(0.6, "writing the review")
    create_review(target, collection, settings, duplicates=duplicates).close()
    tell(1.0, "done")
    for line in _report(frame, collection, duplicates, asked):
        say(line)
    say(f"The review is in {target}.")


def _collection(frame: pl.DataFrame, source: str, asked: Asked) -> Collection:
    from riffler.data.collection_reading import collection_from_frame
    from riffler.data.text_columns import find_column

    columns = asked.columns
    label = find_column(frame, "label") if asked.ignore_labels else None
    read = collection_from_frame(
        frame if label is None else frame.drop(label),
        title=columns.title, abstract=columns.abstract, text=columns.text, id=columns.id, label=columns.label,
        source=Path(source).name or source,
    )  # fmt: skip
    if asked.ignore_labels:
        return replace(read, labels=None, columns=frame)
    if read.labels is not None and (read.labels >= 0).all():
        raise InputError(
            f"{source}: all {read.n_items:,} documents have a label already (column {label_column(frame, columns)}), "
            "there is nothing to review. Use --ignore-labels to begin without them, or `riffler simulate` to see what "
            "a review would have cost."
        )
    return read


def label_column(frame: pl.DataFrame, columns: Columns) -> str:
    """Return the column that the labels come from, in words where it has no name of its own."""
    from riffler.data.text_columns import find_column

    return columns.label or find_column(frame, "label") or "the notes of the records"


def _report(frame: pl.DataFrame, collection: Collection, duplicates: Duplicates | None, asked: Asked) -> list[str]:
    """Say which column was taken for what, so that a wrong guess is seen before the first document is read."""
    from riffler.data.text_columns import find_column

    lines = [f"{collection.source}: {collection.n_items:,} documents."]
    for part in ("title", "abstract", "text", "id"):
        chosen = getattr(asked.columns, part)
        found = chosen or find_column(frame, part)
        if found is not None and (part != "text" or find_column(frame, "abstract") is None or chosen):
            lines.append(f"  {part:9} {found}{'' if chosen else f'  (another one: --{part} COLUMN)'}")
    if collection.labels is not None:
        n_relevant, n_known = int((collection.labels == 1).sum()), int((collection.labels >= 0).sum())
        known = f"{n_relevant:,} relevant and {n_known - n_relevant:,} irrelevant ones are known"
        lines.append(f"  {'label':9} {label_column(frame, asked.columns)}: {known}  (without: --ignore-labels)")
    if duplicates is not None and len(duplicates.pairs):
        lines.append(f"  {duplicates}: shown together, asked for once  (each by itself: --keep-duplicates)")
    return lines


def _check_made_of(target: Path, source: str) -> None:
    """Refuse to show a review of one file to somebody who named another."""
    from riffler.review.store import open_review

    with open_review(target) as review:
        made_of = [shown_name(one.source) for one in review.imports()]
    if shown_name(source) not in made_of:
        raise InputError(
            f"{target} is a review of {made_of[0]}, not of {shown_name(source)}. Go on with it by "
            f"`riffler review {target}`, or name another file for the review of {source} with --file."
        )


def _open_again(target: Path, asked: Asked, say: Callable[[str], None]) -> None:
    """Open a review that was begun, to see that it can be, and change the settings that were given again."""
    from riffler.review.store import open_review

    with open_review(target) as review:
        review.opened_folder()  # it is there, and as it was
        before, counts = review.settings, review.counts()
        n_read = sum(counts.values()) - counts["unread"]
        say(f"Going on with {target}: {n_read:,} of {sum(counts.values()):,} documents read.")
        if replace(before, **asked.settings) != before:
            review.change_settings(asked.settings)
        for name, value in asked.settings.items():
            if value != (old := getattr(before, name)):
                say(f"  {name} is now {value!r}, was {old!r}.")


def _beside(path: Path) -> Path:
    """Return where the review of a collection is kept: beside it, under its name.

    >>> str(_beside(Path("folder/papers.ris.gz"))), str(_beside(Path("docstrings")))
    ('folder/papers.riffler', 'docstrings.riffler')
    """
    from riffler.data.opening import COMPRESSIONS

    name = path.name or path.resolve().name
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return path.parent / f"{Path(name).stem}{ENDING}" if name else Path(f"review{ENDING}")


def _is_archive(path: Path) -> bool:
    if path.suffix.lower() != ".zip" or not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as file:
        return "manifest.json" in file.namelist()
