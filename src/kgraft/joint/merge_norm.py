"""How the norm that merges knowledge into texts begins."""

from __future__ import annotations

import numpy as np
import torch

from kgraft.graph import Graph
from kgraft.joint.descriptions import Descriptions
from kgraft.joint.model import JointModel

SAMPLED = 256  # entities whose descriptions show how large the vectors of LM1 are


def init_merge_norm(model: JointModel, graph: Graph) -> None:
    """Let the merging norm change almost nothing at first, in a model that is not trained yet."""
    count = len(graph.entities)
    if model.language.is_initialised or not count:
        return
    sample = np.linspace(0, count - 1, min(SAMPLED, count)).astype(np.int64)
    below = Descriptions(graph, model.language).read("entities", sample)
    model.language.init_merge_norm(torch.from_numpy(below))
