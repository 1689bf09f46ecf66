from .answer_calibration import answer_examples, answer_probabilities, calibrate_answers
from .calibration import Logistic, calibration_error, fit_logistic
from .paired import Difference, Figure, f1, macro_f1, paired_difference, perplexity, ratio
from .plausibility import Plausibility
from .queries import Queries, QueryBatch
from .ranking import (
    PROTOCOL,
    SCORES,
    Ranking,
    Score,
    filtered_ranks,
    query_chunks,
    rank,
    rank_figures,
    relation_categories,
)

__all__ = [
    "PROTOCOL",
    "SCORES",
    "Difference",
    "Figure",
    "Logistic",
    "Plausibility",
    "Queries",
    "QueryBatch",
    "Ranking",
    "Score",
    "answer_examples",
    "answer_probabilities",
    "calibrate_answers",
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
