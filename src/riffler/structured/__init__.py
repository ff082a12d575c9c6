"""Structural SVM: solvers that see a task through the planes its oracle gives."""
