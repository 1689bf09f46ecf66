"""How good it is: ranking of answers, calibration of probabilities, differences in pairs."""

from __future__ import annotations

from kgraft.measure.calibration import Logistic, brier, calibration_error, fit_logistic
from kgraft.measure.paired import Difference, f1, macro_f1, paired_difference, perplexity, share
from kgraft.measure.ranking import filtered_ranks, rank_figures

__all__ = [
    "Difference",
    "Logistic",
    "brier",
    "calibration_error",
    "f1",
    "filtered_ranks",
    "fit_logistic",
    "macro_f1",
    "paired_difference",
    "perplexity",
    "rank_figures",
    "share",
]
