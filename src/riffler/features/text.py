"""Texts to weighted sparse rows (TF-IDF), by a vocabulary or by hashing."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.errors import InputError
from riffler.features.stop_words import resolve_stop_words
from riffler.records import FloatArray, IntArray, Matrix

if TYPE_CHECKING:
    import polars as pl

    from riffler.features.columns import Columns
    from riffler.features.tokens import CodedTexts
    from riffler.features.vocabulary import Limits

N_GRAM_RANGES = ((1, 1), (1, 2), (2, 2))
MOST_BITS = 28
LARGEST_INT32 = 2**31 - 1


class TextFeatures:
    """TF-IDF of texts as float32 CSR rows of length 1: the numbers of scikit-learn's TfidfVectorizer in less time.

    The entry of term t in text d is (1 + log count(t, d)) * idf(t), with idf(t) = log((1 + n) / (1 + n_t)) + 1 for n
    texts of which n_t hold the term. Words are lower-cased runs of at least two letters, digits, marks and underscores
    of any script. Columns are the words by the alphabet, then the pairs; the order and number of texts read at once
    make no difference.

    Parameters
    ----------
    ngram_range : (1, 1), (1, 2) or (2, 2)
        Words alone, words and pairs of neighbouring words, or pairs alone. Pairs are made after stop words are gone.
    stop_words : "english", sequence of str or None
        Words left out.
    min_df, max_df : int or float
        Terms in fewer or more texts are left out; an int is a number of texts, a float a share of them.
    max_features : int or None
        Keep only the terms used most.
    n_bits : int or None
        Hash terms into 2^n_bits columns instead of learning a vocabulary: column = MurmurHash3(term) mod 2^n_bits,
        the same on every machine and in every version. The limits above do not apply.
    sublinear_tf : bool
        Use 1 + log count in place of the count.
    norm : "l2" or None
        Divide rows by their length. A text without any known term is a row of zeros.

    Attributes
    ----------
    idf_ : float64 array, one a column
    n_features_ : int

    >>> features = TextFeatures()
    >>> X = features.fit_transform(["Rivers carry gold.", "Gold, gold and silver", "A river"])
    >>> X.shape, X.dtype.name, features.feature_names()
    ((3, 5), 'float32', ['carry', 'gold', 'river', 'rivers', 'silver'])
    >>> features.transform(["silver rivers"]).indices.tolist()
    [3, 4]
    """

    def __init__(
        self,
        *,
        ngram_range: tuple[int, int] = (1, 1),
        stop_words: str | Sequence[str] | None = "english",
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        n_bits: int | None = None,
        sublinear_tf: bool = True,
        norm: str | None = "l2",
    ) -> None:
        self.ngram_range = ngram_range
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.n_bits = n_bits
        self.sublinear_tf = sublinear_tf
        self.norm = norm

    def fit(self, texts: Iterable[str] | pl.Series, y: object = None) -> TextFeatures:
        """Learn the columns and their idf; ``y`` is not used."""
        self._learn(texts)
        return self

    def fit_transform(self, texts: Iterable[str] | pl.Series, y: object = None) -> Matrix:
        """Learn from texts and return their rows; texts are read once and may come from a generator."""
        return self._rows(self._learn(texts))

    def transform(self, texts: Iterable[str] | pl.Series) -> Matrix:
        """Rows of texts, a float32 CSR matrix of shape (n_texts, n_features_)."""
        from riffler.features.tokens import code_texts

        self._check_fitted()
        return self._rows(code_texts(texts, self._stop_words, self._columns.known))

    def use_idf(self, idf: FloatArray) -> TextFeatures:
        """Take an idf that is known, one a hashed column, instead of learning it from texts."""
        from riffler.features.columns import Hashing

        self._check_parameters()
        if self.n_bits is None or idf.shape != (1 << self.n_bits,):
            raise InputError(f"use_idf needs n_bits and an idf for each of the 2^n_bits columns, got {idf.shape}.")
        self._stop_words = resolve_stop_words(self.stop_words)
        self._columns: Columns = Hashing(self.n_bits, self.ngram_range[0] == 1, self.ngram_range[1] == 2)
        self.idf_: FloatArray = np.asarray(idf, dtype=np.float64)
        self.n_features_ = self._columns.n_columns
        return self

    def feature_names(self) -> list[str]:
        """The term of each column."""
        from riffler.features.columns import Vocabulary

        self._check_fitted()
        if not isinstance(self._columns, Vocabulary):
            raise InputError("Hashed columns have no names. Use n_bits=None to learn a vocabulary.")
        return self._columns.names()

    def get_feature_names_out(self, input_features: object = None) -> Any:  # noqa: ANN401 - an array of objects
        """The term of each column as an array, as scikit-learn asks for it."""
        return np.array(self.feature_names(), dtype=object)

    def _learn(self, texts: Iterable[str] | pl.Series) -> CodedTexts:
        from riffler.features.tokens import code_texts

        self._check_parameters()
        stop_words = resolve_stop_words(self.stop_words)
        coded = code_texts(texts, stop_words)
        if coded.n_texts == 0:
            raise InputError("There are no texts to learn from. Pass at least one.")
        if len(coded.codes) == 0:
            raise InputError(
                f"None of the {coded.n_texts} texts has a word of two or more letters that is no stop word. "
                "Check the column the texts come from, or use stop_words=None."
            )
        self._stop_words = stop_words
        n_texts, coded = self._learn_hashed(coded) if self.n_bits is not None else self._learn_vocabulary(coded)
        self.idf_ = smooth_idf(n_texts, coded.n_texts)
        self.n_features_ = self._columns.n_columns
        return coded

    def _learn_hashed(self, coded: CodedTexts) -> tuple[IntArray, CodedTexts]:
        from riffler.features.columns import Hashing, n_texts_of_columns

        assert self.n_bits is not None
        self._columns = Hashing(self.n_bits, self.ngram_range[0] == 1, self.ngram_range[1] == 2)
        return n_texts_of_columns(self._columns, coded), coded

    def _learn_vocabulary(self, coded: CodedTexts) -> tuple[IntArray, CodedTexts]:
        """Learn the columns; return the number of texts of each, and the texts by the numbers of the words kept."""
        from riffler.features.tokens import CodedTexts, renumber
        from riffler.features.vocabulary import learn_vocabulary

        limits = self._limits(coded.n_texts)
        with_words, with_pairs = self.ngram_range[0] == 1, self.ngram_range[1] == 2
        vocabulary, n_texts, number = learn_vocabulary(coded, limits, with_words=with_words, with_pairs=with_pairs)
        if vocabulary.n_columns == 0:
            raise InputError(
                f"No term is left: none of the {len(coded.words)} words (or their pairs) is in {limits.at_least:g} to "
                f"{limits.at_most:g} of the {coded.n_texts} texts. Lower min_df or raise max_df."
            )
        self._columns = vocabulary
        renumber(coded.codes, number)
        return n_texts, CodedTexts(coded.codes, coded.bounds, vocabulary.words)

    def _limits(self, n_texts: int) -> Limits:
        from riffler.features.vocabulary import Limits

        low, high = (
            float(limit) if _whole(limit, 1) else float(limit) * n_texts for limit in (self.min_df, self.max_df)
        )
        if low > high:
            raise InputError(
                f"min_df={self.min_df!r} asks for {low:g} texts of {n_texts}, max_df={self.max_df!r} allows "
                f"{high:g}. Lower min_df or raise max_df."
            )
        return Limits(low, high, self.max_features)

    def _rows(self, coded: CodedTexts) -> Matrix:
        from scipy import sparse

        from riffler._fast.terms import write_rows

        # room for every word; the system gives memory only for what is written, and the rest is handed back below
        room = len(coded.codes) * sum(self.ngram_range[1] >= n >= self.ngram_range[0] for n in (1, 2))
        indices, values = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
        bounds = np.zeros(coded.n_texts + 1, dtype=np.int64)
        counts = np.zeros(self.n_features_, dtype=np.int32)
        weighing = self.idf_, self.sublinear_tf, self.norm is not None
        first = 0
        for block in self._columns.blocks(coded):
            last = first + len(block.bounds) - 1
            row_ends = bounds[first + 1 : last + 1]
            write_rows(*block, *weighing, counts, indices, values, row_ends, bounds[first])
            first = last
        indices.resize(bounds[-1], refcheck=False)
        values.resize(bounds[-1], refcheck=False)
        indptr = bounds.astype(np.int32) if bounds[-1] <= LARGEST_INT32 else bounds
        rows = sparse.csr_matrix((values, indices, indptr), shape=(coded.n_texts, self.n_features_))
        rows.has_sorted_indices = rows.has_canonical_format = True
        return rows

    def _check_fitted(self) -> None:
        if not hasattr(self, "idf_"):
            raise InputError("TextFeatures has not learned from texts yet. Call fit or fit_transform first.")

    def _check_parameters(self) -> None:
        if tuple(self.ngram_range) not in N_GRAM_RANGES:
            raise InputError(f"ngram_range must be (1, 1), (1, 2) or (2, 2), got {self.ngram_range!r}.")
        if self.norm not in ("l2", None):
            raise InputError(f"norm must be 'l2' or None, got {self.norm!r}.")
        for name in ("min_df", "max_df"):
            _check_limit(name, getattr(self, name))
        if self.max_features is not None and not _whole(self.max_features, 1):
            raise InputError(f"max_features must be a whole number above 0 or None, got {self.max_features!r}.")
        if self.n_bits is None:
            return
        if not _whole(self.n_bits, 1) or self.n_bits > MOST_BITS:
            raise InputError(f"n_bits must be a whole number from 1 to {MOST_BITS} or None, got {self.n_bits!r}.")
        if (self.min_df, self.max_df, self.max_features) != (1, 1.0, None):
            raise InputError(
                "min_df, max_df and max_features choose terms of a vocabulary, and hashing has none. "
                "Leave them out, or use n_bits=None."
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""
        return {name: getattr(self, name) for name in inspect.signature(TextFeatures).parameters}

    def set_params(self, **params: object) -> TextFeatures:
        """Change parameters by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"TextFeatures has no parameter {name!r}. It has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(TextFeatures).parameters
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name].default]
        return f"TextFeatures({', '.join(changed)})"


def smooth_idf(n_texts_of_column: IntArray, n_texts: int) -> FloatArray:
    """Give idf(t) = log((1 + n) / (1 + n_t)) + 1 of each column."""
    idf: FloatArray = np.log((1.0 + n_texts) / (1.0 + n_texts_of_column)) + 1.0
    return idf


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


def _check_limit(name: str, limit: object) -> None:
    share = isinstance(limit, float | np.floating) and 0.0 <= float(limit) <= 1.0
    if not share and not _whole(limit, 1):
        raise InputError(f"{name} must be a number of texts (1, 2, ...) or a share from 0.0 to 1.0, got {limit!r}.")
