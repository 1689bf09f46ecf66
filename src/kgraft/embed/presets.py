"""Good settings: one set a model for any graph, and sets tuned on the validation data of one."""

from __future__ import annotations

from typing import Any

from kgraft.embed.settings import Settings
from kgraft.errors import BadInput

LARGE = 200_000  # entities, above which comparing every query with all of them takes too long

PRESETS: dict[str, dict[str, Any]] = {
    "complex": {"model": "complex", "entity_weight": 0.05, "relation_weight": 0.05},
    "distmult": {"model": "distmult", "entity_weight": 0.05, "relation_weight": 0.05},
    "rotate": {
        "model": "rotate",
        "similarity": "squared",
        "entity_weight": 0.2,
        "reciprocal": False,
    },
    "transe": {
        "model": "transe",
        "similarity": "squared",
        "entity_weight": 0.2,
        "reciprocal": False,
    },
}


def preset_settings(name: str, *, entities: int = 0) -> Settings:
    """Return the settings of a preset, made for a graph of so many entities.

    >>> preset_settings("complex").model
    'complex'
    """
    if name not in PRESETS:
        raise BadInput(f"no model or preset is named {name!r}; there are {', '.join(PRESETS)}")
    settings = Settings(**PRESETS[name])
    if entities > LARGE and settings.loss == "softmax":
        return settings.changed(loss="sampled-softmax", negatives=1024)
    return settings
