"""How good it is: ranking of answers, calibration of probabilities, differences in pairs."""

from __future__ import annotations

from kgraft.measure.calibration import Logistic, brier, calibration_error, fit_logistic
from kgraft.measure.paired import (
    Difference,
    Figure,
    f1,
    macro_f1,
    paired_difference,
    perplexity,
    ratio,
)
from kgraft.measure.queries import Queries, QueryBatch
from kgraft.measure.ranking import (
    PROTOCOL,
    Ranking,
    filtered_ranks,
    query_chunks,
    rank,
    rank_figures,
    relation_categories,
)

__all__ = [
    "PROTOCOL",
    "Difference",
    "Figure",
    "Logistic",
    "Queries",
    "QueryBatch",
    "Ranking",
    "brier",
    "calibration_error",
    "f1",
    "filtered_ranks",
    "fit_logistic",
    "macro_f1",
    "paired_difference",
    "perplexity",
    "query_chunks",
    "rank",
    "rank_figures",
    "ratio",
    "relation_categories",
]
