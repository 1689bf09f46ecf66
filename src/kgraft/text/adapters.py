"""Adapters: a pretrained model learns by small changes of low rank to its matrices.

A matrix W becomes W + U V, with U (out, rank) and V (rank, in); only U and V are trained and kept
(Hu et al. 2021, LoRA). U starts at zero, so that the model begins as it was. Merged, the model is
as fast as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from kgraft.errors import BadInput

POOLER = "pooler"  # reads on from the transformer, and is never used here


class _Change(nn.Module):
    """W ↦ W + U V."""

    def __init__(self, weight: Tensor, rank: int, generator: torch.Generator) -> None:
        super().__init__()
        rows, columns = weight.shape
        drawn = torch.randn(rank, columns, generator=generator) * columns**-0.5
        self.up = nn.Parameter(torch.zeros(rows, rank, device=weight.device))
        self.down = nn.Parameter(drawn.to(weight.device))

    def forward(self, weight: Tensor) -> Tensor:
        return torch.addmm(weight, self.up, self.down)


def adapt(
    model: nn.Module, rank: int, *, seed: int = 0, keep: Sequence[str] = ()
) -> list[nn.Parameter]:
    """Freeze a model but for a change of each linear layer; return what is to be trained.

    The submodules to `keep` are trained as they are.
    """
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.partition(".")[0] in keep)
    generator = torch.Generator().manual_seed(seed)
    for name, layer in _linear_layers(model):
        if name.partition(".")[0] not in keep:
            change = _Change(layer.weight, rank, generator)
            parametrize.register_parametrization(layer, "weight", change)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def adapter_rank(model: nn.Module) -> int | None:
    """Return the rank of an adapted model's changes, None where there are none."""
    return next((change.down.shape[0] for _, change in _changes(model)), None)


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    """Return the changes of an adapted model by name: `LAYER.up` and `LAYER.down`."""
    state = {}
    for name, change in _changes(model):
        state[f"{name}.up"], state[f"{name}.down"] = change.up.detach(), change.down.detach()
    return state


def load_adapters(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Put changes into a model that `adapt` prepared."""
    own = adapter_state(model)
    for name in sorted(own.keys() | state.keys()):
        if name not in own or name not in state or own[name].shape != state[name].shape:
            raise BadInput(f"the adapters do not fit the encoder's {name.rpartition('.')[0]}")
    for name, parameter in own.items():
        parameter.copy_(state[name])


def merge(model: nn.Module) -> None:
    """Make the changes part of the matrices; nothing is left to load or to train."""
    for _, layer in _linear_layers(model):
        if _change_of(layer) is not None:
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)


def merged_matrices(
    matrices: Mapping[str, Tensor], changes: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return W + U V of the layers that changes name, given the matrices W of all layers by name.

    The changes are named as `adapter_state` names them. A layer without a change is left out.
    """
    layers = {name.rpartition(".")[0] for name in changes}
    expected = {f"{layer}.{part}" for layer in layers for part in ("up", "down")}
    for name in sorted(expected ^ changes.keys()):
        raise BadInput(f"the adapters do not fit the encoder: {name} is missing or unknown")
    return {layer: _merged(layer, matrices, changes) for layer in sorted(layers)}


def _merged(layer: str, matrices: Mapping[str, Tensor], changes: Mapping[str, Tensor]) -> Tensor:
    weight, up, down = matrices.get(layer), changes[f"{layer}.up"], changes[f"{layer}.down"]
    if weight is None or not _fits(weight, up, down):
        raise BadInput(f"the adapters do not fit the encoder's {layer}")
    with torch.no_grad():
        return torch.addmm(weight, up.to(weight), down.to(weight))


def _fits(weight: Tensor, up: Tensor, down: Tensor) -> bool:
    """Tell whether U V is a change of a matrix."""
    if not (up.is_floating_point() and down.is_floating_point() and up.ndim == down.ndim == 2):
        return False
    rank = down.shape[0]
    return up.shape == (weight.shape[0], rank) and down.shape == (rank, weight.shape[1])


def merge_changes(model: nn.Module, changes: Mapping[str, Tensor]) -> None:
    """Add changes, as `adapter_state` names them, to the matrices of a model for good."""
    merge(model)
    layers = dict(_linear_layers(model))
    matrices = {name: layer.weight.detach() for name, layer in layers.items()}
    for name, matrix in merged_matrices(matrices, changes).items():
        matrices[name].copy_(matrix)


def _linear_layers(model: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and not name.startswith(POOLER):
            yield name, module


def _changes(model: nn.Module) -> Iterator[tuple[str, _Change]]:
    for name, layer in _linear_layers(model):
        change = _change_of(layer)
        if change is not None:
            yield name, change


def _change_of(layer: nn.Linear) -> _Change | None:
    if not parametrize.is_parametrized(layer, "weight"):
        return None
    change = layer.parametrizations.weight[0]  # type: ignore[union-attr, index]
    return change if isinstance(change, _Change) else None
