"""Which column holds the title, the abstract, the id, the label: by the names that common programs give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from riffler.data.folder import or_its_folder
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

NAMES = {
    "title": ("title", "primary title", "article title", "document title", "publication title", "ti", "t1", "subject"),
    "abstract": ("abstract", "abstract note", "abstract text", "notes abstract", "abstracts", "ab", "n2"),
    "text": ("text", "body", "full text", "fulltext", "content", "document", "message", "comment", "description"),
    "id": (
        "id",
        "record id",
        "recordid",
        "item id",
        "doc id",
        "docid",
        "document id",
        "identifier",
        "key",  # Zotero, Rayyan
        "record number",  # EndNote
        "pmid",
        "pubmed id",
        "eid",  # Scopus
        "ut",  # Web of Science
        "ut (unique wos id)",
        "publication id",  # Dimensions
        "lens id",
        "cochrane id",
        "covidence #",
    ),
    "label": (
        "riffler label",  # what held when a review was exported, its known labels among it
        "label included",
        "included",
        "label",
        "final included",
        "included label",
        "included final",
        "included flag",
        "include",
        "inclusion",
        "relevant",
        "relevance",
        "is relevant",
        "decision",
    ),
    "doi": ("doi", "do", "di", "digital object identifier", "lid", "aid", "doi link", "article doi"),
    "authors": ("authors", "author", "author full names", "author names", "creators", "creator", "fau", "au", "a1"),
    "year": ("year", "publication year", "pub year", "py", "y1", "dp", "publication date", "date"),
    "journal": ("journal", "journal title", "source title", "secondary title", "journal name", "venue", "jt", "t2"),
    "keywords": ("keywords", "author keywords", "keyword", "index keywords", "manual tags", "ot", "mh", "kw", "de"),
    "url": ("url", "link", "links", "urls", "ur"),
}
"""Names of each part as in exports of ASReview, Zotero, EndNote, Rayyan, PubMed, Scopus, Web of Science and others.

