"""Dense embeddings of texts: given as an array or a column, or made with WordLlama; alone or beside TF-IDF."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.records import FloatArray, Matrix, is_sparse

if TYPE_CHECKING:
    import polars as pl


def embed_texts(texts: Iterable[str] | pl.Series) -> FloatArray:
    """Embeddings of texts by WordLlama, float32 of shape (n_texts, 256), rows of length 1 (0 for an empty text).

    The weights are part of the ``wordllama`` package, so nothing is downloaded: ``pip install riffler[embeddings]``.
    """
    from riffler.features.tokens import text_chunks

    model = _word_llama()
    parts = []
    for chunk in text_chunks(texts):
        strings = chunk.to_list()
        filled = np.array([bool(text.strip()) for text in strings])
        rows = model.embed([text or " " for text in strings], norm=False)
        parts.append(np.where(filled[:, None], rows, np.float32(0)))
    if not parts:
        raise InputError("There are no texts to embed. Pass at least one.")
    return as_embedding(np.concatenate(parts))


@cache
def _word_llama() -> Any:  # noqa: ANN401 - an optional package without types
    try:
        package = import_module("wordllama")
    except ImportError as error:
        raise InputError(
            "Embedding texts needs the package wordllama. Install it with `pip install riffler[embeddings]`, "
            "or pass embeddings of your own."
        ) from error
    home = Path(str(package.__file__)).parent
    return package.WordLlama.load(cache_dir=home, disable_download=True)


def as_embedding(rows: ArrayLike | pl.Series) -> FloatArray:
    """Check embeddings from an array or from a polars column of lists, and divide each row by its length.

    Returns a float32 array of shape (n_items, n_dimensions); a row of zeros stays one.

    >>> as_embedding([[3, 4], [0, 0]]).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    listed = _listed(rows)
    try:
        array = np.asarray(listed)
    except ValueError as error:
        raise InputError(f"Embeddings must have as many numbers in each row ({error}).") from error
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiub":
        raise InputError(
            f"Embeddings must be numbers of shape (n_items, n_dimensions), got shape {array.shape} of {array.dtype}."
        )
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        raise InputError(f"Row {int(np.argmin(finite))} of the embeddings holds NaN or infinity. Drop or mend it.")
    length = np.sqrt(np.einsum("ij,ij->i", array, array, dtype=np.float64))
    length[length == 0] = 1.0
    unit: FloatArray = (array / length[:, None]).astype(np.float32)
    return unit


def _listed(rows: ArrayLike | pl.Series) -> ArrayLike:
    """Turn a column of lists into an array; lists of different length are an error that names the row."""
    import polars as pl

    if not isinstance(rows, pl.Series):
        return rows
    if not isinstance(rows.dtype, pl.List | pl.Array):
        raise InputError(f"Embeddings must be a column of lists of numbers, {rows.name!r} is one of {rows.dtype}.")
    series = rows.cast(pl.List(pl.Float64))
    lengths = series.list.len().fill_null(0).to_list()
    wrong = next((row for row, length in enumerate(lengths) if length != lengths[0] or length == 0), None)
    if wrong is not None:
        raise InputError(
            f"Row {wrong} of the embeddings has {lengths[wrong]} numbers, the first has {lengths[0]}. "
            "Each needs as many, at least one."
        )
    numbers: ArrayLike = series.explode().to_numpy().reshape(len(lengths), -1)
    return numbers


def stack_features(*blocks: Matrix, weights: Iterable[float] | None = None) -> Matrix:
    """Put blocks of features beside each other as one float32 CSR matrix, each multiplied by its weight.

    With rows of length 1 in each block, ``weights`` are the shares of their say: similarity of two rows is the sum of
    weight² times the similarity in each block.

    >>> from scipy import sparse
    >>> terms = sparse.csr_matrix(np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32))
    >>> stack_features(terms, as_embedding([[1.0], [-1.0]]), weights=[1.0, 0.5]).toarray().tolist()
    [[1.0, 0.0, 0.5], [0.0, 1.0, -0.5]]
    """
    from scipy import sparse

    shares = [1.0] * len(blocks) if weights is None else [float(weight) for weight in weights]
    if len(blocks) == 0 or len(shares) != len(blocks):
        raise InputError(f"Expected one weight for each block of features, got {len(shares)} for {len(blocks)} blocks.")
    n_rows = {block.shape[0] for block in blocks}
    if len(n_rows) > 1:
        raise InputError(
            f"Blocks of features must have the same rows, got {[block.shape[0] for block in blocks]} rows."
        )
    parts = []
    for block, share in zip(blocks, shares, strict=True):
        part = block.astype(np.float32)
        parts.append((part if is_sparse(part) else sparse.csr_matrix(part)) * np.float32(share))
    return sparse.hstack(parts, format="csr", dtype=np.float32)
