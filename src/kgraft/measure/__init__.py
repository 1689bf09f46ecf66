"""How good it is: ranking of answers and calibration of probabilities."""

from __future__ import annotations

from kgraft.measure.calibration import Logistic, brier, calibration_error, fit_logistic
from kgraft.measure.ranking import filtered_ranks, rank_figures

__all__ = [
    "Logistic",
    "brier",
    "calibration_error",
    "filtered_ranks",
    "fit_logistic",
    "rank_figures",
]
