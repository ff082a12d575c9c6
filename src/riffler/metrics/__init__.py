"""Pure measures of a ranking: labels and scores in, one number out.

Rows of equal score have no order of their own, so every measure here is its exact expectation when each block of tied
rows is put in uniformly random order. No measure depends on the order in which the rows are passed.

========================  ==============================================================
``checked.py``            what labels, scores and weights must look like
``ties.py``               rows of equal score summed into blocks, best scored first
``at_k.py``               precision, its loss form and recall at k; how k is read
``order.py``              ROC area, partial ROC area, average precision
``first.py``              reciprocal rank, winner takes all
``graded.py``             NDCG at n
``groups.py``             any of them for each query group, and averaged
``resampling.py``         rows drawn once for all scorings and measures
``bootstrap.py``          intervals, and paired comparisons of two scorings
========================  ==============================================================
"""

from riffler.metrics.at_k import prec_at_k_loss, precision_at_k, recall_at_k, resolve_k
from riffler.metrics.bootstrap import BootstrapInterval, PairedDifference, bootstrap_interval, paired_bootstrap
from riffler.metrics.checked import UndefinedMetric
from riffler.metrics.first import reciprocal_rank, winner_takes_all
from riffler.metrics.graded import ndcg_at
from riffler.metrics.groups import (
    GroupedMetric,
    mean_average_precision,
    mean_over_groups,
    mean_reciprocal_rank,
    metric_by_group,
)
from riffler.metrics.order import average_precision, partial_auc, roc_auc

__all__ = [
    "BootstrapInterval",
    "GroupedMetric",
    "PairedDifference",
    "UndefinedMetric",
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
    "resolve_k",
    "roc_auc",
    "winner_takes_all",
]
