"""Many labels at once, each on or off, with pairs of labels that look at each other: exact on forests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from riffler._fast.label_tree import MARGIN, SLACK, best_labels_of_all
from riffler.errors import FeatureMismatch, InputError, LabelError, UnknownName
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.structured.checked_rows import checked_rows
from riffler.structured.label_forest import LabelForest, forest_of_pairs, most_telling_tree
from riffler.structured.multilabel_problem import LabelSpace, MultilabelProblem, label_gains
from riffler.structured.problem import RESCALINGS

EDGES = ("tree", "none")


class Multilabel:
    """A task whose outputs are vectors of 0 and 1, one a label.

    The joint features are the columns of x and a constant for each label that is on, and, for each edge of a forest
    over the labels, which of the four values its two labels have. The loss is the share of wrong labels. The best
    output is found exactly, by max-product along the forest.

    Parameters
    ----------
    edges : {"tree", "none"} or pairs of labels
        Which labels look at each other. "tree" joins those of the highest mutual information in the training outputs
        (Chow and Liu 1968); "none" gives one linear SVM for each label. Pairs of one's own must form a forest.
    costs : array of shape (n_labels,) or None
        What a wrong label costs, beside the others; the loss of an output that is all wrong is 1.

    Attributes
    ----------
    space_ : LabelSpace
        Columns, labels, forest and costs, once the task has seen data.

    Examples
    --------
    >>> from riffler import StructuralSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> first = (X[:, 0] > 0).astype(int)
    >>> Y = np.column_stack([first, first, 1 - first])
    >>> model = StructuralSVM(Multilabel(), C=100, random_state=0).fit(X, Y)
    >>> model.task_.space_.forest.edges
    ((0, 1), (0, 2))
    >>> model.score(X, Y) > 0.95
    True
    """

    space_: LabelSpace

    def __init__(self, edges: str | Sequence[tuple[int, int]] = "tree", *, costs: ArrayLike | None = None) -> None:
        self.edges = edges
        self.costs = costs

    def __repr__(self) -> str:
        costs = "" if self.costs is None else f", costs={self.costs!r}"
        return f"Multilabel({self.edges!r}{costs})"

    def for_data(self, X: Matrix, Y: Any) -> Multilabel:  # noqa: ANN401 - an array, or a list of vectors
        """Give a copy that knows the columns and labels of these examples, and which labels look at each other."""
        rows, labels = checked_rows(X), _checked_labels(Y)
        fitted = Multilabel(self.edges, costs=self.costs)
        fitted.space_ = LabelSpace(rows.shape[1], self._forest(labels), _shares(self.costs, labels.shape[1]))
        return fitted

    def joint_feature(self, x: Any, y: ArrayLike) -> Any:  # noqa: ANN401 - rows, dense or sparse
        """Give x and a constant once for each label that is on, and the values of each edge, as one sparse row."""
        space = self._space()
        short = space.short_form(self._labels([y]))
        row: Any = sparse.hstack([sparse.csr_matrix(self._rows(_one_row(x))), sparse.csr_matrix([[1.0]])])
        on, of_edges = sparse.csr_matrix(short[:, : space.n_labels]), sparse.csr_matrix(short[:, space.n_labels :])
        return sparse.hstack([sparse.kron(on, row), of_edges]).tocsr()

    def loss(self, y: ArrayLike, other: ArrayLike) -> float:
        """Give the share of wrong labels, or of their costs."""
        return float((np.asarray(y) != np.asarray(other)) @ self._space().costs)

    def argmax(self, x: Any, weights: FloatArray) -> IntArray:  # noqa: ANN401
        """Give the labels of the highest score."""
        return self.argmax_of_all(_one_row(x), weights)[0]

    def loss_augmented_argmax(self, x: Any, y: ArrayLike, weights: FloatArray) -> IntArray:  # noqa: ANN401
        """Give the labels that maximise loss plus score."""
        return self._violating(x, y, weights, MARGIN)

    def slack_augmented_argmax(self, x: Any, y: ArrayLike, weights: FloatArray) -> IntArray:  # noqa: ANN401
        """Give the labels that maximise the loss times how far a margin of 1 is missed."""
        self._need_equal_costs()
        return self._violating(x, y, weights, SLACK)

    def problem(self, X: Matrix, Y: Any, rescaling: str) -> MultilabelProblem:  # noqa: ANN401
        """Give the examples as a problem that is solved in compiled loops."""
        if rescaling not in RESCALINGS:
            raise UnknownName.among("rescaling", rescaling, RESCALINGS)
        if rescaling == "slack":
            self._need_equal_costs()
        return MultilabelProblem(
            self._space(), self._rows(X), self._labels(Y), SLACK if rescaling == "slack" else MARGIN
        )

    def argmax_of_all(self, X: Matrix, weights: FloatArray) -> list[IntArray]:
        """Give the labels of the highest score of every row."""
        if np.shape(X)[0] == 0:
            return []
        space, rows = self._space(), self._rows(X)
        label_weights, table_scores = space.parts(weights)
        found = np.empty((rows.shape[0], space.n_labels), np.int8)
        best_labels_of_all(label_gains(rows, label_weights), table_scores, space.forest.tree, found)
        return list(found)

    def _violating(self, x: Any, y: ArrayLike, weights: FloatArray, rescaling: int) -> IntArray:  # noqa: ANN401
        space = self._space()
        problem = MultilabelProblem(space, self._rows(_one_row(x)), self._labels([y]), rescaling)
        return problem.violating(0, weights)

    def _forest(self, labels: IntArray) -> LabelForest:
        if not isinstance(self.edges, str):
            return forest_of_pairs(self.edges, labels.shape[1])
        if self.edges not in EDGES:
            raise UnknownName.among("kind of edges", self.edges, EDGES)
        return most_telling_tree(labels) if self.edges == "tree" else forest_of_pairs([], labels.shape[1])

    def _space(self) -> LabelSpace:
        if not hasattr(self, "space_"):
            raise InputError("This Multilabel knows no columns and labels yet. Use what its for_data(X, Y) gives.")
        return self.space_

    def _rows(self, X: Matrix) -> Matrix:
        rows = checked_rows(X)
        if rows.shape[1] != self._space().n_columns:
            raise FeatureMismatch(
                f"X has {rows.shape[1]} columns, this task was made for {self._space().n_columns}. Pass the same."
            )
        return rows

    def _labels(self, Y: Any) -> IntArray:  # noqa: ANN401
        labels = _checked_labels(Y)
        if labels.shape[1] != self._space().n_labels:
            raise LabelError(
                f"Outputs have {labels.shape[1]} labels, this task was made for {self._space().n_labels}. "
                "Pass one value for each label."
            )
        return labels

    def _need_equal_costs(self) -> None:
        costs = self._space().costs
        if (costs != costs[0]).any():
            raise InputError(
                'With rescaling="slack" all labels must cost the same: losses are then counts, and each count has its '
                'exact best output. Leave out costs, or use rescaling="margin".'
            )


def _one_row(x: Any) -> Matrix:  # noqa: ANN401
    return x.reshape(1, -1) if is_sparse(x) else np.asarray(x).reshape(1, -1)


def _checked_labels(Y: Any) -> IntArray:  # noqa: ANN401
    values = np.asarray(Y.toarray() if is_sparse(Y) else Y)
    if values.ndim != 2 or values.shape[1] == 0:
        raise LabelError(f"Y must have a row for each example and a column for each label, got shape {values.shape}.")
    strange = np.argwhere((values != 0) & (values != 1))
    if len(strange):
        row, column = strange[0]
        raise LabelError(
            f"Y holds {values[row, column]!r} in row {row}, label {column}: a label is 1 (on) or 0 (off). "
            "Turn names into columns with sklearn.preprocessing.MultiLabelBinarizer."
        )
    return np.ascontiguousarray(values.astype(np.int8))


def _shares(costs: ArrayLike | None, n_labels: int) -> FloatArray:
    """Give what each label costs, with sum 1."""
    given = np.ones(n_labels) if costs is None else np.asarray(costs, dtype=np.float64)
    if given.shape != (n_labels,) or not (np.isfinite(given).all() and (given >= 0).all() and given.sum() > 0):
        raise InputError(
            f"costs must be {n_labels} numbers of 0 or more, not all 0, one for each label; got {costs!r}."
        )
    return np.asarray(given / given.sum())
