"""Riffler finds the relevant few in a large collection with the fewest labels.

Public names resolve on first use (PEP 562), so that ``import riffler`` stays light: neither scikit-learn nor numba
nor Altair is loaded before something that needs them is touched.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from riffler.data import (
        Collection,
        Duplicates,
        Table,
        Texts,
        collection_from_frame,
        find_duplicates,
        load_collection,
        read_collection,
        read_table,
    )
    from riffler.data.conll import TaggedText, read_conll, write_conll
    from riffler.disk import DiskCollection, IndexOptions, index_collection, open_collection, reindex_collection
    from riffler.errors import (
        AnswerError,
        AnswersPending,
        BudgetExhausted,
        DataFileError,
        DataSetMissing,
        FeatureMismatch,
        InputError,
        KClippedWarning,
        LabelError,
        NoClaim,
        OracleError,
        ReviewFileError,
        RifflerError,
        StorageError,
        UnknownName,
    )
    from riffler.evaluation.convergence_chart import convergence_chart
    from riffler.evaluation.scorers import precision_at_k_scorer
    from riffler.features.bm25 import bm25_scores
    from riffler.features.cluster_map import ClusterMap, cluster_map
    from riffler.features.clusters import SoftClusters, soft_clusters
    from riffler.features.embedding import as_embedding, embed_texts, stack_features
    from riffler.features.text import TextFeatures
    from riffler.features.token_features import TokenFeatures
    from riffler.learners.active_at_k import ActivePerceptronAtK, PaperReadings
    from riffler.learners.active_rank_svm import ActiveRankSVM
    from riffler.learners.active_top_k import ActiveTopK
    from riffler.learners.asking import Step
    from riffler.learners.chain_tagger import ChainTagger
    from riffler.learners.combined_ranking import CombinedRankingRegression
    from riffler.learners.gradient_at_k import GradientAtK
    from riffler.learners.hinge_rank_svm import HingeRankSVM
    from riffler.learners.importance_weighted import ImportanceWeightedActive
    from riffler.learners.modified_perceptron import ActiveModifiedPerceptron
    from riffler.learners.multivariate_svm import MultivariateSVM
    from riffler.learners.ndcg_ranker import NdcgRanker
    from riffler.learners.one_pass import OnePassMiniBatch
    from riffler.learners.perceptron_at_k import PerceptronAtK, mistake_bound
    from riffler.learners.rank_svm import RankSVM
    from riffler.learners.selective_sampling import AdaptiveB, SelectiveSamplingPerceptron
    from riffler.learners.sgd_at_k import SGDAtK
    from riffler.learners.top_k_ranker import TopKRanker
    from riffler.learners.weighted_svm import WeightedSVM
    from riffler.ledger import Ledger
    from riffler.losses.at_k import Avg, Max, Ramp, Struct, Surrogate
    from riffler.metrics import (
        average_precision,
        bootstrap_interval,
        mean_average_precision,
        mean_over_groups,
        mean_reciprocal_rank,
        metric_by_group,
        ndcg_at,
        paired_bootstrap,
        partial_auc,
        prec_at_k_loss,
        precision_at_k,
        recall_at_k,
        reciprocal_rank,
        roc_auc,
        winner_takes_all,
    )
    from riffler.metrics.chunks import ChunkScores, chunk_f1_difference, chunk_f1_intervals, chunk_scores
    from riffler.oracles import ArrayOracle, CallableOracle, FileOracle
    from riffler.review.creating import create_review
    from riffler.review.live import LiveSearch
    from riffler.review.settings import ReviewSettings
    from riffler.review.store import Review, open_review
    from riffler.samplers import Exponential, Inverse, Sequential, Uniform
    from riffler.scorers import Rbf, RbfFourier, RbfNystroem, RbfProjectron, RbfRemoval
    from riffler.search.learner import ClassifierSettings
    from riffler.search.loop import ActiveSearch, SearchProgress
    from riffler.search.rescoring import Rescoring
    from riffler.stopping.control import ControlSample, certifiable_recall
    from riffler.stopping.elusion import required_sample
    from riffler.stopping.progress import Decision
    from riffler.stopping.recall_interval import RecallEstimate
    from riffler.stopping.top_claim import TopClaim, claim_path, claim_top
    from riffler.structured.assignment import Assignment
    from riffler.structured.bio import bio_constraints
    from riffler.structured.block_descent import BlockDescent
    from riffler.structured.chain import Chain
    from riffler.structured.convergence import Turn
    from riffler.structured.frank_wolfe import FrankWolfe
    from riffler.structured.kernel_svm import KernelStructuralSVM
    from riffler.structured.kernel_task import MulticlassKernel
    from riffler.structured.label_rules import Allowed
    from riffler.structured.multiclass import Multiclass
    from riffler.structured.multilabel import Multilabel
    from riffler.structured.multivariate import Multivariate
    from riffler.structured.n_slack import NSlack
    from riffler.structured.one_slack import OneSlack
    from riffler.structured.partial_order import Ordered, PartialOrder
    from riffler.structured.sequences import Sequences
    from riffler.structured.structural_svm import StructuralSVM
    from riffler.structured.subgradient import Subgradient
    from riffler.structured.task import Task

_HOMES = {
    "riffler.data": (
        "Collection",
        "Duplicates",
        "Table",
        "Texts",
        "collection_from_frame",
        "find_duplicates",
        "load_collection",
        "read_collection",
        "read_table",
    ),
    "riffler.disk": (
        "DiskCollection",
        "IndexOptions",
        "index_collection",
        "open_collection",
        "reindex_collection",
    ),
    "riffler.errors": (
        "AnswerError",
        "AnswersPending",
        "BudgetExhausted",
        "DataFileError",
        "DataSetMissing",
        "FeatureMismatch",
        "InputError",
        "KClippedWarning",
        "LabelError",
        "NoClaim",
        "OracleError",
        "ReviewFileError",
        "RifflerError",
        "StorageError",
        "UnknownName",
    ),
    "riffler.evaluation.scorers": ("precision_at_k_scorer",),
    "riffler.features.bm25": ("bm25_scores",),
    "riffler.features.cluster_map": ("ClusterMap", "cluster_map"),
    "riffler.features.clusters": ("SoftClusters", "soft_clusters"),
    "riffler.features.embedding": ("as_embedding", "embed_texts", "stack_features"),
    "riffler.features.text": ("TextFeatures",),
    "riffler.features.token_features": ("TokenFeatures",),
    "riffler.learners.active_at_k": ("ActivePerceptronAtK", "PaperReadings"),
    "riffler.learners.asking": ("Step",),
    "riffler.learners.active_rank_svm": ("ActiveRankSVM",),
    "riffler.learners.active_top_k": ("ActiveTopK",),
    "riffler.learners.combined_ranking": ("CombinedRankingRegression",),
    "riffler.learners.hinge_rank_svm": ("HingeRankSVM",),
    "riffler.learners.rank_svm": ("RankSVM",),
    "riffler.learners.weighted_svm": ("WeightedSVM",),
    "riffler.learners.selective_sampling": ("AdaptiveB", "SelectiveSamplingPerceptron"),
    "riffler.learners.modified_perceptron": ("ActiveModifiedPerceptron",),
    "riffler.learners.importance_weighted": ("ImportanceWeightedActive",),
    "riffler.scorers": ("Rbf", "RbfFourier", "RbfNystroem", "RbfProjectron", "RbfRemoval"),
    "riffler.learners.gradient_at_k": ("GradientAtK",),
    "riffler.learners.one_pass": ("OnePassMiniBatch",),
    "riffler.learners.perceptron_at_k": ("PerceptronAtK", "mistake_bound"),
    "riffler.learners.sgd_at_k": ("SGDAtK",),
    "riffler.learners.top_k_ranker": ("TopKRanker",),
    "riffler.ledger": ("Ledger",),
    "riffler.losses.at_k": (
        "Avg",
        "Max",
        "Ramp",
        "Struct",
        "Surrogate",
    ),
    "riffler.metrics": (
        "average_precision",
        "bootstrap_interval",
        "mean_average_precision",
        "mean_over_groups",
        "mean_reciprocal_rank",
        "metric_by_group",
        "ndcg_at",
        "paired_bootstrap",
        "partial_auc",
        "prec_at_k_loss",
        "precision_at_k",
        "recall_at_k",
        "reciprocal_rank",
        "roc_auc",
        "winner_takes_all",
    ),
    "riffler.oracles": ("ArrayOracle", "CallableOracle", "FileOracle"),
    "riffler.review.creating": ("create_review",),
    "riffler.review.live": ("LiveSearch",),
    "riffler.review.settings": ("ReviewSettings",),
    "riffler.review.store": ("Review", "open_review"),
    "riffler.samplers": ("Exponential", "Inverse", "Sequential", "Uniform"),
    "riffler.search.learner": ("ClassifierSettings",),
    "riffler.search.loop": ("ActiveSearch", "SearchProgress"),
    "riffler.search.rescoring": ("Rescoring",),
    "riffler.stopping.control": ("ControlSample", "certifiable_recall"),
    "riffler.stopping.elusion": ("required_sample",),
    "riffler.stopping.progress": ("Decision",),
    "riffler.stopping.recall_interval": ("RecallEstimate",),
    "riffler.stopping.top_claim": ("TopClaim", "claim_path", "claim_top"),
    "riffler.data.conll": ("TaggedText", "read_conll", "write_conll"),
    "riffler.evaluation.convergence_chart": ("convergence_chart",),
    "riffler.learners.chain_tagger": ("ChainTagger",),
    "riffler.learners.multivariate_svm": ("MultivariateSVM",),
    "riffler.learners.ndcg_ranker": ("NdcgRanker",),
    "riffler.metrics.chunks": ("ChunkScores", "chunk_f1_difference", "chunk_f1_intervals", "chunk_scores"),
    "riffler.structured.assignment": ("Assignment",),
    "riffler.structured.bio": ("bio_constraints",),
    "riffler.structured.block_descent": ("BlockDescent",),
    "riffler.structured.chain": ("Chain",),
    "riffler.structured.convergence": ("Turn",),
    "riffler.structured.frank_wolfe": ("FrankWolfe",),
    "riffler.structured.kernel_svm": ("KernelStructuralSVM",),
    "riffler.structured.kernel_task": ("MulticlassKernel",),
    "riffler.structured.label_rules": ("Allowed",),
    "riffler.structured.multiclass": ("Multiclass",),
    "riffler.structured.multilabel": ("Multilabel",),
    "riffler.structured.multivariate": ("Multivariate",),
    "riffler.structured.n_slack": ("NSlack",),
    "riffler.structured.one_slack": ("OneSlack",),
    "riffler.structured.partial_order": ("Ordered", "PartialOrder"),
    "riffler.structured.sequences": ("Sequences",),
    "riffler.structured.structural_svm": ("StructuralSVM",),
    "riffler.structured.subgradient": ("Subgradient",),
    "riffler.structured.task": ("Task",),
}
"""Which module defines which public names; one test compares it with ``__all__`` and with the typed imports above."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ActiveModifiedPerceptron",
    "ActivePerceptronAtK",
    "ActiveRankSVM",
    "ActiveSearch",
    "ActiveTopK",
    "AdaptiveB",
    "Allowed",
    "AnswerError",
    "AnswersPending",
    "ArrayOracle",
    "Assignment",
    "Avg",
    "BlockDescent",
    "BudgetExhausted",
    "CallableOracle",
    "Chain",
    "ChainTagger",
    "ChunkScores",
    "ClassifierSettings",
    "ClusterMap",
    "Collection",
    "CombinedRankingRegression",
    "ControlSample",
    "DataFileError",
    "DataSetMissing",
    "Decision",
    "DiskCollection",
    "Duplicates",
    "Exponential",
    "FeatureMismatch",
    "FileOracle",
    "FrankWolfe",
    "GradientAtK",
    "HingeRankSVM",
    "ImportanceWeightedActive",
    "IndexOptions",
    "InputError",
    "Inverse",
    "KClippedWarning",
    "KernelStructuralSVM",
    "LabelError",
    "Ledger",
    "LiveSearch",
    "Max",
    "Multiclass",
    "MulticlassKernel",
    "Multilabel",
    "Multivariate",
    "MultivariateSVM",
    "NSlack",
    "NdcgRanker",
    "NoClaim",
    "OnePassMiniBatch",
    "OneSlack",
    "OracleError",
    "Ordered",
    "PaperReadings",
    "PartialOrder",
    "PerceptronAtK",
    "Ramp",
    "RankSVM",
    "Rbf",
    "RbfFourier",
    "RbfNystroem",
    "RbfProjectron",
    "RbfRemoval",
    "RecallEstimate",
    "Rescoring",
    "Review",
    "ReviewFileError",
    "ReviewSettings",
    "RifflerError",
    "SGDAtK",
    "SearchProgress",
    "SelectiveSamplingPerceptron",
    "Sequences",
    "Sequential",
    "SoftClusters",
    "Step",
    "StorageError",
    "Struct",
    "StructuralSVM",
    "Subgradient",
    "Surrogate",
    "Table",
    "TaggedText",
    "Task",
    "TextFeatures",
    "Texts",
    "TokenFeatures",
    "TopClaim",
    "TopKRanker",
    "Turn",
    "Uniform",
    "UnknownName",
    "WeightedSVM",
    "as_embedding",
    "average_precision",
    "bio_constraints",
    "bm25_scores",
    "bootstrap_interval",
    "certifiable_recall",
    "chunk_f1_difference",
    "chunk_f1_intervals",
    "chunk_scores",
    "claim_path",
    "claim_top",
    "cluster_map",
    "collection_from_frame",
    "convergence_chart",
    "create_review",
    "embed_texts",
    "find_duplicates",
    "index_collection",
    "load_collection",
    "mean_average_precision",
    "mean_over_groups",
    "mean_reciprocal_rank",
    "metric_by_group",
    "mistake_bound",
    "ndcg_at",
    "open_collection",
    "open_review",
    "paired_bootstrap",
    "partial_auc",
    "prec_at_k_loss",
    "precision_at_k",
    "precision_at_k_scorer",
    "read_collection",
    "read_conll",
    "read_table",
    "recall_at_k",
    "reciprocal_rank",
    "reindex_collection",
    "required_sample",
    "roc_auc",
    "soft_clusters",
    "stack_features",
    "winner_takes_all",
    "write_conll",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type of each name is given above
    if name == "datasets":  # a module of its own; `import riffler` alone gives it too
        return import_module("riffler.datasets")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'riffler' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
