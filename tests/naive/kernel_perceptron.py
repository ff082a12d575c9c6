"""RBF scores by a double loop, and the Projectron with the inverse kernel matrix of ALGORITHMS 7, a row at a time."""

from __future__ import annotations

import math

import numpy as np

from riffler.records import FloatArray


def kernel(one: FloatArray, other: FloatArray, gamma: float) -> float:
    return math.exp(-gamma * sum((float(a) - float(b)) ** 2 for a, b in zip(one, other, strict=True)))


def rbf_scores(X: FloatArray, support: FloatArray, coefs: FloatArray, gamma: float) -> list[float]:
    return [sum(a * kernel(x, z, gamma) for a, z in zip(coefs.tolist(), support, strict=True)) for x in X]


class NaiveProjectron:
    """``beta = Kinv k``; a row joins while there is room if ``1 - k . beta > eta^2``, else its beta is added."""

    def __init__(self, gamma: float, eta: float, max_size: int | None) -> None:
        self.gamma, self.eta, self.max_size = gamma, eta, max_size
        self.support: list[FloatArray] = []
        self.coefs = np.empty(0)
        self.inverse = np.empty((0, 0))

    def add(self, x: FloatArray, amount: float) -> None:
        kernels = np.array([kernel(x, z, self.gamma) for z in self.support])
        beta = self.inverse @ kernels
        left = 1.0 - float(kernels @ beta)
        if left <= self.eta**2 or len(self.support) == self.max_size:
            self.coefs = self.coefs + amount * beta
            return
        grown = np.zeros((len(beta) + 1, len(beta) + 1))
        grown[:-1, :-1] = self.inverse
        last = np.append(beta, -1.0)
        self.inverse = grown + np.outer(last, last) / left
        self.support.append(x)
        self.coefs = np.append(self.coefs, amount)

    def scores(self, X: FloatArray) -> list[float]:
        return rbf_scores(X, np.array(self.support), self.coefs, self.gamma)
