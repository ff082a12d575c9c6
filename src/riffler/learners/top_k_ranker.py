"""TopKRanker: the ranker to take without reading a paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from riffler.errors import InputError, UnknownName
from riffler.features.blocked_rows import BlockedRows, has_sparse_rows
from riffler.features.blocks import RowBlocks, Scaling, identity_scaling, mapped_scores, standard_scaling
from riffler.features.kernel import SAMPLERS, KernelMap, OfWarped
from riffler.features.warp import KNOT_ROWS, RankWarp, StandardWarp, Warp
from riffler.learners.checks import TrainingSet, checked_training, clipped_k
from riffler.learners.kernel_width import chosen_kernel
from riffler.learners.ranker import LinearRanker
from riffler.learners.top_search import Candidate, Progress, TopSearch
from riffler.learners.working_set import WORKING_ROWS, hard_negatives, sampled_rows
from riffler.records import FloatArray, Matrix, is_sparse


class TopKRanker(LinearRanker):
    """Learn a scoring function whose first k answers are right, choosing every setting by itself.

    It fits logistic regressions along a path of penalties, then follows ever sharper smooth versions of precision at
    k from the best of them, and keeps what ranks best on rows held out. The winner is fitted again on all rows.

    Parameters
    ----------
    k : int or float
        Rows at the top that matter: a number of rows, or a share of the positives.
    order_weight : float in [0, 1]
        What the whole order is worth beside the top: candidates are compared by
        ``(1 - order_weight) * precision around k + order_weight * AUC``. At 1 the result is a plain classifier with
        its AUC; at 0 anything is given for the top.
    kernel : "linear" or "rbf"
        "rbf" learns on ``n_components`` random features of an RBF kernel, made block by block.
    gamma : float or None
        Kernel width exp(-gamma |x - x'|^2) on the scaled columns; None tries several.
    n_components : int
        Number of kernel features.
    features : "fourier" or "nystroem"
        How kernel features are made.
    scale : "auto", "standard" or "none"
        Standardise the columns inside (no copy is made); "auto" does so for dense data only, and for a kernel also
        tries the normal scores of their ranks.
    cv : None, int, splitter or iterable of (train, test)
        How candidates are judged. None holds out a quarter once where there are many positives, else three folds.
    max_iter : int
        Most steps of each optimisation.
    tol : float
        Relative precision of each optimisation.
    random_state : int, RandomState or None
        Seed of the folds and of the kernel features.
    progress : callable or None
        Called with the share done and a word on what is going on.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or, for a kernel, (1, n_components)
    intercept_, classes_, n_features_in_
    candidates_ : list of Candidate
        Everything that was tried, with its worth on the rows held out.
    best_ : Candidate
        The one that was fitted on all rows.
    gamma_ : float or None
        The kernel width in use.
    n_iter_ : int
        Passes over the rows that it took to fit the best candidate on all of them.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> TopKRanker(k=0.25, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    candidates_: list[Candidate]
    best_: Candidate
    takes_blocks = True

    def __init__(
        self,
        k: int | float = 0.25,
        *,
        order_weight: float = 0.1,
        kernel: str = "linear",
        gamma: float | None = None,
        n_components: int = 1500,
        features: str = "fourier",
        scale: str = "auto",
        cv: Any = None,  # noqa: ANN401 - as scikit-learn's cv
        max_iter: int = 30,
        tol: float = 1e-1,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
        progress: Progress | None = None,
    ) -> None:
        self.k = k
        self.order_weight = order_weight
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.features = features
        self.scale = scale
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Try the candidates on held-out rows and fit the best one on all; X may be BlockedRows, on disk."""
        self._check_settings()
        data = checked_training(self, X, y, sample_weight)
        rng = check_random_state(self.random_state)
        k_all = clipped_k(self.k, data.n_positive)
        self.classes_ = data.classes
        scaling = self._scaling(data)
        self.gamma_: float | None = None
        self._map: KernelMap | None = None
        if self.kernel == "linear":
            search = self._search(data, RowBlocks(data.X, scaling), self._tell)
            coef = scaling.fold(search.run(self.cv, rng)[:-1])[0][:, 0]
            self._remember(search)
        else:
            coef = self._fit_kernel(data, scaling, rng)
        self.coef_ = coef.astype(data.X.dtype).reshape(1, -1)
        self._set_threshold(self._raw_scores(data.X), data.weight, k_all)
        return self

    def _fit_kernel(self, data: TrainingSet, scaling: Scaling, rng: np.random.RandomState) -> FloatArray:
        """Learn on a working set of rows; then score all rows, add the negatives that rank high, and go on."""
        if isinstance(data.X, BlockedRows):
            raise InputError("kernel='rbf' learns in memory only, and X came in blocks. Gather some rows: X[numbers].")
        if self.cv is not None and len(data.labels) > WORKING_ROWS:
            raise InputError(f"cv with kernel='rbf' works on up to {WORKING_ROWS:,} rows; leave it out for more.")
        warps: list[Warp] = [StandardWarp(scaling)]
        if self.scale == "auto" and not is_sparse(data.X):
            some = rng.permutation(len(data.labels))[:KNOT_ROWS]
            warps.append(RankWarp(data.X[np.sort(some)]))
        warp, self.gamma_ = chosen_kernel(data, warps, self.gamma, self.k, self._tell, rng)
        self._map = KernelMap(self.features, self.n_components, self.gamma_, warp).fit(data.X, rng)
        working, counted = sampled_rows(data, rng)
        search = self._kernel_search(counted, lambda share, doing: self._tell(0.2 + 0.7 * share, doing))
        weights = search.run(self.cv, rng)
        self._remember(search)
        del search  # and with it the features that it keeps
        if len(working) < len(data.labels):
            self._tell(0.9, "hard negatives")
            scores = mapped_scores(data.X, self._map, weights[:-1, 0].astype(np.float32))
            harder = hard_negatives(data, working, scores)
            search = self._kernel_search(harder, self._tell)
            weights = search.refit(self.best_, weights)
            self.n_iter_ += search.n_iter
        return weights[:-1, 0]

    def _kernel_search(self, data: TrainingSet, progress: Progress) -> TopSearch:
        """Search on kernel features of rows that are warped once."""
        assert self._map is not None
        warped = replace(data, X=self._map.warp(data.X))
        rows = RowBlocks(warped.X, identity_scaling(self._map.n_components), OfWarped(self._map))
        return self._search(warped, rows, progress)

    def _search(self, data: TrainingSet, rows: RowBlocks, progress: Progress) -> TopSearch:
        settings = self.k, self.order_weight
        return TopSearch(data, rows, *settings, tol=self.tol, max_iter=self.max_iter, progress=progress)

    def _remember(self, search: TopSearch) -> None:
        self.candidates_, self.best_, self.n_iter_ = search.candidates, search.best, search.n_iter

    def _raw_scores(self, X: Matrix) -> FloatArray:
        if self._map is None:
            return super()._raw_scores(X)
        return mapped_scores(X, self._map, self.coef_[0].astype(np.float32)).astype(X.dtype)

    def _scaling(self, data: TrainingSet) -> Scaling:
        if self.scale == "none" or (self.scale == "auto" and has_sparse_rows(data.X)):
            return identity_scaling(data.X.shape[1])
        if has_sparse_rows(data.X):
            raise InputError(
                "scale='standard' centres the columns, and a centred sparse matrix is dense. Pass scale='auto', which "
                "leaves sparse columns as they are, or scale them first (sklearn.preprocessing.MaxAbsScaler)."
            )
        return standard_scaling(data.X, data.weight)

    def _check_settings(self) -> None:
        if self.kernel not in ("linear", "rbf"):
            raise UnknownName.among("kernel", self.kernel, ["linear", "rbf"])
        if self.features not in SAMPLERS:
            raise UnknownName.among("kernel feature method", self.features, SAMPLERS)
        if self.scale not in ("auto", "standard", "none"):
            raise UnknownName.among("scale", self.scale, ["auto", "standard", "none"])
        if not 0 <= self.order_weight <= 1:
            raise InputError(f"order_weight must lie in [0, 1], got {self.order_weight!r}.")
        if not (self.max_iter > 0 and self.tol > 0 and self.n_components > 0):
            raise InputError(
                "max_iter, tol and n_components must be above 0, got "
                f"{self.max_iter!r}, {self.tol!r} and {self.n_components!r}."
            )
        if self.gamma is not None and not self.gamma > 0:
            raise InputError(f"gamma must be above 0 or None, got {self.gamma!r}.")

    def _tell(self, share: float, doing: str) -> None:
        if self.progress is not None:
            self.progress(share, doing)
