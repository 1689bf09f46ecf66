"""Calibrating the threshold to a graph and the user's texts, without any annotation.

Scores are probabilities. At a threshold t, the links kept are right in Σ score cases, and the
mentions that the candidates offer are right in Σ of all best scores, so that the F1 to expect is

    F1(t) = 2 Σ_{score ≥ t} score / (number of links kept + Σ score)

The threshold with the highest expected F1 is kept for this graph and model.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.json_text import read_json_file
from kgraft.storage import cache_folder, new_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgraft.link.linker import Linker
    from kgraft.link.model import LinkModel

logger = logging.getLogger("kgraft.link")
THRESHOLDS = np.arange(10, 71) / 100


def expected_f1(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the F1 to expect at each threshold, given the scores (L,) of possible links."""
    ordered = np.sort(scores)[::-1].astype(np.float64)
    right = np.append(0.0, np.cumsum(ordered))
    kept = np.searchsorted(-ordered, -thresholds, side="right")
    return 2 * right[kept] / np.maximum(kept + right[-1], 1e-9)


def best_threshold(scores: np.ndarray) -> float:
    """Return the threshold with the highest expected F1; the higher of equal ones."""
    expected = expected_f1(scores, THRESHOLDS)
    return float(THRESHOLDS[len(expected) - 1 - np.argmax(expected[::-1])])


def calibrate_threshold(linker: Linker, texts: Sequence[str]) -> float:
    """Choose the threshold that suits a linker's graph and texts like these, and keep it."""
    from kgraft.link.decode import choose_links
    from kgraft.link.evaluate import score_texts

    scored = score_texts(
        linker.model, linker.knowledge, list(texts), reader=linker.reader, options=linker.options
    )
    links = scored.select(choose_links(scored, float(THRESHOLDS[0])))
    if not len(links):
        raise BadInput(
            "no entity of the graph is named in the texts", remedy="give texts of the graph's topic"
        )
    linker.threshold = best_threshold(links.score[links.best])
    save_threshold(linker.graph, linker.model, linker.threshold, len(texts))
    return linker.threshold


def threshold_file(graph: Graph, model: LinkModel) -> Path:
    """Return where the threshold of a graph and a model is kept."""
    return cache_folder() / "thresholds" / f"{graph.manifest.version}-{model.digest()}.json"


def save_threshold(graph: Graph, model: LinkModel, threshold: float, texts: int) -> None:
    """Keep the threshold of a graph and a model."""
    with new_file(threshold_file(graph, model)) as partial:
        content = {"threshold": threshold, "texts": texts}
        partial.write_text(json.dumps(content) + "\n", encoding="utf-8")


def saved_threshold(graph: Graph, model: LinkModel) -> float | None:
    """Return the threshold that was kept, None where there is none."""
    if not (cache_folder() / "thresholds").is_dir():
        return None
    file = threshold_file(graph, model)
    try:
        return float(read_json_file(file)["threshold"]) if file.exists() else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.debug("%s cannot be read (%s); the model's own threshold is used", file, error)
        return None
