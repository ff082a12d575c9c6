"""Importance-weighted active learning (Beygelzimer, Dasgupta and Langford 2009), with a bootstrapped committee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from riffler.errors import InputError, UnknownName
from riffler.features.blocks import RowBlocks, Scaling
from riffler.learners.active import SCALINGS, ActiveRanker, first_scaling
from riffler.learners.asking import OpenBatch, draw_keys
from riffler.learners.bought import stacked
from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.scorers.linear import LinearScorer


@dataclass(frozen=True, slots=True, eq=False)
class WeightedLabels:
    """Every label bought so far: scaled rows, labels 1/0, weights 1 / probability, and the shares of the members."""

    X: Matrix
    labels: IntArray
    weight: FloatArray
    shares: FloatArray  # shape (n_rows, n_members): a Bayesian bootstrap

    def and_more(self, other: WeightedLabels) -> WeightedLabels:
        """Return both together."""
        return WeightedLabels(
            stacked(self.X, other.X),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.shares, other.shares]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Committee:
    """Weights (n_columns, 1 + n_members) and intercepts of logistic regressions; the first has the data as they are."""

    weights: FloatArray
    intercepts: FloatArray


class ImportanceWeightedActive(ActiveRanker):
    """Ask where a committee disagrees, remember each label with weight ``1 / probability``, and fit again.

    The members are logistic regressions on a Bayesian bootstrap of the labels (each label weighs Exp(1), so that no
    member lacks a class). With q the probabilities that they give to a row, it is asked for with

        p = p_min + (1 - p_min) * (max q - min q)

    which depends on earlier batches only; the weighted loss is therefore an unbiased estimate of the loss on all rows.
    Until a relevant and an irrelevant row are known, ``n_initial`` random rows of each batch are asked for, on average.

    Parameters
    ----------
    k : int
        Rows of each batch that are predicted.
    p_min : float
        Least probability of every row to be asked; above 0.
    n_members : int
        Size of the committee.
    n_initial : int
        Labels to start with.
    C : float
        Inverse of the strength of the L2 penalty, with weights of mean 1.
    scaling : "standard", "center" or "none"
        How columns are shifted and scaled, by the rows of the first batch; sparse columns are never shifted.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_rounds_ : int
        Batches seen.
    n_bought_ : int
        Labels remembered.

    Examples
    --------
    >>> from riffler import ArrayOracle
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(20_000) < 0.1).astype(int)
    >>> X = rng.normal(size=(20_000, 3)) + y[:, None]
    >>> oracle, ranker = ArrayOracle(y), ImportanceWeightedActive(k=50, random_state=0)
    >>> steps = [ranker.step(X[start : start + 2000], oracle) for start in range(0, 20_000, 2000)]
    >>> float(y[18_000:][steps[-1].predicted].mean()) > 0.8, oracle.n_asked < 3000
    (True, True)
    """

    def __init__(
        self,
        k: int = 50,
        *,
        p_min: float = 0.01,
        n_members: int = 10,
        n_initial: int = 200,
        C: float = 1.0,
        scaling: str = "standard",
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.p_min = p_min
        self.n_members = n_members
        self.n_initial = n_initial
        self.C = C
        self.scaling = scaling
        self.random_state = random_state

    def _check_settings(self) -> None:
        self._check_k()
        if self.scaling not in SCALINGS:
            raise UnknownName.among("scaling", self.scaling, SCALINGS)
        if not 0 < self.p_min <= 1:
            raise InputError(f"p_min must be a probability above 0, got {self.p_min!r}.")
        for name, least in (("n_members", 2), ("n_initial", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, got {getattr(self, name)!r}.")
        if not self.C > 0:
            raise InputError(f"C must be above 0, got {self.C!r}.")

    def _begin(self, X: Matrix) -> None:
        self._seed = self._new_seed()
        self._scaling: Scaling = first_scaling(X, self.scaling)
        self._bought: WeightedLabels | None = None
        self._committee: Committee | None = None
        self.n_bought_ = 0

    def _scores(self, X: Matrix) -> FloatArray:
        if self._committee is None:
            return np.zeros(X.shape[0])
        scorer = LinearScorer(self._scaling)
        scorer.weights = self._committee.weights[:, 0]
        scores: FloatArray = scorer.scores(X) + self._committee.intercepts[0]
        return scores

    def _ask(self, batch: OpenBatch) -> float:
        probability = self._probabilities(batch.X)
        rows = np.flatnonzero(batch.draws < probability)
        batch.ask(rows, probability[rows], "sample")
        return float(probability.min())

    def _probabilities(self, X: Matrix) -> FloatArray:
        n_rows = X.shape[0]
        if self._committee is None:
            return np.full(n_rows, min(1.0, max(self.p_min, self.n_initial / n_rows)))
        members = self._committee.weights[:, 1:]
        scores = np.empty((members.shape[1], n_rows), dtype=X.dtype)
        RowBlocks(X, self._scaling).scores(members, scores)
        scores += self._committee.intercepts[1:, None].astype(X.dtype)
        # a probability rises with its score: the extremes of one are those of the other
        disagreement: FloatArray = expit(scores.max(axis=0).astype(float)) - expit(scores.min(axis=0).astype(float))
        return self.p_min + (1.0 - self.p_min) * disagreement

    def _learn(self, batch: OpenBatch) -> None:
        known = batch.answers != UNKNOWN
        rows = batch.asked[known]
        if rows.size:
            labels = (batch.answers[known] == RELEVANT).astype(np.int8)
            keys = draw_keys(batch.items)[rows]
            self._remember(batch.X[rows], labels, 1.0 / batch.probability[known], keys, batch.round)

    def _learn_known(self, X: Matrix, labels: IntArray, number: int) -> None:
        self._remember(X, labels, np.ones(labels.size), np.arange(labels.size), number)

    def _remember(self, X: Matrix, labels: IntArray, weight: FloatArray, keys: IntArray, number: int) -> None:
        new = WeightedLabels(_scaled(X, self._scaling), labels, weight, self._shares(keys, number))
        bought = new if self._bought is None else self._bought.and_more(new)
        committee = _fitted(bought, self.C)
        self._bought, self._committee, self.n_bought_ = bought, committee, bought.labels.size

    def _shares(self, keys: IntArray, number: int) -> FloatArray:
        """Draw how much each label weighs for each member: Exp(1), keyed by seed, member and item."""
        from riffler._fast.draws import uniforms

        draws = np.empty((self.n_members, keys.size))
        for member in range(self.n_members):
            # below 0: the steps from 0 on break ties and sample
            uniforms(self._seed, -1 - (number * self.n_members + member), keys, draws[member])
        shares: FloatArray = -np.log1p(-draws.T)
        return shares


def _scaled(X: Matrix, scaling: Scaling) -> Matrix:
    """Copy some rows, shifted and scaled."""
    if scaling.center is None:
        return sparse.csr_matrix(X.multiply(1.0 / scaling.scale)) if is_sparse(X) else X / scaling.scale
    return ((X.toarray() if is_sparse(X) else X) - scaling.center) / scaling.scale


def _fitted(bought: WeightedLabels, C: float) -> Committee | None:
    """Fit one logistic regression to the labels as they are and one for each member; None while a class is missing."""
    from sklearn.linear_model import LogisticRegression

    if bought.labels.min() == bought.labels.max():
        return None
    weights, intercepts = [], []
    for share in [np.ones(bought.labels.size), *bought.shares.T]:
        weight = bought.weight * share
        model = LogisticRegression(C=C, max_iter=1000)
        model.fit(bought.X, bought.labels, sample_weight=weight * (weight.size / weight.sum()))
        weights.append(model.coef_[0])
        intercepts.append(float(model.intercept_[0]))
    return Committee(np.column_stack(weights), np.array(intercepts))
