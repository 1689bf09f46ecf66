"""The layers of an encoder of any family: change what they pass on, freeze the lowest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from kgraft.errors import BadInput

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle
    from transformers import PreTrainedModel

Change = Callable[[Tensor], Tensor]
"""Takes what a layer passes on, (B, L, D), and returns what the next layer reads."""


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


def hook_after(model: PreTrainedModel, layer: int, change: Change) -> RemovableHandle:
    """Change what a layer, counted from 1, passes on, until the returned handle is removed."""
    return layers_of(model)[layer - 1].register_forward_hook(partial(_changed_output, change))


def _changed_output(change: Change, _: nn.Module, __: object, output: Any) -> Any:  # noqa: ANN401
    if isinstance(output, Tensor):
        return change(output)
    return (change(output[0]), *output[1:])


@contextmanager
def changed_after(model: PreTrainedModel, layer: int, change: Change) -> Iterator[None]:
    """Change what a layer, counted from 1, passes on while the block runs.

    Other threads may read with the same model meanwhile: for them nothing changes.
    """
    own_thread = threading.get_ident()

    def change_in_own_thread(hidden: Tensor) -> Tensor:
        return change(hidden) if threading.get_ident() == own_thread else hidden

    handle = hook_after(model, layer, change_in_own_thread)
    try:
        yield
    finally:
        handle.remove()


def freeze_bottom(model: PreTrainedModel, layers: int, *, keep: Sequence[str] = ()) -> None:
    """Freeze a model but for the layers above the lowest `layers`, and the submodules to `keep`."""
    stack = layers_of(model)
    if not 0 <= layers <= len(stack):
        reason = f"cannot freeze {layers} layers: the encoder has {len(stack)}"
        raise BadInput(reason, remedy=f"give 0 to {len(stack)}")
    trainable = {id(p) for layer in stack[layers:] for p in layer.parameters()}
    for name in keep:
        trainable |= {id(p) for p in getattr(model, name, nn.Module()).parameters()}
    for parameter in model.parameters():
        if id(parameter) not in trainable:
            parameter.requires_grad_(requires_grad=False)
