"""Good settings: one set per model for any graph, and sets tuned on the validation data of one."""

from __future__ import annotations

from typing import Any

from kgraft.embed.models import MODELS
from kgraft.embed.settings import EmbedSettings
from kgraft.errors import BadInput
from kgraft.graph import Graph

LARGE = 200_000  # entities, above which comparing every query with all of them takes too long
SMALLEST_BATCH = 64

_SOFTMAX = {"entity_weight": 0.05, "relation_weight": 0.05}
_SAMPLED = {"loss": "sampled-softmax", "negatives": 1024, "chunk": 512}
_WORDNET = {
    "loss": "sampled-softmax",
    "negatives": 1024,
    "chunk": 256,
    "batch": 256,
    "regulariser": "dura",
    "entity_weight": 0.05,
    "relation_weight": 0.15,
    "epochs": 16,
    "finish": 4,
    "patience": 16,
}
_DISTANCE = {
    "similarity": "l2",
    "loss": "self-adversarial",
    "negatives": 256,
    "chunk": 256,
    "margin": 9.0,
    "reciprocal": False,
    "optimiser": "adam",
    "learning_rate": 0.02,
    "final_rate": 0.02,
    "scale": 0.05,
    "epochs": 30,
    "patience": 10,
    "validate_every": 2,
}
_WORDNET_DISTANCE = {
    **_DISTANCE,
    "negatives": 128,
    "chunk": 128,
    "margin": 6.0,
    "learning_rate": 0.005,
    "scale": 0.0075,
    "dimension": 512,
    "epochs": 40,
    "validate_every": 5,
}

PRESETS: dict[str, dict[str, Any]] = {
    "complex": {"model": "complex", **_SOFTMAX},
    "distmult": {"model": "distmult", **_SOFTMAX},
    "pairre": {"model": "pairre", **_DISTANCE, "similarity": "l1", "learning_rate": 0.05},
    "rotate": {"model": "rotate", **_DISTANCE, "learning_rate": 0.03},
    "transe": {"model": "transe", **_DISTANCE},
    "complex-fb15k237": {
        "model": "complex",
        **_SAMPLED,
        "dimension": 1024,
        "regulariser": "dura",
        "entity_weight": 0.025,
        "relation_weight": 0.075,
        "epochs": 18,
        "finish": 4,
        "patience": 18,
    },
    "distmult-fb15k237": {
        "model": "distmult",
        **_SOFTMAX,
        **_SAMPLED,
        "dimension": 512,
        "epochs": 17,
        "finish": 4,
        "patience": 17,
    },
    "complex-wn18rr": {"model": "complex", **_WORDNET, "dimension": 1024},
    "distmult-wn18rr": {"model": "distmult", **_WORDNET, "dimension": 512},
    "rotate-fb15k237": {
        "model": "rotate",
        **_DISTANCE,
        "dimension": 768,
        "learning_rate": 0.03,
        "epochs": 40,
    },
    "transe-fb15k237": {"model": "transe", **_DISTANCE, "dimension": 512},
    "rotate-wn18rr": {"model": "rotate", **_WORDNET_DISTANCE, "similarity": "modulus"},
    "transe-wn18rr": {
        "model": "transe",
        **_WORDNET_DISTANCE,
        "similarity": "l1",
        "negatives": 256,
        "chunk": 256,
        "temperature": 2.0,
        "epochs": 60,
    },
}
"""Settings that differ from the defaults, by model and by MODEL-GRAPH."""


def check_preset(name: str) -> None:
    """Refuse a name that is neither a model's nor a preset's; no torch is loaded."""
    names = [*MODELS, *(preset for preset in PRESETS if preset not in MODELS)]
    if name not in names:
        remedy = f"choose one of {', '.join(names)}"
        raise BadInput(f"no model or preset is named {name!r}", remedy=remedy)


def preset_settings(name: str, graph: Graph | None = None) -> EmbedSettings:
    """Return the settings of a preset; those of a model are fitted to the size of a graph.

    >>> preset_settings("complex").model
    'complex'
    """
    check_preset(name)
    settings = EmbedSettings(**PRESETS.get(name, {"model": name}))
    if graph is None or name not in MODELS:
        return settings
    if graph.manifest.entities > LARGE and settings.loss == "softmax":
        settings = settings.replace(loss="sampled-softmax", negatives=1024)
    return settings.replace(batch=_batch(graph.manifest.splits["train"], settings.batch))


def _batch(triples: int, most: int) -> int:
    """Return a batch that leaves a small graph some 100 updates per epoch."""
    return min(most, max(triples // 100, SMALLEST_BATCH))