Capitals, blanks, hyphens and underscores make no difference. Of several that are there the first in this order counts.
"""

SHOWN_NAMES, SHOWN_LETTERS = 50, 100
"""Names of columns in a message, and letters of each."""

DOI = r"(10\.\d{4,9}/[^\s\"<>]+)"


def fold_name(name: str) -> str:
    """A column name for comparison.

    >>> fold_name("Abstract_Note"), fold_name(" Record-ID ")
    ('abstract note', 'record id')
    """
    return re.sub(r"[\s_\-]+", " ", name.strip().strip("\ufeff")).strip().casefold()


def find_column(frame: pl.DataFrame, part: str) -> str | None:
    """The column that plays a part by its name, None if there is none.

    >>> import polars as pl
    >>> find_column(pl.DataFrame({"Article Title": ["On gulls"], "AB": ["They fly."]}), "abstract")
    'AB'
    """
    folded = {fold_name(name): name for name in reversed(frame.columns)}
    return next((folded[name] for name in NAMES[part] if name in folded), None)


def names_in_words(names: Sequence[str]) -> str:
    """Names of columns for a message, the first of them where there are very many.

    >>> names_in_words(["title", "year"]), names_in_words([f"x{n}" for n in range(60)])[-17:]
    ('title, year', 'x48, x49 and more')
    """
    cut = [name if len(name) <= SHOWN_LETTERS else f"{name[:SHOWN_LETTERS]}..." for name in names[:SHOWN_NAMES]]
    return ", ".join(cut) + (" and more" if len(names) > SHOWN_NAMES else "")


def chosen_column(frame: pl.DataFrame, part: str, name: str, source: str) -> str:
    """The column the caller named, whatever its capitals; an error that lists the columns if it is not there."""
    if name in frame.columns:
        return name
    alike = [own for own in frame.columns if fold_name(own) == fold_name(name)]
    if len(alike) != 1:
        raise DataFileError(f"{source}: no column {name!r} for the {part}. Columns: {names_in_words(frame.columns)}.")
    return alike[0]


def as_text(series: pl.Series, source: str | None = None) -> pl.Series:
    """A column as text, "" where it is null; lists are joined by line feeds, whole numbers have no point.

    >>> import polars as pl
    >>> as_text(pl.Series([1.0, 1.5, None])).to_list(), as_text(pl.Series([["a", "b"]])).to_list()
    (['1', '1.5', ''], ['a\\nb'])
    """
    return text_or_null(series, source).fill_null("")


def text_or_null(series: pl.Series, source: str | None = None) -> pl.Series:
    """A column as text, null where it is null; a column of texts is not copied. ``source`` is for messages."""
    import polars as pl

    if not can_be_text(series.dtype):
        where = "" if source is None else f"{source}: "
        raise DataFileError(
            f"{where}column {series.name!r} holds values of type {series.dtype}, expected texts. Name another column "
            "in its place, or write the file again with texts in this one."
        )
    if isinstance(series.dtype, pl.List | pl.Array):
        if series.dtype.inner.is_float():
            series = _lists_of_texts(series)
        series = series.cast(pl.List(pl.String)).list.join("\n", ignore_nulls=True)
    elif series.dtype.is_float():
        series = pl.select(_number_as_text(pl.lit(series)).alias(series.name))[series.name]
    elif isinstance(series.dtype, pl.Struct):
        series = series.struct.json_encode()
    return series if series.dtype == pl.String else series.cast(pl.String)


def _lists_of_texts(series: pl.Series) -> pl.Series:
    """Lists of numbers as lists of texts: of all numbers at once, as list by list takes a hundred times as long."""
    import polars as pl

    lists = pl.DataFrame({"lists": series.cast(pl.List(pl.Float64))}).with_row_index("place")
    numbers = lists.filter(pl.col("lists").list.len() > 0).explode("lists")
    texts = numbers.with_columns(texts=_number_as_text(pl.col("lists"))).group_by("place").agg("texts")
    together = lists.join(texts, on="place", how="left", maintain_order="left")
    none = pl.when(pl.col("lists").is_not_null()).then(pl.lit([], dtype=pl.List(pl.String)))
    return together.select(pl.coalesce("texts", none).alias(series.name))[series.name]


def can_be_text(dtype: pl.DataType) -> bool:
    """Whether values of a type can be told as texts: not bytes, spans of time, or lists of lists.

    >>> import polars as pl
    >>> [can_be_text(one) for one in (pl.Float64(), pl.List(pl.String), pl.Binary(), pl.List(pl.List(pl.String)))]
    [True, True, False, False]
    """
    import polars as pl

    if isinstance(dtype, pl.List | pl.Array):
        return not isinstance(dtype.inner, pl.List | pl.Array) and can_be_text(dtype.inner)  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):  # as JSON, which knows all but bytes
        return not has_bytes(dtype)
    return dtype not in (pl.Binary, pl.Duration, pl.Object)


def has_bytes(dtype: pl.DataType) -> bool:
    """Whether there are bytes in values of a type, however deep they lie."""
    import polars as pl

    if isinstance(dtype, pl.Struct):
        return any(has_bytes(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    if isinstance(dtype, pl.List | pl.Array):
        return has_bytes(dtype.inner)  # type: ignore[arg-type]
    return dtype == pl.Binary


def _number_as_text(number: pl.Expr) -> pl.Expr:
    """Each number by itself, so that it is the same text whatever the others are; NaN is no number.

    The digits are those by which ``read_as_texts`` of JSON lines tells a number: the fewest that name it, no exponent.
    """
    import polars as pl

    digits = number.cast(pl.Float64).fill_nan(None).cast(pl.String).str.strip_suffix(".0")
    return digits.map_batches(_without_exponents, return_dtype=pl.String).replace("-0", "0")


def _without_exponents(digits: pl.Series) -> pl.Series:
    import polars as pl

    if not digits.str.contains("e", literal=True).any():
        return digits
    plain = [one if one is None or "e" not in one else format(Decimal(one), "f") for one in digits]
    return pl.Series(digits.name, plain, dtype=pl.String)


def first_text(frame: pl.DataFrame, names: tuple[str, ...], source: str | None = None) -> pl.Series | None:
    """Row by row the first of the named columns that is not blank; None where the frame has none of them."""
    import polars as pl

    found = [as_text(frame[name], source) for name in names if name in frame.columns]
    if not found:
        return None
    filled = [pl.when(pl.lit(part).str.strip_chars() != "").then(pl.lit(part)) for part in found]
    return pl.select(text=pl.coalesce(*filled).fill_null(""))["text"]


def find_dois(frame: pl.DataFrame) -> pl.Series:
    """The DOI of each row in small letters, without the address before it; "" where there is none.

    >>> import polars as pl
    >>> find_dois(pl.DataFrame({"DOI": ["https://doi.org/10.1000/AbC.", None, "n/a"]})).to_list()
    ['10.1000/abc', '', '']
    """
    import polars as pl

    found = pl.Series([""] * frame.height, dtype=pl.String)
    for name in frame.columns:
        if fold_name(name) in NAMES["doi"] and can_be_text(frame.schema[name]):
            here = as_text(frame[name]).str.extract(DOI).str.strip_chars_end(".,;)]").str.to_lowercase().fill_null("")
            found = pl.select(doi=pl.when(pl.lit(found) == "").then(pl.lit(here)).otherwise(pl.lit(found)))["doi"]
    return found


def rows_with(frame: pl.DataFrame, column: str, value: str, source: str) -> pl.DataFrame:
    """The rows that have a value in a column; an error that lists the values if there is none."""
    texts = as_text(frame[chosen_column(frame, "rows", column, source)], source)
    chosen = frame.filter(texts == value)
    if chosen.height == 0:
        known = texts.unique().sort().to_list()
        more = f" and {len(known) - 20:,} more" if len(known) > 20 else ""
        raise DataFileError(f"{source}: no row has {value!r} in {column!r}. Values: {', '.join(known[:20])}{more}.")
    return chosen


def no_text(names: Sequence[str], source: str) -> DataFileError:
    """The error of a table without a column of texts."""
    return DataFileError(
        f"{source}: no column is called title, abstract or text. Columns: {names_in_words(names)}. Say which one holds "
        f"the text with title=, abstract= or text= (--title, --abstract or --text).{or_its_folder(source)}"
    )
