"""Rank the handwritten eights among all digits, and compare with logistic regression at the same cut."""

from __future__ import annotations

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from riffler import TopKRanker, precision_at_k, roc_auc


def main() -> None:
    X, digit = load_digits(return_X_y=True)
    relevant = (digit == 8).astype(int)
    X_train, X_test, y_train, y_test = train_test_split(X, relevant, test_size=0.5, stratify=relevant, random_state=0)
    rankers = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "TopKRanker": TopKRanker(k=0.75, random_state=0),
        "TopKRanker, rbf": TopKRanker(k=0.75, kernel="rbf", random_state=0),
    }
    for name, ranker in rankers.items():
        scores = ranker.fit(X_train, y_train).decision_function(X_test)
        precision, area = precision_at_k(y_test, scores, k=0.75), roc_auc(y_test, scores)
        print(f"{name:20}  precision at k {precision:.3f}   AUC {area:.3f}")


if __name__ == "__main__":
    main()
