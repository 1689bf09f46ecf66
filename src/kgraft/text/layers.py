"""The layers of an encoder of any family, and what happens between two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from kgraft.errors import BadInput

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def layers_of(model: PreTrainedModel) -> nn.ModuleList:
    """Return the layers of an encoder of any family."""
    count = int(model.config.num_hidden_layers)
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise BadInput(
        f"{type(model).__name__} has no list of {count} layers to graft between",
        remedy="choose an encoder like BERT, RoBERTa, DistilBERT, MPNet or ELECTRA",
    )
